"""An index at the door of its repair: opened, checked, and all that a repair reads beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.data.provenance import utc_now
from argus.data.types import Document
from argus.encoders import Encoder, EncoderConfig
from argus.engine import Engine
from argus.indexes.originals import originals
from argus.indexes.retriever import encoder_of
from argus.indexes.spec import index_folder
from argus.indexes.views import ViewIndex
from argus.knowledge.spotting import MentionFinder
from argus.remedies.diagnosis.config import TAU
from argus.remedies.diagnosis.diagnose import check_tau
from argus.remedies.repair.config import ReferenceConfig
from argus.remedies.repair.reference import Reference, make_finder, open_probe, open_reference
from argus.retrievability.probes import Probe


@dataclass(frozen=True)
class OpenedIndex:
    """An index, its encoder and documents, and what is known of their entities."""

    index: ViewIndex
    name: str
    """As the caller named it."""
    encoder: Encoder
    documents: Sequence[Document]
    """The originals of the index; a document's content is the text that is indexed."""
    reference: Reference
    finder: MentionFinder
    """What finds the names of the reference in these documents."""
    probe: Probe
    tau: float
    """Predicted RPS below which an entity is at risk."""
    started: str
    """When it was opened, UTC."""
    engine: Engine | None = None
    """What embeds; None is this process."""


def open_index(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    device: str | None = None,
    engine: Engine | None = None,
) -> OpenedIndex:
    """Open an index and all that its repair takes; changes nothing in it.

    probe: None takes the one that ships for the encoder. encoder: None takes the one that the index
    names; device: of the encoder that is loaded. Raises InputError for bad input.
    """
    check_tau(tau)
    started = utc_now()
    views = ViewIndex.open(index_folder(index))
    known = open_reference(reference)
    model = encoder_of(views, encoder, device, engine)
    views.header.check_fingerprint(model.fingerprint, views.path)
    documents = originals(views)
    judge = open_probe(probe, model)
    finder = make_finder(reference, known.passages, [d.content for d in documents])
    return OpenedIndex(
        views, str(index), model, documents, known, finder, judge, tau, started, engine
    )
