"""Probes as plain queries, for a retriever that Argus did not build: asked, or run elsewhere.

Nothing can be taken out of the index of such a retriever: a sentence asks for its document with
the document as it is, so that these probes are easier than those over Argus's own vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.runs import ranking
from argus.data.types import Document, IntArray, Qrels, Query, Run
from argus.jobs.workspace import require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Searched
from argus.retrievability.exposure.probe_texts import probe_texts
from argus.retrievability.exposure.probes import BEYOND, FailedProbe, Probes
from argus.retrievers.protocol import Answers


@dataclass(frozen=True)
class PlainProbes:
    """Queries that ask for documents. All of n_queries."""

    queries: list[Query]
    kind: npt.NDArray[np.str_]
    target: IntArray
    """Row of the document that it asks for. -1 for a query of no document."""
    documents: list[Document]
    """Those that have text, ordered by id. `target` names their rows."""
    without_sentence: dict[int, str]
    drawn: IntArray | None = None
    """Rows of the documents that are asked for. None: all."""

    @property
    def qrels(self) -> Qrels:
        """The document that each probe asks for, as judgements."""
        pairs = zip(self.queries, self.target.tolist(), strict=True)
        return {query.id: {self.documents[row].id: 1} for query, row in pairs if row >= 0}


def probe_queries(
    documents: Sequence[Document], queries: Sequence[Query], config: ExposureConfig
) -> PlainProbes:
    """Return titles and sentences as queries, with real ones of no document after them.

    documents: ordered by id. The id of a probe is its kind with a hash of its document and text: an
    answer to another probe is never taken for its own. It holds no white space. Raises
    NothingMeasured where there is nothing to ask for or with.
    """
    usable = [d for d in documents if d.content.strip()]
    require_some(len(usable), "document has text", "Check --text-field.")
    plain = probe_texts(usable, queries, config)
    ids = [usable[row].id for row in plain.target if row >= 0] + [query.id for query in queries]
    probes = _with_ids(plain.kind.tolist(), list(zip(ids, plain.texts, strict=True)))
    return PlainProbes(
        probes, plain.kind, plain.target, usable, plain.without_sentence, plain.drawn
    )


def _with_ids(kinds: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[Query]:
    """Return queries of (document or query id, text). A pair that comes again is numbered."""
    times: Counter[str] = Counter()
    queries = []
    for kind, (id_, text) in zip(kinds, pairs, strict=True):
        name = f"{kind}-{content_hash(id_, text, size=8).hex()}"
        times[name] += 1
        queries.append(Query(f"{name}-{times[name]}" if times[name] > 1 else name, text))
    return queries


@dataclass(frozen=True)
class RankedProbes:
    """Findings of a retriever's answers: probes that it answered, and their anomalies."""

    queries: list[Query]
    """Those that it answered, as `probes` has them."""
    probes: Probes
    searched: Searched
    strange: int
    """Results that are no document of the corpus."""
    longest: int
    """Results in the longest list."""


def rank_probes(
    plain: PlainProbes, answers: Answers, k: int, failures: dict[str, str]
) -> RankedProbes:
    """Rank every probe's document in its list. A probe without an answer is failed."""
    rows = {document.id: row for row, document in enumerate(plain.documents)}
    answered = np.array([query.id in answers.run for query in plain.queries], bool)
    queries = [query for query, ok in zip(plain.queries, answered, strict=True) if ok]
    top, strange, longest = _lists(queries, answers.run, rows, k)
    target = plain.target[answered]
    hits = (top == target[:, None]) & (target[:, None] >= 0)
    places = np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, BEYOND)
    rank = np.where(target >= 0, places, 0)
    probes = Probes(plain.kind[answered], target, [q.text for q in queries], rank, top)
    lost = [
        FailedProbe(str(plain.kind[i]), int(plain.target[i]), answers.failed[plain.queries[i].id])
        for i in np.flatnonzero(~answered)
    ]
    searched = Searched(plain.documents, failures, plain.without_sentence, lost, plain.drawn)
    return RankedProbes(queries, probes, searched, strange, longest)


def _lists(
    queries: Sequence[Query], run: Run, rows: dict[str, int], k: int
) -> tuple[IntArray, int, int]:
    """Return the rows of every list, (n, k), how many results are no document, the longest list."""
    top = np.full((len(queries), k), -1, np.int64)
    strange = longest = 0
    for i, query in enumerate(queries):
        ids = ranking(run[query.id])[:k]
        top[i, : len(ids)] = [rows.get(id_, -1) for id_ in ids]
        strange += sum(id_ not in rows for id_ in ids)
        longest = max(longest, len(ids))
    return top, strange, longest
