"""Ask a retriever for probes, or read its answers from a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from argus.data.fields import read_parents
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.runs import ranking
from argus.data.types import Document, IntArray, Qrels, Query, Run
from argus.errors import ArgusError
from argus.jobs.workspace import Record, require_some
from argus.retrievability.exposure.config import ExposureConfig
from argus.retrievability.exposure.findings import Findings, Searched
from argus.retrievability.exposure.parents import DocumentLists, Parents, fold_findings
from argus.retrievability.exposure.probes import (
    BEYOND,
    FailedProbe,
    Probes,
    probe_texts,
    summarise_probes,
)
from argus.retrievability.exposure.summary import RetrieverFacts, SearchedFacts, SomeAnswersFacts
from argus.retrievers.config import DEEPER
from argus.retrievers.opening import Answerer, answers_of, require_known
from argus.retrievers.protocol import Answers, note_of


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


Ask = Callable[[Sequence[Query], int], Answers]


@dataclass(frozen=True)
class ParentAnswers:
    """A retriever's answers as lists of documents."""

    lists: DocumentLists
    undecided: int
    """Probes whose list ends before it holds k documents, or their own."""
    whole_documents: int
    """Results within k, over all lists, that are a document and not a chunk."""

    def facts(self) -> SomeAnswersFacts:
        """Return the summary's figures."""
        return {"whole_documents": self.whole_documents, "undecided": self.undecided}


def fold_answers(
    ranked: RankedProbes, run: Run, parents: Parents, k: int, ask: Ask | None
) -> ParentAnswers:
    """Rank every probe's document among the documents of its list.

    ask: asks the same retriever again. None where nobody can.
    """
    target = ranked.probes.target
    own = np.where(target >= 0, parents.groups.of[target], -1).tolist()
    fold = _Fold.of(ranked, parents)
    results = [ranking(run[query.id]) for query in ranked.queries]
    first = [fold.documents(ids) for ids in results]
    lists = dict(enumerate(first))
    open_ = [
        i
        for i, document in enumerate(own)
        if document >= 0 and document not in first[i] and len(first[i]) < k <= len(results[i])
    ]
    if open_ and ask is not None:
        deeper = _asked(ask, [ranked.queries[i] for i in open_], DEEPER * k)
        again = {i: fold.documents(ranking(deeper.get(ranked.queries[i].id, {}))) for i in open_}
        lists |= {i: documents for i, documents in again.items() if documents}
    ranks = [_rank(lists[i], document) for i, document in enumerate(own)]
    undecided = sum(ranks[i] == BEYOND and len(lists[i]) < k for i in open_)
    top = np.full((len(first), k), -1, np.int64)
    for i, ids in enumerate(results):  # a run may be deeper, but figures are of k chunks
        rows = [row for row in fold.documents(ids[:k]) if isinstance(row, int)]
        top[i, : len(rows)] = rows
    whole = sum(fold.whole_documents(ids[:k]) for ids in results)
    return ParentAnswers(DocumentLists(np.array(ranks, np.int64), top), undecided, whole)


@dataclass(frozen=True)
class _Fold:
    """Ids of results to positions of documents."""

    chunks: Mapping[str, int]
    documents_by_id: Mapping[str, int]

    @classmethod
    def of(cls, ranked: RankedProbes, parents: Parents) -> _Fold:
        of = parents.groups.of.tolist()
        chunks = {d.id: of[row] for row, d in enumerate(ranked.searched.documents)}
        return cls(chunks, {id_: place for place, id_ in enumerate(parents.ids)})

    def documents(self, ids: Sequence[str]) -> list[int | str]:
        """Return documents, each in its first place. Of anything else, the id."""
        return list(dict.fromkeys(map(self._document, ids)))

    def _document(self, id_: str) -> int | str:
        place = self.chunks.get(id_)
        return self.documents_by_id.get(id_, id_) if place is None else place

    def whole_documents(self, ids: Sequence[str]) -> int:
        """Return how many of some results are documents, and no chunks."""
        return sum(id_ in self.documents_by_id for id_ in ids if id_ not in self.chunks)


def _asked(ask: Ask, queries: Sequence[Query], k: int) -> Run:
    """Return deeper lists. A retriever that gives none has none."""
    try:
        return ask(queries, k).run
    except ArgusError:
        return {}


def _rank(documents: Sequence[int | str], document: int) -> int:
    if document < 0:
        return 0
    return documents.index(document) + 1 if document in documents else int(BEYOND)


def ask_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    source: Answerer,
    folder: ArtifactFolder,
    record: Record,
) -> tuple[Findings, SearchedFacts]:
    """Return the findings of the answers.

    Raises ArgusError where no probe is answered, InputError where no result is a document.
    """
    probes = probe_queries(documents, queries, config)
    parents = None
    if config.parent_field is not None:
        of_chunk = read_parents(documents, config.parent_field)
        parents = Parents.of(config.parent_field, of_chunk, probes.documents)

    def ask(queries: Sequence[Query], k: int) -> tuple[str, Answers]:
        return answers_of(
            source, queries, k, documents=documents, folder=folder, record=record, what="probes"
        )

    with record.timed("asking"):
        name, answers = ask(probes.queries, config.k)
    ids = dict.fromkeys([*(d.id for d in documents), *(parents.ids if parents else ())])
    require_known(answers.run, ids, name)
    failures = {d.id: "no text" for d in documents if not d.content.strip()}
    ranks = rank_probes(probes, answers, config.k, failures)
    exposed = summarise_probes(ranks.probes, len(probes.documents), k=config.k)
    of_parents, folded = None, None
    if parents is not None:
        again = None if source.run is not None else lambda queries, k: ask(queries, k)[1]
        folded = fold_answers(ranks, answers.run, parents, config.k, again)
        of_parents = fold_findings(documents, parents, ranks, folded.lists, config.k)
    facts: SomeAnswersFacts = folded.facts() if folded else {}
    if answers.warning:
        facts["warning"] = answers.warning
    note = note_of(name, answers)
    retriever: RetrieverFacts = {
        "name": name,
        "held_out": False,
        "longest_list": ranks.longest,
        "strange": ranks.strange - (folded.whole_documents if folded else 0),
        "kept": note["kept"],
        "reasons": note["reasons"],
        **facts,
    }
    findings = Findings(documents, ranks.searched, ranks.probes, exposed, of_parents)
    return findings, {"text_window": None, "retriever": retriever}
