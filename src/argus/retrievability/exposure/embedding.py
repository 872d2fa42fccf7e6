"""The documents of an exposure run and its probes, embedded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.types import Document, IntArray, Query
from argus.encoders import Embedded, Encoder, Rows, Store, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.encoders.rows import replaced
from argus.jobs.workspace import require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.probe_texts import probe_texts
from argus.retrievability.exposure.probes import SENTENCE, FailedProbe


@dataclass(frozen=True)
class Index:
    """The documents that could be embedded, ordered by id, with their vectors."""

    documents: list[Document]
    vectors: Rows
    failures: dict[str, str]
    """Document id to why it has no vector."""


@dataclass(frozen=True)
class Searches:
    """Embedded probes. Arrays have shape (n_probes, ...)."""

    kind: npt.NDArray[np.str_]
    target: IntArray
    text: list[str]
    vectors: Rows
    stand_in: Rows
    """The target's vector as this probe sees it: the document, or the rest of it."""
    without_sentence: dict[int, str]
    failed: list[FailedProbe]
    drawn: IntArray | None
    """Rows of the documents that are asked for. None: all."""


def embed_documents(
    documents: Sequence[Document], model: Encoder[Rows], store: Store[Rows]
) -> Index:
    """Embed items that have text. The rest are failures that say so."""
    usable = [d for d in documents if d.content.strip()]
    embedded = embed(as_documents([d.content for d in usable]), model, store, what="documents")
    failures = {usable[i].id: why for i, why in embedded.failures.items()}
    failures |= {d.id: "no text" for d in documents if not d.content.strip()}
    indexed = [d for d, ok in zip(usable, embedded.ok, strict=True) if ok]
    return Index(indexed, embedded.vectors, failures)


def embed_probes(
    index: Index,
    queries: Sequence[Query],
    config: ExposureConfig,
    model: Encoder[Rows],
    store: Store[Rows],
) -> Searches:
    """Embed titles, sentences that are held out, and real queries, and the rest of each text.

    queries: of no document. Raises NothingMeasured where none can be embedded.
    """
    plain = probe_texts(index.documents, queries, config)
    kind, target, texts = plain.kind, plain.target, plain.texts
    probes = embed(as_queries(texts), model, store, what="titles and sentences")
    left = as_documents([s.rest for s in plain.sentences])
    rests = embed(left, model, store, what="documents less a sentence")
    usable = probes.ok & _stand_in_exists(kind, rests)
    reasons = _reasons(kind, probes, rests)
    require_some(int(usable.sum()), "probe has a vector", next(iter(reasons.values()), ""))
    return Searches(
        kind=kind[usable],
        target=target[usable],
        text=[text for text, ok in zip(texts, usable, strict=True) if ok],
        vectors=probes.vectors[_rows(probes.ok)[usable]],
        stand_in=_stand_ins(index, kind, target, rests, usable),
        without_sentence=plain.without_sentence,
        failed=[FailedProbe(str(kind[i]), int(target[i]), why) for i, why in reasons.items()],
        drawn=plain.drawn,
    )


def _reasons(
    kind: npt.NDArray[np.str_], probes: Embedded[Rows], rests: Embedded[Rows]
) -> dict[int, str]:
    """Return the row of every probe that cannot be asked, and why."""
    sentences = np.flatnonzero(kind == SENTENCE).tolist()
    reasons = {sentences[i]: why for i, why in rests.failures.items()} | probes.failures
    return dict(sorted(reasons.items()))


def _rows(ok: npt.NDArray[np.bool_]) -> IntArray:
    """Return the row of each item among those that were embedded. Rows of others mean nothing."""
    rows: IntArray = np.cumsum(ok) - 1
    return rows


def _stand_in_exists(kind: npt.NDArray[np.str_], rests: Embedded[Rows]) -> npt.NDArray[np.bool_]:
    exists = np.ones(len(kind), bool)
    exists[kind == SENTENCE] = rests.ok
    return exists


def _stand_ins(
    index: Index,
    kind: npt.NDArray[np.str_],
    target: IntArray,
    rests: Embedded[Rows],
    usable: npt.NDArray[np.bool_],
) -> Rows:
    """Return one row per usable probe: the document's, or its rest's."""
    sentences = kind == SENTENCE
    left = _rows(rests.ok)[usable[sentences]]
    whole = index.vectors[np.maximum(target[usable], 0)]
    return replaced(whole, sentences[usable], rests.vectors[left])
