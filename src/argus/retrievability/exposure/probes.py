"""Draw documents, and make the probes that ask for them by title and by sentence."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.data.fields import read_parents
from argus.data.provenance import content_hash
from argus.data.types import Document, IntArray, Query
from argus.jobs.workspace import require_some
from argus.retrievability.concentration import gini, lorenz, skewness
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.sentences import HeldOut, hold_out

NOT_DRAWN = "not drawn"
"""Why nothing is known of a document that another was asked for in the place of."""


def drawn_rows(documents: Sequence[Document], config: ExposureConfig) -> IntArray | None:
    """Return the rows of `config.sample` documents in rising order. None where all are asked for.

    Drawn by a hash of ids and seed, so that the same are drawn whatever else the corpus holds or
    in which order. Of chunks, documents are drawn, each with all of its chunks.
    """
    if config.sample is None:
        return None
    units = [document.id for document in documents]
    if config.parent_field is not None:
        of_chunk = read_parents(documents, config.parent_field)
        units = [of_chunk[id_] for id_ in units]
    distinct = set(units)
    if config.sample >= len(distinct):
        return None
    seed = str(config.seed)
    lowest = heapq.nsmallest(
        config.sample, distinct, key=lambda id_: (content_hash(seed, id_, size=8), id_)
    )
    drawn = set(lowest)
    return np.array([row for row, unit in enumerate(units) if unit in drawn], np.int64)


TITLE, SENTENCE, QUERY = "title", "sentence", "query"
BEYOND = np.iinfo(np.int64).max
"""Rank of a document that is not in a list that ends: deeper than any."""


@dataclass(frozen=True)
class Probes:
    """Searches that were made. One row per query. All arrays have shape (n_queries, ...)."""

    kind: npt.NDArray[np.str_]
    """"title", "sentence", or "query" for a given query that belongs to no document."""
    target: IntArray
    """Row of the document that the probe should bring back. -1 for given queries."""
    text: Sequence[str]
    rank: IntArray
    """1-based rank of the target. 0 where there is none, BEYOND where a retriever's list ends."""
    top: IntArray
    """Rows returned, best first, shape (n_queries, k). -1 after the end, and for strange ids."""


@dataclass(frozen=True)
class FailedProbe:
    """A probe without an answer. target: row of its document, -1 for a query of none."""

    kind: str
    target: int
    reason: str


class Concentration(TypedDict):
    """How unevenly retrievals are spread over documents (see `argus.retrievability.concentration`).

    gini: Gini coefficient, 0 (all alike) to 1.
    skewness: skewness of how often a document comes back.
    lorenz: Lorenz curve, at equal steps of the share of documents.
    """

    gini: float
    skewness: float
    lorenz: list[float]


class Success(TypedDict):
    """How often probes bring their document back. None where there is no probe.

    probes: probes that were asked.
    success_at_1: share that brings its document first. None without probes.
    success_at_k: share that brings it into the top k. None without probes.
    mrr: mean reciprocal rank. None without probes.
    """

    probes: int
    success_at_1: float | None
    success_at_k: float | None
    mrr: float | None


@dataclass(frozen=True)
class Exposure:
    """Figures of n documents from the probes. Arrays have shape (n,)."""

    k: int
    retrieved_by_own: IntArray
    """Own probes that bring the document back within k."""
    own_probes: IntArray
    retrieved_by_others: IntArray
    """Top-k lists of other documents' probes, and of given queries, that hold the document."""
    title_rank: IntArray
    """Rank under its own title, the best of several. 0 where it has none."""
    sentence_rank: npt.NDArray[np.float64]
    """Median rank under its own held-out sentences. NaN where it has none, infinite if BEYOND."""

    @property
    def never(self) -> npt.NDArray[np.bool_]:
        """Documents that no query at all brought back."""
        return np.asarray(self.retrieved_by_own + self.retrieved_by_others == 0)

    def concentration(self) -> Concentration:
        """Return Gini, Lorenz curve and hubness skew of the retrievals by others."""
        counts = self.retrieved_by_others
        return {
            "gini": gini(counts),
            "skewness": skewness(counts),
            "lorenz": lorenz(counts).round(5).tolist(),
        }


def summarise_probes(probes: Probes, n: int, *, k: int) -> Exposure:
    """Count, per document, the probes that brought it back."""
    theirs = (probes.top != probes.target[:, None]) & (probes.top >= 0)  # (n_queries, k)
    others = np.bincount(probes.top[theirs], minlength=n)
    own = probes.target >= 0
    hit = own & (probes.rank <= k)
    title = np.flatnonzero(probes.kind == TITLE)
    title = title[np.argsort(-probes.rank[title], kind="stable")]  # the best of several stays
    title_rank = np.zeros(n, np.int64)
    title_rank[probes.target[title]] = probes.rank[title]
    return Exposure(
        k=k,
        retrieved_by_own=np.bincount(probes.target[hit], minlength=n),
        own_probes=np.bincount(probes.target[own], minlength=n),
        retrieved_by_others=others,
        title_rank=title_rank,
        sentence_rank=_medians(probes, n),
    )


def success(probes: Probes, kind: str, *, k: int) -> Success:
    """Return success@1, success@k and mean reciprocal rank of one kind of probe."""
    ranks = probes.rank[probes.kind == kind]
    if not len(ranks):
        return {"probes": 0, "success_at_1": None, "success_at_k": None, "mrr": None}
    return {
        "probes": len(ranks),
        "success_at_1": float((ranks == 1).mean()),
        "success_at_k": float((ranks <= k).mean()),
        "mrr": float((1 / ranks).mean()),
    }


def displaced_by(probes: Probes, i: int, *, top: int = 3, of: IntArray | None = None) -> list[int]:
    """Return the documents at the head of probe i's list, its target left out.

    of: the group of each document. Those of the target's are left out, and of another's all but
    the first.
    """
    rows = [int(row) for row in probes.top[i] if row not in (probes.target[i], -1)]
    if of is None:
        return rows[:top]
    first: dict[int, int] = {}
    for row in rows:
        first.setdefault(int(of[row]), row)
    return [row for group, row in first.items() if group != of[probes.target[i]]][:top]


def _medians(probes: Probes, n: int) -> npt.NDArray[np.float64]:
    rows = np.flatnonzero(probes.kind == SENTENCE)
    out = np.full(n, np.nan)
    if len(rows):
        order = rows[np.argsort(probes.target[rows], kind="stable")]
        owners, starts = np.unique(probes.target[order], return_index=True)
        ranks = np.where(probes.rank == BEYOND, np.inf, probes.rank)[order]
        for owner, own in zip(owners, np.split(ranks, starts[1:]), strict=True):
            out[owner] = np.median(own)
    return out


@dataclass(frozen=True)
class ProbeTexts:
    """The texts of all probes, and their targets. Arrays have shape (n_probes,)."""

    kind: npt.NDArray[np.str_]
    target: IntArray
    """Row of the document that a probe asks for. -1 for a real query."""
    texts: list[str]
    sentences: list[HeldOut]
    """Those that ask, with the rest of their documents."""
    without_sentence: dict[int, str]
    """Row to why no sentence of the document asks for it."""
    drawn: IntArray | None = None
    """Rows of the documents that are asked for. None: all."""


def probe_texts(
    documents: Sequence[Document], queries: Sequence[Query], config: ExposureConfig
) -> ProbeTexts:
    """Return titles, then sentences, then the real queries, which are of no document.

    With `config.sample` titles and sentences are of the documents that are drawn.

    Raises NothingMeasured where there is nothing to ask with.
    """
    drawn = drawn_rows(documents, config)
    rows = range(len(documents)) if drawn is None else drawn.tolist()
    titled = [row for row in rows if documents[row].title.strip()]
    taken, reasons = hold_out(
        [documents[row] for row in rows], per_document=config.sentences, seed=config.seed
    )
    sentences = [replace(one, position=rows[one.position]) for one in taken]
    without = {rows[place]: why for place, why in reasons.items()}
    texts = [documents[row].title for row in titled]
    texts += [s.sentence for s in sentences] + [q.text for q in queries]
    require_some(
        len(texts),
        "document has a title, or a sentence to be held out",
        "Name the field of titles with --title-field; a sentence needs another beside it.",
    )
    kind = np.array([TITLE] * len(titled) + [SENTENCE] * len(sentences) + [QUERY] * len(queries))
    target = titled + [s.position for s in sentences] + [-1] * len(queries)
    return ProbeTexts(kind, np.array(target, np.int64), texts, sentences, without, drawn)
