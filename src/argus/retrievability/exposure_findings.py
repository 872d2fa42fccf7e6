"""Make queries from titles and held-out sentences, and count the documents that come back for them.

The first and the last step of `argus.retrievability.exposure` (`argus check`). `make_probes`:
documents -> probes, queries with one right answer. `Findings`: their ranks and top-k lists -> the
documents that come back, the hubs, those never retrieved, and the concentration (Gini, Lorenz).
Chunks may be folded to their parent documents: a document counts by its best chunk, so that a
chunk's siblings are no rivals of it, and its rank is one among documents.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.fields import read_parents
from argus.data.provenance import content_hash
from argus.data.types import Document, IntArray, Query, State, count_states
from argus.indexes.exact import Groups
from argus.indexes.lexical import LexicalIndex
from argus.jobs.workspace import require_some
from argus.measures import wilson
from argus.measures.slices import Slicing, Trials, slice_shares
from argus.retrievability.config import ExposureConfig
from argus.retrievability.sentences import hold_out, without_rare_words

TITLE, SENTENCE, QUERY = "title", "sentence", "query"
BEYOND = np.iinfo(np.int64).max  # rank of a document that is not in a list that ends


@dataclass(frozen=True, kw_only=True)
class Probes:
    """Probes for documents, and the lists that they bring back. Arrays have shape (n_probes, ...).

    documents: those that can be retrieved, ordered by id. Rows refer to them.
    drawn: rows of those that are asked for. None: all.
    without_sentence: row to why no sentence of the document asks for it.
    failures: id of every other document of the corpus to why it cannot be retrieved.
    kind: "title", "sentence", or "query" for a given query that belongs to no document.
    target: row of the document that a probe should bring back. -1 for given queries.
    queries: text and id of each. The id is the kind with a hash of document and text: an answer to
    another probe is never taken for its own.
    rank: 1-based rank of the target. 0 where there is none, BEYOND where a retriever's list ends.
    top: rows returned, best first, (n_probes, k). -1 after the end, and for strange ids.
    failed: probes without an answer, and so not among these: kind, target and reason.
    """

    documents: Sequence[Document]
    kind: npt.NDArray[np.str_]
    target: IntArray
    queries: Sequence[Query]
    drawn: IntArray | None = None
    without_sentence: Mapping[int, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    rank: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    top: IntArray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    failed: Sequence[tuple[str, int, str]] = ()


def make_probes(
    documents: Sequence[Document],
    queries: Sequence[Query],
    config: ExposureConfig,
    failures: Mapping[str, str],
) -> tuple[Probes, list[str]]:
    """Return titles, then sentences, then the given queries, and the texts less each sentence.

    With `config.reword` sentences ask without their rarer words. With `config.sample` titles and
    sentences are of the documents that are drawn. Raises NothingMeasured where there is nothing to
    ask with.
    """
    drawn = _draw(documents, config)
    rows = range(len(documents)) if drawn is None else drawn.tolist()
    titled = [row for row in rows if documents[row].title.strip()]
    sentences, reasons = hold_out(
        [documents[row] for row in rows], per_document=config.sentences, seed=config.seed
    )
    asking, texts = [rows[one.position] for one in sentences], [one.sentence for one in sentences]
    if config.reword:
        texts = without_rare_words(texts, documents)
    probes = [(TITLE, documents[row].id, documents[row].title) for row in titled]
    probes += [(SENTENCE, documents[i].id, s) for i, s in zip(asking, texts, strict=True)]
    probes += [(QUERY, query.id, query.text) for query in queries]
    require_some(
        len(probes),
        "document has a title, or a sentence to be held out",
        "Name the field of titles with --title-field; a sentence needs another beside it.",
    )
    times: Counter[str] = Counter()  # a pair that comes again is numbered
    named = []
    for kind, id_, text in probes:
        name = f"{kind}-{content_hash(id_, text, size=8).hex()}"
        times[name] += 1
        named.append(Query(f"{name}-{times[name]}" if times[name] > 1 else name, text))
    made = Probes(
        documents=documents,
        kind=np.array([kind for kind, _, _ in probes]),
        target=np.array([*titled, *asking, *[-1] * len(queries)], np.int64),
        queries=named,
        drawn=drawn,
        without_sentence={rows[place]: why for place, why in reasons.items()},
        failures=failures,
    )
    return made, [sentence.rest for sentence in sentences]


def _draw(documents: Sequence[Document], config: ExposureConfig) -> IntArray | None:
    """Return the rows of `config.sample` documents in rising order. None where all are asked for.

    Drawn by a hash of ids and seed, so that the same are drawn whatever else the corpus holds or
    in which order. Of chunks, documents are drawn, each with all of its chunks.
    """
    if config.sample is None:
        return None
    of_chunk = read_parents(documents, config.parent_field)
    units = [of_chunk.get(document.id, document.id) for document in documents]
    if config.sample >= len(distinct := set(units)):
        return None
    seed = str(config.seed)
    drawn = set(
        heapq.nsmallest(
            config.sample, distinct, key=lambda id_: (content_hash(seed, id_, size=8), id_)
        )
    )
    return np.array([row for row, unit in enumerate(units) if unit in drawn], np.int64)


NEAR, MOST_NEAR = 3, 1_000  # given queries by which a document is judged, and of so many
HUBS = 50
NOT_DRAWN = "not drawn"
_TEXT, _WHOLE = pa.string(), pa.int64()
SCHEMA = pa.schema(
    [
        ("id", _TEXT), ("label", _TEXT), ("title_rank", _WHOLE), ("sentence_rank", pa.float64()),
        ("own_probes", _WHOLE), ("retrieved_by_own", _WHOLE), ("retrieved_by_others", _WHOLE),
        ("never_retrieved", pa.bool_()), ("state", _TEXT), ("reason", _TEXT),
    ]
)  # fmt: skip
OF_QUERIES = pa.field("near_missed", _WHOLE)
OF_CHUNKS = [pa.field("parent", _TEXT), pa.field("parent_by_own", _WHOLE)]


@dataclass(frozen=True)
class Parents:
    """The document of every chunk. Chunks without text are of one, too, but of no group.

    of_chunk: id of each chunk of the corpus to that of its document. ids: of documents with a chunk
    that can be retrieved, in order. groups: positions of these chunks in `ids`.
    """

    field: str
    of_chunk: Mapping[str, str]
    ids: list[str]
    groups: Groups

    @classmethod
    def of(cls, field: str, of_chunk: Mapping[str, str], chunks: Sequence[Document]) -> Parents:
        """Group chunks that can be retrieved. of_chunk: as `read_parents` returns it."""
        ids = sorted({of_chunk[chunk.id] for chunk in chunks})
        places = {id_: place for place, id_ in enumerate(ids)}
        rows = [places[of_chunk[chunk.id]] for chunk in chunks]
        return cls(field, of_chunk, ids, Groups(np.array(rows, np.int64)))


@dataclass(frozen=True)
class Findings:
    """Figures of the n documents that can be retrieved. Arrays have shape (n,).

    corpus: all documents, ordered by id. probes: those that were answered. folded: of chunks, the
    same of the documents that they are of.
    """

    corpus: Sequence[Document]
    probes: Probes
    k: int
    folded: Folded | None = None

    @cached_property
    def own_probes(self) -> IntArray:
        """Titles and sentences of a document that asked for it."""
        target = self.probes.target
        return np.bincount(target[target >= 0], minlength=len(self.probes.documents))

    @cached_property
    def retrieved_by_own(self) -> IntArray:
        """Of these, those that bring the document back within k."""
        hit = (self.probes.target >= 0) & (self.probes.rank <= self.k)
        return np.bincount(self.probes.target[hit], minlength=len(self.probes.documents))

    @cached_property
    def retrieved_by_others(self) -> IntArray:
        """Top-k lists of other documents' probes, and of given queries, that hold the document."""
        top, target = self.probes.top, self.probes.target[:, None]
        return np.bincount(top[(top != target) & (top >= 0)], minlength=len(self.probes.documents))

    @property
    def never(self) -> npt.NDArray[np.bool_]:
        """Documents that no query at all brought back."""
        return np.asarray(self.retrieved_by_own + self.retrieved_by_others == 0)

    @cached_property
    def title_rank(self) -> IntArray:
        """Rank under its own title, the best of several. 0 where it has none."""
        probes, ranks = self.probes, np.zeros(len(self.probes.documents), np.int64)
        title = np.flatnonzero(probes.kind == TITLE)
        title = title[np.argsort(-probes.rank[title], kind="stable")]
        ranks[probes.target[title]] = probes.rank[title]
        return ranks

    @cached_property
    def sentence_rank(self) -> npt.NDArray[np.float64]:
        """Median rank under its own held-out sentences. NaN where none, infinite if BEYOND."""
        probes, out = self.probes, np.full(len(self.probes.documents), np.nan)
        rows = np.flatnonzero(probes.kind == SENTENCE)
        order = rows[np.argsort(probes.target[rows], kind="stable")]
        owners, starts = np.unique(probes.target[order], return_index=True)
        ranks = np.where(probes.rank == BEYOND, np.inf, probes.rank)[order]
        for owner, own in zip(owners, np.split(ranks, starts[1:]), strict=False):
            out[owner] = np.median(own)
        return out

    @cached_property
    def unanswered(self) -> npt.NDArray[np.bool_]:
        """Documents whose own probes all failed: nothing is known of them."""
        out = np.zeros(len(self.probes.documents), bool)
        out[[target for _, target, _ in self.probes.failed if target >= 0]] = True
        return np.asarray(out & (self.own_probes == 0))

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Documents of which it is told whether they come back: drawn, and answered."""
        drawn, rows = self.probes.drawn, np.arange(len(self.unanswered))
        return np.isin(rows, rows if drawn is None else drawn) & ~self.unanswered

    @cached_property
    def near_missed(self) -> IntArray | None:
        """How many of the NEAR given queries nearest by words to a document miss it, shape (n,).

        -1 for a document that fewer share a word with; None where fewer queries were given.
        """
        rows = np.flatnonzero(self.probes.kind == QUERY)[:MOST_NEAR]
        if len(rows) < NEAR:
            return None
        documents, n = self.probes.documents, len(self.probes.documents)
        words = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
        best, missed = np.zeros((n, NEAR)), np.zeros((n, NEAR), np.int64)
        for row in rows.tolist():
            scores, least = words.scores(self.probes.queries[row].text), best.argmin(axis=1)
            nearer = np.flatnonzero(scores > best[np.arange(n), least])
            best[nearer, least[nearer]] = scores[nearer]
            missed[nearer, least[nearer]] = ~np.isin(nearer, self.probes.top[row])
        return np.where((best > 0).all(axis=1), missed.sum(axis=1), -1)

    @cached_property
    def table(self) -> pa.Table:
        """One row per document of the corpus, in its order. Unknown values are null.

        title_rank: rank of the document for its title.
        sentence_rank: median rank for its own sentences, each held out.
        own_probes: titles and sentences of it that asked.
        retrieved_by_own: of these, those that bring it into the top k. Null where none asked.
        retrieved_by_others: probes of other documents that do.
        never_retrieved: whether no probe brings it into the top k.
        near_missed: given queries that do not, of the three that share most with its words.
        parent: of a chunk, the document that it is of.
        parent_by_own: probes of the chunk that bring its document into the top k.
        """
        probes, places = self.probes, {d.id: i for i, d in enumerate(self.probes.documents)}
        drawn = None if probes.drawn is None else set(probes.drawn.tolist())
        failed = {(kind, target): why for kind, target, why in reversed(probes.failed)}
        missed, folded, rows = self.near_missed, self.folded, []
        more = [] if missed is None else [OF_QUERIES]
        if folded is not None:
            more += OF_CHUNKS
            hit = (probes.target >= 0) & (folded.rank <= self.k)
            times = np.bincount(probes.target[hit], minlength=len(places)).tolist()
        for document in self.corpus:
            row: dict[str, Any] = {"id": document.id, "label": document.title}
            rows.append(row)
            i = places.get(document.id)
            if i is None:
                row["reason"] = probes.failures[document.id]
                is_empty = row["reason"] == "no text"
                row["state"] = str(State.NOT_APPLICABLE if is_empty else State.FAILED)
                continue
            title, sentence = int(self.title_rank[i]), float(self.sentence_rank[i])
            own = int(self.own_probes[i])
            state = State.MEASURED if own else State.NOT_APPLICABLE
            row |= {
                "title_rank": title if 0 < title < BEYOND else None,
                "sentence_rank": sentence if np.isfinite(sentence) else None,
                "own_probes": own,
                "retrieved_by_own": int(self.retrieved_by_own[i]) if own else None,
                "retrieved_by_others": int(self.retrieved_by_others[i]),
                "state": str(State.FAILED if self.unanswered[i] else state),
                "reason": NOT_DRAWN,
            }
            if self.known[i]:
                row["never_retrieved"] = bool(self.never[i])
            if missed is not None and missed[i] >= 0:
                row["near_missed"] = int(missed[i])
            if folded is not None:
                row |= {"parent": folded.parent(i), "parent_by_own": times[i]}
            if drawn is None or i in drawn:
                row["reason"] = "; ".join(self._reasons(document, i, failed))
        return pa.Table.from_pylist(rows, schema=pa.schema([*SCHEMA, *more]))

    def _reasons(
        self, document: Document, i: int, failed: Mapping[tuple[str, int], str]
    ) -> list[str]:
        """Return why a document was not asked for by title or sentence, or does not come back."""
        reasons = []
        if not self.title_rank[i]:
            why = failed.get((TITLE, i), "not asked")
            reasons.append(f"title: {why}" if document.title.strip() else "no title")
        if np.isnan(self.sentence_rank[i]):
            absent = self.probes.without_sentence.get(i, "no sentence probe")
            why = failed.get((SENTENCE, i), "")
            reasons.append(f"sentence: {why}" if why else absent)
        ranks = ((TITLE, self.title_rank[i]), (SENTENCE, self.sentence_rank[i]))
        deeper = [name for name, rank in ranks if rank >= BEYOND]
        return reasons + [f"by its {name} not in the top {self.k}" for name in deeper]

    @cached_property
    def _missed(self) -> IntArray:
        """The probes that did not bring their document back, as `misses` orders them."""
        probes = self.probes
        missed = np.flatnonzero((probes.target >= 0) & (probes.rank > self.k))
        missed = missed[np.argsort(-probes.rank[missed], kind="stable")]
        if self.folded is not None:
            missed = missed[np.argsort(-self.folded.rank[missed], kind="stable")]
        return missed

    def misses(self) -> pa.Table:
        """Return one row per probe that did not bring its document back within k, deepest first.

        Of chunks, those come first whose document was missed as well. Siblings displace none.

        probe: title or sentence.
        query: text of the probe.
        rank: rank of the document. Null where the list of a retriever ended before it.
        displaced_by: documents that came before it, at most three, as titles.
        parent: of chunks, the document that the chunk is of.
        parent_rank: rank of that document among documents, each at its best chunk.
        """
        probes, missed = self.probes, self._missed.tolist()
        targets = [probes.documents[i] for i in probes.target[missed]]
        rivals = ("; ".join(_name(probes.documents[j]) for j in self._rivals(i)) for i in missed)
        columns = {
            "id": pa.array([document.id for document in targets], pa.string()),
            "label": pa.array([_name(document) for document in targets], pa.string()),
            "probe": pa.array(probes.kind[missed].tolist(), pa.string()),
            "query": pa.array([probes.queries[i].text for i in missed], pa.string()),
            "rank": _ranks(probes.rank[missed]),
            "displaced_by": pa.array(list(rivals), pa.string()),
        }
        if self.folded is not None:
            parents = [self.folded.parent(i) for i in probes.target[missed]]
            columns["parent"] = pa.array(parents, pa.string())
            columns["parent_rank"] = _ranks(self.folded.rank[missed])
        return pa.table(columns)

    def _rivals(self, i: int) -> list[int]:
        """Return who came before the target of probe i: of each other document the best chunk."""
        target = self.probes.target[i]
        rows = [int(row) for row in self.probes.top[i] if row not in (target, -1)]
        if self.folded is None:
            return rows[:3]
        of, first = self.folded.of, dict[int, int]()
        for row in rows:
            first.setdefault(int(of[row]), row)
        return [row for group, row in first.items() if group != of[target]][:3]

    def figures(self) -> dict[str, Any]:
        """Return the figures of the summary, see `ExposureResult`."""
        probes, k, n, others = self.probes, self.k, len(self.probes.documents), self.known
        lists, counts = len(probes.queries), self.retrieved_by_others
        states = self.table["state"].to_pylist()
        reasons = zip(states, self.table["reason"].to_pylist(), strict=True)
        unmeasured = Counter(why for state, why in reasons if state != State.MEASURED)
        hubs = [i for i in np.argsort(-counts, kind="stable")[:HUBS].tolist() if counts[i] > 0]
        figures = {
            "k": k,
            "documents": count_states(Counter(states), unmeasured),
            "queries": lists,
            "probes_failed": len(probes.failed),
            "title": self._success(TITLE),
            "sentence": self._success(SENTENCE),
            "never_retrieved": int(self.never[others].sum()),
            "never_retrieved_by_others": int((counts[others] == 0).sum()),
            "concentration": {
                "gini": gini(counts), "skewness": skewness(counts),
                "lorenz": lorenz(counts).round(5).tolist(),
            },
            "expected_by_chance": round(lists * min(k, n) / n, 1),
            "hubs": [
                {
                    "id": probes.documents[i].id, "label": _name(probes.documents[i]),
                    "lists": int(counts[i]), "share": round(float(counts[i]) / lists, 5),
                }
                for i in hubs
            ],
            "titled": sum(bool(d.title.strip()) for d in probes.documents),
        }  # fmt: skip
        if (near := self.near_missed) is not None:
            asked, missed = int((near >= 0).sum()), int((near == NEAR).sum())
            figures["near"] = {"documents": asked, "missed": missed}
        if (drawn := probes.drawn) is not None:
            own, by_own = self.own_probes[drawn], self.retrieved_by_own[drawn]
            n_asked, missed = int((own > 0).sum()), int(((own > 0) & (by_own == 0)).sum())
            sample: dict[str, Any] = {"drawn": len(drawn), "of": n}
            sample |= {"asked": n_asked, "missed": missed}
            if n_asked:
                low, high = wilson(missed / n_asked, n_asked)
                sample |= {"missed_low": float(low), "missed_high": float(high)}
            figures["sample"] = sample
        return figures

    def _success(self, kind: str) -> dict[str, Any]:
        """Return how often one kind of probe brings its document back."""
        of_kind = self.probes.kind == kind
        ranks = self.probes.rank[of_kind]
        if not len(ranks):
            return {"probes": 0, "success_at_1": None, "success_at_k": None, "mrr": None}
        share, n = float((ranks <= self.k).mean()), len(ranks)
        if self.probes.drawn is not None:  # documents are drawn, each with several probes
            n = len(np.unique(self.probes.target[of_kind]))
        low, high = wilson(share, n)
        first, mrr = float((ranks == 1).mean()), float((1 / ranks).mean())
        success = {"success_at_1": first, "success_at_k": share, "mrr": mrr}
        return {"probes": len(ranks), **success, "low": float(low), "high": float(high)}

    def shares(self, slicings: Sequence[Slicing]) -> list[dict[str, Any]]:
        """Return every share by slice. slicings: of the corpus.

        Where these are chunks, a document is in the slices of all of its chunks.
        """
        places = {document.id: place for place, document in enumerate(self.corpus)}
        rows = [[places[document.id]] for document in self.probes.documents]
        if self.folded is None:
            return self._shares([s.of(rows) for s in slicings], "")
        shares = self._shares([s.of(rows) for s in slicings], "chunks ")
        groups: list[list[int]] = [[] for _ in self.folded.findings.probes.documents]
        for group, row in zip(self.folded.of.tolist(), rows, strict=True):
            groups[group] += row
        of_groups = [s.of(groups) for s in slicings]
        return shares + self.folded.findings._shares(of_groups, "documents ")

    def _shares(self, slicings: Sequence[Slicing], unit: str) -> list[dict[str, Any]]:
        probes, known = self.probes, np.flatnonzero(self.known)
        trials = []
        for kind, name in ((TITLE, "their title"), (SENTENCE, "a sentence of their own")):
            own = probes.kind == kind
            hits = (probes.rank[own] <= self.k).astype(np.float64)
            trials.append(Trials(f"{unit}found by {name}", probes.target[own], hits))
        never = self.never[known].astype(np.float64)
        trials.append(Trials(f"{unit}never retrieved", known, never, is_bad=True))
        return slice_shares(slicings, trials)


@dataclass(frozen=True)
class Folded:
    """Findings of the documents that chunks are of.

    of: position of each chunk's document among those of `findings`, (n_chunks,). rank: rank of each
    probe's document among documents, as `Probes.rank`, (n_probes,). in_siblings: sentences that
    another chunk of the document holds, too: taken out there as well.
    """

    field: str
    findings: Findings
    of: IntArray
    rank: IntArray
    in_siblings: int

    def parent(self, chunk: int) -> str:
        """Return the id of a chunk's document."""
        return self.findings.probes.documents[int(self.of[chunk])].id

    def figures(self) -> dict[str, Any]:
        """Return the figures of the summary, see `ExposureResult`."""
        probes = self.findings.probes
        n, in_lists = len(probes.documents), int((probes.top >= 0).sum())
        return {
            **self.findings.figures(),
            "expected_by_chance": round(in_lists / n, 1),
            "field": self.field,
            "chunks": len(self.of),
            "sentences_in_siblings": self.in_siblings,
        }

    def table(self) -> pa.Table:
        """Return one row per document. chunks: of it, that can be retrieved."""
        table, documents = self.findings.table, self.findings.probes.documents
        times = np.bincount(self.of, minlength=len(documents)).tolist()
        chunks = {document.id: n for document, n in zip(documents, times, strict=True)}
        column = [chunks.get(id_, 0) for id_ in table["id"].to_pylist()]
        return table.append_column("chunks", pa.array(column, pa.int64()))


def fold(
    corpus: Sequence[Document],
    parents: Parents,
    probes: Probes,
    k: int,
    *,
    rank: IntArray,
    top: IntArray,
    in_siblings: int = 0,
) -> Folded:
    """Return the findings of the documents of chunks.

    rank, top: of each of the probes, as in `Probes`, but of documents.
    """
    of = parents.groups.of
    target = np.where(probes.target >= 0, of[probes.target], -1)
    first: dict[tuple[int, str], int] = {}
    again = np.zeros(len(target), bool)  # chunks share the title of their document: it asks once
    for i in np.flatnonzero(probes.kind == TITLE).tolist():
        again[i] = first.setdefault((int(target[i]), probes.queries[i].text), i) != i
    once = np.flatnonzero(~again)
    retrievable = set(parents.ids)
    failures: dict[str, str] = {}  # of documents none of whose chunks can be retrieved
    for chunk, why in probes.failures.items():
        parent = parents.of_chunk[chunk]
        if parent not in retrievable and failures.get(parent, "no text") == "no text":
            failures[parent] = why
    folded = Probes(
        documents=_documents(parents, probes.documents),
        kind=probes.kind[once],
        target=target[once],
        queries=[probes.queries[i] for i in once.tolist()],
        drawn=None if probes.drawn is None else np.unique(of[probes.drawn]),
        without_sentence={int(of[row]): why for row, why in probes.without_sentence.items()},
        failures=failures,
        rank=rank[once],
        top=top[once],
        failed=[(kind, int(of[row]) if row >= 0 else row, why) for kind, row, why in probes.failed],
    )
    findings = Findings(_documents(parents, corpus), folded, k)
    return Folded(parents.field, findings, of, rank, in_siblings)


def _documents(parents: Parents, chunks: Sequence[Document]) -> list[Document]:
    """Return the documents of some chunks, by id, with the title that all of theirs share."""
    titles: dict[str, set[str]] = {}
    for chunk in chunks:
        titles.setdefault(parents.of_chunk[chunk.id], set()).add(chunk.title)
    return [
        Document(id_, "", next(iter(own)) if len(own) == 1 else "")
        for id_, own in sorted(titles.items())
    ]


def fold_lists(top: IntArray, of: IntArray) -> IntArray:
    """Return the documents of lists of chunks, each once and in its first place. -1 elsewhere."""
    folded = np.where(top >= 0, of[top], -1)
    order = np.argsort(folded, axis=1, kind="stable")
    ordered = np.take_along_axis(folded, order, axis=1)
    again = np.zeros(top.shape, bool)
    np.put_along_axis(again, order[:, 1:], ordered[:, 1:] == ordered[:, :-1], axis=1)
    folded[again] = -1
    return np.asarray(folded, np.int64)


def _ranks(ranks: IntArray) -> pa.Array:
    """Return ranks. Null where a retriever's list ended."""
    return pa.array(ranks, mask=ranks == BEYOND)


def _name(document: Document) -> str:
    return document.title or document.id


def lorenz(counts: npt.ArrayLike, *, points: int = 101) -> npt.NDArray[np.float64]:
    """Return the share of all retrievals that the least retrieved share of documents gets.

    counts: (n,), non-negative. Shape (points,), at equal steps of the share of documents from 0
    to 1, interpolated linearly. Zeros when nothing was retrieved.
    """
    values = np.sort(np.asarray(counts, np.float64))
    cumulative = np.concatenate([[0.0], np.cumsum(values)])
    total = cumulative[-1]
    shares = cumulative / total if total > 0 else cumulative
    steps = np.linspace(0, 1, len(cumulative))
    return np.asarray(np.interp(np.linspace(0, 1, points), steps, shares))


def gini(counts: npt.ArrayLike) -> float:
    """Return the Gini coefficient: 0 when all are equal, towards 1 when one has all.

    `G = Σ_i (2i - n - 1) c_i / (n Σ_i c_i)` over ascending counts, i from 1. As a measure of
    retrievability bias: Azzopardi & Vinay (2008). 0 when nothing was retrieved.
    """
    values = np.sort(np.asarray(counts, np.float64))
    n, total = len(values), values.sum()
    if n == 0 or total == 0:
        return 0.0
    return float(((2 * np.arange(1, n + 1) - n - 1) * values).sum() / (n * total))


def skewness(counts: npt.ArrayLike) -> float:
    """Return the skewness of the k-occurrence distribution, the usual measure of hubness.

    Radovanović, Nanopoulos & Ivanović (2010), N_k. 0 when all counts are equal.
    """
    values = np.asarray(counts, np.float64)
    spread = values.std()
    return float((((values - values.mean()) / spread) ** 3).mean()) if spread > 0 else 0.0
