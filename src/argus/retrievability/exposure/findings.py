"""Count which documents come back for their own probes, and which never do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Required

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from typing_extensions import TypedDict

from argus.data.types import Document, IntArray, State, StateCounts, count_states
from argus.measures import wilson
from argus.measures.slices import SliceShare, Slicing, Trials, slice_shares
from argus.reports.section import SideBySide
from argus.retrievability.exposure.probes import (
    BEYOND,
    NOT_DRAWN,
    SENTENCE,
    TITLE,
    Exposure,
    FailedProbe,
    Probes,
    Success,
    displaced_by,
    success,
)
from argus.retrievability.exposure.summary import (
    ExposureFindings,
    Hub,
    KindFigures,
    ParentFigures,
    SampleFigures,
    SuccessInterval,
)

HUBS = 50
SIDE_BY_SIDE, SHOWN = 40, 700
"""Misses whose texts are kept to be read beside each other, and how many characters of each."""
DISPLACED = "displaced"
"""The table of them."""
SIDE_SCHEMA = pa.schema(
    [
        ("query", pa.string()),
        ("wanted", pa.string()),
        ("rank", pa.int64()),
        ("text", pa.string()),
        ("instead", pa.string()),
        ("instead_text", pa.string()),
    ]
)
"""One row per miss that the report shows side by side, the deepest first.

query: text of the probe.
wanted: title of the document that it is of, or its id.
rank: its rank. Null beyond the end of a list.
text: beginning of its text.
instead: who came first.
instead_text: beginning of that text.
"""
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("label", pa.string()),
        ("title_rank", pa.int64()),
        ("sentence_rank", pa.float64()),
        ("own_probes", pa.int64()),
        ("retrieved_by_own", pa.int64()),
        ("retrieved_by_others", pa.int64()),
        ("never_retrieved", pa.bool_()),
        ("state", pa.string()),
        ("reason", pa.string()),
    ]
)


class Row(TypedDict, total=False):
    """One row per document. Unknown values are null.

    title_rank: rank of the document for its title.
    sentence_rank: median rank for its own sentences, each held out.
    own_probes: titles and sentences of it that asked.
    retrieved_by_own: of these, those that bring it into the top k. Null where none asked.
    retrieved_by_others: probes of other documents that do.
    never_retrieved: whether no probe brings it into the top k.
    parent: of a chunk, the document that it is of.
    parent_by_own: probes of the chunk that bring its document into the top k.
    chunks: of a document, chunks that can be retrieved.
    """

    id: Required[str]
    label: Required[str]
    title_rank: int | None
    sentence_rank: float | None
    own_probes: int
    retrieved_by_own: int | None
    retrieved_by_others: int
    never_retrieved: bool
    state: Required[str]
    reason: Required[str]
    parent: str
    parent_by_own: int
    chunks: int


@dataclass(frozen=True)
class Searched:
    """Documents that were searched, and those that could not be."""

    documents: Sequence[Document]
    """Those that a row of the probes stands for, ordered by id."""
    failures: Mapping[str, str]
    """Document id to why it cannot be retrieved."""
    without_sentence: Mapping[int, str]
    """Row to why there is no sentence to ask with."""
    failed: Sequence[FailedProbe]
    drawn: IntArray | None = None
    """Rows of the documents that were asked for. None: all."""

    def failed_of(self, kind: str) -> dict[int, str]:
        """Return row to the first reason why a probe of this kind was not answered."""
        return {p.target: p.reason for p in reversed(self.failed) if p.kind == kind}


@dataclass(frozen=True)
class ParentFindings:
    """The same of the documents that chunks are of. A document counts by its best chunk."""

    field: str
    """Position of the parent of a chunk."""
    findings: Findings
    of: IntArray
    """Position of each chunk's document among those of `findings`, shape (n_chunks,)."""
    rank: IntArray
    """Rank of each probe's document among documents, as `Probes.rank`. Shape (n_queries,)."""
    in_siblings: int = 0
    """Sentences that another chunk of the document holds, too: taken out there as well."""

    def summary(self) -> ParentFigures:
        """Return the figures of the report."""
        figures, n = self.findings.summary(), len(self.findings.searched.documents)
        in_lists = int((self.findings.probes.top >= 0).sum())
        return {
            **figures,
            "expected_by_chance": round(in_lists / n, 1),
            "field": self.field,
            "chunks": len(self.of),
            "sentences_in_siblings": self.in_siblings,
        }

    def table(self) -> pa.Table:
        """One row per document, as of chunks, with how many chunks it has that can be retrieved."""
        table, searched = self.findings.table, self.findings.searched.documents
        counts = np.bincount(self.of, minlength=len(searched)).tolist()
        chunks = {d.id: n for d, n in zip(searched, counts, strict=True)}
        column = [chunks.get(id_, 0) for id_ in table["id"].to_pylist()]
        return table.append_column("chunks", pa.array(column, pa.int64()))


@dataclass(frozen=True)
class Findings:
    """The parts of an exposure run."""

    documents: Sequence[Document]
    """All of the corpus, ordered by id."""
    searched: Searched
    probes: Probes
    exposure: Exposure
    parents: ParentFindings | None = None
    """Findings by document, where these are by chunk."""

    @cached_property
    def table(self) -> pa.Table:
        """One row per document of the corpus, in its order. Of chunks also their documents."""
        table = self._own_table()
        for name, column in self._of_parents(table["id"].to_pylist()).items():
            table = table.append_column(name, column)
        return table

    def _own_table(self) -> pa.Table:
        positions = {d.id: i for i, d in enumerate(self.searched.documents)}
        rows = [
            self._row(d, positions[d.id]) if d.id in positions else self._without_vector(d)
            for d in self.documents
        ]
        return pa.Table.from_pylist(rows, schema=SCHEMA)

    def _of_parents(self, ids: Sequence[str]) -> dict[str, pa.Array]:
        """Return each chunk's document, and how many of the chunk's probes brought that back."""
        if self.parents is None:
            return {}
        rows = {d.id: i for i, d in enumerate(self.searched.documents)}
        names = [d.id for d in self.parents.findings.searched.documents]
        own = self.probes.target >= 0
        hit = own & (self.parents.rank <= self.exposure.k)
        counts = np.bincount(self.probes.target[hit], minlength=len(rows)).tolist()
        at = [rows.get(id_) for id_ in ids]
        parents = [None if i is None else names[self.parents.of[i]] for i in at]
        return {
            "parent": pa.array(parents, pa.string()),
            "parent_by_own": pa.array([None if i is None else counts[i] for i in at], pa.int64()),
        }

    def _without_vector(self, document: Document) -> Row:
        why = self.searched.failures[document.id]
        state = State.NOT_APPLICABLE if why == "no text" else State.FAILED
        return {"id": document.id, "label": document.title, "state": str(state), "reason": why}

    @cached_property
    def _failed(self) -> Mapping[str, Mapping[int, str]]:
        return {kind: self.searched.failed_of(kind) for kind in (TITLE, SENTENCE)}

    @cached_property
    def unanswered(self) -> npt.NDArray[np.bool_]:
        """Which documents' own probes all failed: nothing is known of them, (n,)."""
        out = np.zeros(len(self.exposure.own_probes), bool)
        out[[i for rows in self._failed.values() for i in rows]] = True
        return np.asarray(out & (self.exposure.own_probes == 0))

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Documents of which it is told whether they come back: drawn, and answered, (n,)."""
        drawn = self.searched.drawn
        if drawn is None:
            return np.asarray(~self.unanswered)
        out = np.zeros(len(self.unanswered), bool)
        out[drawn] = True
        return np.asarray(out & ~self.unanswered)

    def _row(self, document: Document, i: int) -> Row:
        exposure = self.exposure
        title, sentence = int(exposure.title_rank[i]), float(exposure.sentence_rank[i])
        reasons = self._without(document, i)
        deeper = [name for name, rank in ((TITLE, title), (SENTENCE, sentence)) if rank >= BEYOND]
        reasons += [f"by its {name} not in the top {exposure.k}" for name in deeper]
        if i in self._not_drawn:
            reasons = [NOT_DRAWN]
        own = int(exposure.own_probes[i])
        state = State.MEASURED if own else State.NOT_APPLICABLE
        row: Row = {
            "id": document.id,
            "label": document.title,
            "title_rank": title if 0 < title < BEYOND else None,
            "sentence_rank": sentence if np.isfinite(sentence) else None,
            "own_probes": own,
            "retrieved_by_own": int(exposure.retrieved_by_own[i]) if own else None,
            "retrieved_by_others": int(exposure.retrieved_by_others[i]),
            "state": str(State.FAILED if self.unanswered[i] else state),
            "reason": "; ".join(reasons),
        }
        return {**row, "never_retrieved": bool(exposure.never[i])} if self.known[i] else row

    @cached_property
    def _not_drawn(self) -> frozenset[int]:
        drawn = self.searched.drawn
        everything = frozenset(range(len(self.searched.documents)))
        return frozenset() if drawn is None else everything - frozenset(drawn.tolist())

    def _without(self, document: Document, i: int) -> list[str]:
        """Return why a document was not asked for by its title, or by a sentence."""
        reasons = []
        if not self.exposure.title_rank[i]:
            why = self._failed[TITLE].get(i, "not asked")
            reasons.append(f"title: {why}" if document.title.strip() else "no title")
        if np.isnan(self.exposure.sentence_rank[i]):
            why = self._failed[SENTENCE].get(i, "")
            absent = self.searched.without_sentence.get(i, "no sentence probe")
            reasons.append(f"sentence: {why}" if why else absent)
        return reasons

    def misses(self) -> pa.Table:
        """One row per probe that did not bring its document back within k, the deepest first.

        Of chunks, those come first whose document was missed as well. Siblings displace none.
        """
        probes, names = self.probes, [_name(d) for d in self.searched.documents]
        missed = self._missed()
        of_parents: dict[str, pa.Array] = {}
        if self.parents is not None:
            parents = [d.id for d in self.parents.findings.searched.documents]
            of_parents = {
                "parent": pa.array([parents[i] for i in self.parents.of[probes.target[missed]]]),
                "parent_rank": _ranks(self.parents.rank[missed]),
            }
        targets = probes.target[missed].tolist()
        return pa.table(
            {
                "id": pa.array([self.searched.documents[i].id for i in targets], pa.string()),
                "label": pa.array([names[i] for i in targets], pa.string()),
                "probe": pa.array(probes.kind[missed].tolist(), pa.string()),
                "query": pa.array([probes.text[i] for i in missed.tolist()], pa.string()),
                "rank": _ranks(probes.rank[missed]),
                "displaced_by": pa.array(
                    ["; ".join(names[j] for j in self._rivals(i)) for i in missed.tolist()],
                    pa.string(),
                ),
                **of_parents,
            }
        )

    def _missed(self) -> IntArray:
        """Return the probes that did not bring their document back, as `misses` orders them."""
        probes = self.probes
        missed = np.flatnonzero((probes.target >= 0) & (probes.rank > self.exposure.k))
        missed = missed[np.argsort(-probes.rank[missed], kind="stable")]
        if self.parents is not None:
            missed = missed[np.argsort(-self.parents.rank[missed], kind="stable")]
        return missed

    def displaced(self) -> pa.Table:
        """Return the first misses, with the texts that were wanted and that came first."""
        probes, documents = self.probes, self.searched.documents
        rows: list[SideBySide] = []
        for i in self._missed()[:SIDE_BY_SIDE].tolist():
            target, rivals = documents[int(probes.target[i])], self._rivals(i)
            first = documents[rivals[0]] if rivals else None
            rank = int(probes.rank[i])
            rows.append(
                {
                    "query": probes.text[i],
                    "wanted": _name(target),
                    "rank": None if rank == BEYOND else rank,
                    "text": target.text[:SHOWN],
                    "instead": "nothing" if first is None else _name(first),
                    "instead_text": "" if first is None else first.text[:SHOWN],
                }
            )
        return pa.Table.from_pylist(rows, schema=SIDE_SCHEMA)

    def _rivals(self, i: int) -> list[int]:
        """Return who came before the target of probe i: of each other document the best chunk."""
        of = None if self.parents is None else self.parents.of
        return displaced_by(self.probes, i, of=of)

    def summary(self) -> ExposureFindings:
        """Return the figures of the report."""
        exposure, k, n = self.exposure, self.exposure.k, len(self.searched.documents)
        lists = len(self.probes.text)
        figures: ExposureFindings = {
            "k": k,
            "documents": self._counts(),
            "queries": lists,
            "probes_failed": len(self.searched.failed),
            "title": self._success(TITLE),
            "sentence": self._success(SENTENCE),
            "never_retrieved": int(exposure.never[self.known].sum()),
            "never_retrieved_by_others": int((exposure.retrieved_by_others[self.known] == 0).sum()),
            "concentration": exposure.concentration(),
            "expected_by_chance": round(lists * min(k, n) / n, 1),
            "hubs": self._hubs(lists),
            "titled": sum(bool(d.title.strip()) for d in self.searched.documents),
        }
        if (drawn := self.searched.drawn) is not None:
            figures["sample"] = self._sample(drawn)
        return figures

    def _success(self, kind: str) -> KindFigures:
        """Return the success of a kind of probe. Of a sample, documents are drawn."""
        figures = success(self.probes, kind, k=self.exposure.k)
        n = figures["probes"]
        if self.searched.drawn is not None:
            n = len(np.unique(self.probes.target[self.probes.kind == kind]))
        return _with_interval(figures, n)

    def _sample(self, drawn: IntArray) -> SampleFigures:
        """Return how many of the drawn documents none of their own probes brings back."""
        own, by_own = self.exposure.own_probes[drawn], self.exposure.retrieved_by_own[drawn]
        n, missed = int((own > 0).sum()), int(((own > 0) & (by_own == 0)).sum())
        figures: SampleFigures = {
            "drawn": len(drawn), "of": len(self.searched.documents), "asked": n, "missed": missed,
        }  # fmt: skip
        if n:
            low, high = wilson(missed / n, n)
            figures |= {"missed_low": float(low), "missed_high": float(high)}
        return figures

    def _counts(self) -> StateCounts:
        states = self.table["state"].to_pylist()
        reasons = zip(states, self.table["reason"].to_pylist(), strict=True)
        return count_states(
            Counter(states), Counter(why for state, why in reasons if state != State.MEASURED)
        )

    def _hubs(self, lists: int) -> list[Hub]:
        others = self.exposure.retrieved_by_others
        return [
            {
                "id": self.searched.documents[i].id,
                "label": _name(self.searched.documents[i]),
                "lists": int(others[i]),
                "share": round(float(others[i]) / lists, 5),
            }
            for i in np.argsort(-others, kind="stable")[:HUBS].tolist()
            if others[i] > 0
        ]


def _with_interval(figures: Success, n: int) -> KindFigures:
    """Add the interval. n: draws: probes, or documents with several probes each."""
    interval: SuccessInterval = {}
    if figures["success_at_k"] is not None:
        low, high = wilson(figures["success_at_k"], n)
        interval = {"low": float(low), "high": float(high)}
    return {**figures, **interval}


def _ranks(ranks: IntArray) -> pa.Array:
    """Return ranks. Null where a retriever's list ended."""
    return pa.array(ranks, mask=ranks == BEYOND)


def _name(document: Document) -> str:
    return document.title or document.id


def shares_by_slice(findings: Findings, slicings: Sequence[Slicing]) -> list[SliceShare]:
    """Return every share by slice. slicings: of the findings' documents.

    Where these are chunks, a document is in the slices of all of its chunks.
    """
    places = {document.id: place for place, document in enumerate(findings.documents)}
    rows = [[places[document.id]] for document in findings.searched.documents]
    parents = findings.parents
    shares = _shares(findings, [s.of(rows) for s in slicings], "chunks " if parents else "")
    if parents is not None:
        groups: list[list[int]] = [[] for _ in parents.findings.searched.documents]
        for group, row in zip(parents.of.tolist(), rows, strict=True):
            groups[group] += row
        shares += _shares(parents.findings, [s.of(groups) for s in slicings], "documents ")
    return shares


def _shares(findings: Findings, slicings: Sequence[Slicing], unit: str) -> list[SliceShare]:
    """Return the shares of one kind of thing. slicings: of searched things."""
    probes, known = findings.probes, np.flatnonzero(findings.known)
    names = {TITLE: "their title", SENTENCE: "a sentence of their own"}
    trials = []
    for kind, name in names.items():
        own = probes.kind == kind
        hits = (probes.rank[own] <= findings.exposure.k).astype(np.float64)
        trials.append(Trials(f"{unit}found by {name}", probes.target[own], hits))
    never = findings.exposure.never[known].astype(np.float64)
    trials.append(Trials(f"{unit}never retrieved", known, never, is_bad=True))
    return [share for one in trials for share in slice_shares(slicings, one)]
