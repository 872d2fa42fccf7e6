"""What asks for every document: its title, sentences of it, and real queries after them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, IntArray, Query
from argus.jobs.workspace import require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.probes import QUERY, SENTENCE, TITLE
from argus.retrievability.sentences import HeldOut, hold_out


@dataclass(frozen=True)
class ProbeTexts:
    """The texts of all probes, and what they ask for; arrays have shape (n_probes,)."""

    kind: npt.NDArray[np.str_]
    target: IntArray
    """Row of the document that a probe asks for; -1 for a real query."""
    texts: list[str]
    sentences: list[HeldOut]
    """Those that ask, with what is left of their documents."""
    without_sentence: dict[int, str]
    """Row to why no sentence of the document asks for it."""


def probe_texts(
    documents: Sequence[Document], queries: Sequence[Query], config: ExposureConfig
) -> ProbeTexts:
    """Return titles, then sentences, then the real queries, which are of no document.

    Raises NothingMeasured where there is nothing to ask with.
    """
    titled = [row for row, d in enumerate(documents) if d.title.strip()]
    sentences, without = hold_out(documents, per_document=config.sentences, seed=config.seed)
    texts = [documents[row].title for row in titled]
    texts += [s.sentence for s in sentences] + [q.text for q in queries]
    require_some(
        len(texts),
        "document has a title, or a sentence to be held out",
        "Name the field of titles with --title-field; a sentence needs another beside it.",
    )
    kind = np.array([TITLE] * len(titled) + [SENTENCE] * len(sentences) + [QUERY] * len(queries))
    rows = titled + [s.position for s in sentences] + [-1] * len(queries)
    return ProbeTexts(kind, np.array(rows, np.int64), texts, sentences, without)
