"""What an evaluation found, as the table of queries and the summary that its report shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TypeVar

import numpy as np
import pyarrow as pa

from argus.data.excluded import spare, without_excluded
from argus.data.runs import first_rank
from argus.data.types import Query, State, StateCounts
from argus.errors import InputError
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.judged import JudgedQueries
from argus.evaluation.parents import Slicer
from argus.evaluation.summary import (
    EvaluationSummary,
    HarmedQuery,
    Implicitness,
    MissingDocuments,
    QueryGroup,
    SharedDocuments,
    SystemFigures,
)
from argus.evaluation.systems import Judged, System, missing_gold
from argus.measures import Evaluation, compare, harmed_queries, is_implicit, rps_association
from argus.measures import evaluate as score
from argus.measures.association import TABLE_4_K, AssociationFigures
from argus.measures.implicitness import names_something, overlap
from argus.measures.measures import cutoff
from argus.measures.significance import DifferenceFigures
from argus.measures.slices import SliceShare, Slicing, Trials, slice_shares, worst_first

T = TypeVar("T")

LEXICAL_MEASURES = ("nDCG@10", "R@10", "RR")
HARMED = 200
"""Harmed queries that the summary names; per_query holds all."""
TABLE = pa.schema(
    [
        ("query_id", pa.string()), ("text", pa.string()), ("state", pa.string()),
        ("reason", pa.string()), ("relevant", pa.int64()), ("implicit", pa.bool_()),
        ("overlap", pa.float64()),
    ]
)  # fmt: skip
"""One row per judged query; null where there is no value.

Then, per system: `rank` of the first relevant document, relevant documents that are `not_indexed`,
and each measure. Of two systems these end in ` before` and ` after`, and measures have a
` difference`.

text: text of the query.
relevant: documents that are judged relevant.
implicit: whether it shares no content word with a relevant title.
overlap: share of its content words in the best relevant text.
"""


@dataclass(frozen=True)
class EvaluationFindings:
    """One system, or two: before and after."""

    queries: Sequence[Query]
    judged: Judged
    systems: Sequence[System]
    config: EvaluateConfig
    highest_rps: Mapping[str, float] | None = None

    @cached_property
    def scored(self) -> list[Evaluation]:
        """Every system's measures on the queries that can be measured."""
        return [score(s.run, self.judged.qrels, self.config.measures) for s in self.systems]

    @cached_property
    def missing(self) -> list[MissingDocuments | None]:
        """Relevant documents that each system's index does not hold."""
        return [missing_gold(system, self.judged) for system in self.systems]

    @cached_property
    def implicit(self) -> dict[str, bool | None]:
        """Whether a query shares no word with a relevant title; None where there is no title."""
        titles: dict[str, str] = {}
        for system in self.systems:
            titles |= system.titles
        implicit: dict[str, bool | None] = {}
        for id_, query in self.judged.queries.items():
            names = [titles[d] for d in self.judged.relevant(id_) if d in titles]
            implicit[id_] = is_implicit(query.text, names) if names_something(names) else None
        return implicit

    @cached_property
    def overlaps(self) -> dict[str, float | None]:
        """Share of a query's content words that its best relevant text holds, None if unknown."""
        texts: dict[str, str] = {}
        for system in self.systems:
            texts = {**system.texts, **texts}
        return {
            id_: overlap(q.text, [texts[d] for d in self.judged.relevant(id_) if d in texts])
            for id_, q in self.judged.queries.items()
        }

    def summary(self) -> EvaluationSummary:
        """Return the figures of the report; no value in it is NaN."""
        paired = len(self.systems) == 2
        return {
            "headline": self.config.headline,
            "depth": self.config.depth,
            "queries": self._counts(),
            "failed": [
                {"query_id": id_, "reason": reason}
                for id_, reason in list(self.judged.failed.items())[:HARMED]
            ],
            "judged_but_not_asked": {
                "queries": len(self.judged.not_asked),
                "ids": self.judged.not_asked[:50],
            },
            "systems": [self._system(i) for i in range(len(self.systems))],
            "documents": self._documents() if paired else None,
            "comparison": self._compare(self.scored[0], self.scored[1]) if paired else None,
            "harmed": self._harmed() if paired else None,
            "implicitness": self._implicitness(),
            "association": self._association(),
            "association_left_out": self._ks[1] if self.highest_rps is not None else [],
        }

    def _counts(self) -> StateCounts:
        reasons = Counter([*self.judged.reasons.values(), *self.judged.failed.values()])
        return {
            "total": len(self.queries),
            "measured": len(self.judged.queries),
            "failed": len(self.judged.failed),
            "not applicable": len(self.judged.reasons),
            "reasons": dict(reasons),
        }

    def _system(self, i: int) -> SystemFigures:
        system = self.systems[i]
        return {
            "name": system.name,
            "fingerprint": system.fingerprint,
            "documents": None if system.documents is None else len(system.documents),
            "queries_without_results": sum(not system.run.get(q) for q in self.judged.queries),
            "longest_list": system.longest,
            "beyond_its_lists": self._beyond(system),
            "kept": system.kept,
            "warning": system.warning or self._nothing_judged(system),
            "missing_judged_documents": self.missing[i],
            "measures": self.scored[i].aggregate,
        }

    def _nothing_judged(self, system: System) -> str | None:
        """Say so where no result of any list is a judged document: ids may be those of others."""
        lists = {query: system.run.get(query, {}) for query in self.judged.queries}
        first = next((id_ for scores in lists.values() for id_ in scores), None)
        judged = {id_ for grades in self.judged.qrels.values() for id_ in grades}
        if first is None or any(id_ in judged for scores in lists.values() for id_ in scores):
            return None
        return (
            f"no result of {len(lists):,} queries is a judged document: the first is {first!r}, "
            f"judged is {next(iter(sorted(judged)), '')!r}; mind --result-id"
        )

    def _beyond(self, system: System) -> list[str]:
        """Return the measures that read further down than any list of a given run goes."""
        if system.longest is None:
            return []
        return [m for m in self.config.measures if (cutoff(m) or 0) > system.longest]

    def _documents(self) -> SharedDocuments | None:
        """Count what only one of the two indexes holds; None where one of them is not known."""
        before, after = (system.documents for system in self.systems)
        if before is None or after is None:
            return None
        return {
            "both": len(before & after),
            "only_before": len(before - after),
            "only_after": len(after - before),
        }

    def _compare(self, before: Evaluation, after: Evaluation) -> dict[str, DifferenceFigures]:
        seed, resamples = self.config.seed, self.config.resamples
        differences = compare(before, after, seed=seed, resamples=resamples)
        return {name: difference.figures() for name, difference in differences.items()}

    def _harmed(self) -> list[HarmedQuery]:
        changes = harmed_queries(self.scored[0], self.scored[1], self.config.headline)
        return [
            {
                "query_id": change.query_id,
                "text": self.judged.queries[change.query_id].text,
                "before": change.before,
                "after": change.after,
                "difference": change.difference,
                "rank_before": self._first_relevant(0, change.query_id),
                "rank_after": self._first_relevant(1, change.query_id),
            }
            for change in changes[:HARMED]
        ]

    def _first_relevant(self, system: int, query_id: str) -> int | None:
        relevant = set(self.judged.relevant(query_id))
        return first_rank(self.systems[system].run.get(query_id, {}), relevant)

    def _implicitness(self) -> Implicitness:
        groups = {
            "implicit": [q for q, yes in self.implicit.items() if yes],
            "sharing": [q for q, yes in self.implicit.items() if yes is False],
        }
        known = [value for value in self.overlaps.values() if value is not None]
        lexical = self._lexical()
        total = sum(map(len, groups.values()))
        return {
            "measured": total,
            "not_applicable": len(self.implicit) - total,
            "implicit": len(groups["implicit"]),
            "share": len(groups["implicit"]) / total if total else None,
            "mean_overlap": sum(known) / len(known) if known else None,
            "overlap_measured": len(known),
            "bm25": None if lexical is None else lexical.aggregate,
            "groups": [self._group(name, ids) for name, ids in groups.items() if ids],
        }

    def _lexical(self) -> Evaluation | None:
        """Return how well BM25 over the same texts does; None where texts are not known."""
        texts = next((s.texts for s in self.systems if s.texts), None)
        if not texts:
            return None
        from argus.indexes.lexical import LexicalIndex

        ids = sorted(texts)
        index = LexicalIndex.build(ids, [texts[i] for i in ids])
        queries, excluded = self.judged.queries, self.judged.excluded
        depth = max(self.config.depth, *(cutoff(name) or 0 for name in LEXICAL_MEASURES))
        hits = index.search([q.text for q in queries.values()], depth + spare(excluded))
        run = without_excluded(hits.run(list(queries)), excluded, depth)
        return score(run, self.judged.qrels, LEXICAL_MEASURES)

    def _group(self, name: str, ids: Sequence[str]) -> QueryGroup:
        parts = [
            Evaluation(
                {m: sum(e.per_query[q][m] for q in ids) / len(ids) for m in e.aggregate},
                {q: e.per_query[q] for q in ids},
            )
            for e in self.scored
        ]
        return {
            "name": name,
            "queries": len(ids),
            "measures": [part.aggregate for part in parts],
            "comparison": self._compare(parts[0], parts[1]) if len(parts) == 2 else None,
        }

    @cached_property
    def _ks(self) -> tuple[list[int], list[int]]:
        """The k of Table 4 down to which every run was kept, and the others."""
        depths = [s.longest for s in self.systems if s.longest is not None]
        depth = min([self.config.depth, *depths])
        return [k for k in TABLE_4_K if k <= depth], [k for k in TABLE_4_K if k > depth]

    def _association(self) -> list[list[AssociationFigures]] | None:
        """Return the statistic of ARGUS Table 4 for each system."""
        if self.highest_rps is None:
            return None
        return [
            [
                at_k.figures()
                for at_k in rps_association(
                    system.run,
                    self.judged.qrels,
                    self.highest_rps,
                    seed=self.config.seed,
                    ks=self._ks[0],
                    indexed=system.documents,
                    resamples=self.config.resamples,
                )
            ]
            for system in self.systems
        ]

    def table(self) -> pa.Table:
        """See `TABLE`; in the order of the queries."""
        ids = [query.id for query in self.queries]
        states = [self._state(id_) for id_ in ids]
        columns = {
            "query_id": ids,
            "text": [query.text for query in self.queries],
            "state": [str(state) for state, _ in states],
            "reason": [reason for _, reason in states],
            "relevant": self._column(lambda id_: len(self.judged.relevant(id_))),
            "implicit": self._column(self.implicit.__getitem__),
            "overlap": self._column(self.overlaps.__getitem__),
            **self._ranks(),
            **self._values(),
        }
        return pa.Table.from_pydict(columns, self._schema())

    def _column(self, value: Callable[[str], T | None]) -> list[T | None]:
        """Return a value of each query, by its id; None for those that are not measured."""
        return [value(q.id) if q.id in self.judged.queries else None for q in self.queries]

    def _state(self, query_id: str) -> tuple[State, str]:
        """Return what became of a query, and why it was not measured."""
        if query_id in self.judged.reasons:
            return State.NOT_APPLICABLE, self.judged.reasons[query_id]
        if query_id in self.judged.failed:
            return State.FAILED, self.judged.failed[query_id]
        return State.MEASURED, ""

    def _ranks(self) -> dict[str, list[int | None]]:
        """Return each system's rank of the first relevant document, and how many it lacks."""
        columns = {}
        for i, suffix in enumerate(self.suffixes):
            columns["rank" + suffix] = self._column(partial(self._first_relevant, i))
            columns["not_indexed" + suffix] = self._column(partial(self._not_indexed, i))
        return columns

    def _not_indexed(self, system: int, query_id: str) -> int | None:
        documents = self.systems[system].documents
        if documents is None:
            return None
        return sum(d not in documents for d in self.judged.relevant(query_id))

    def _values(self) -> dict[str, list[float | None]]:
        """Return every measure of each system, and the difference of two."""
        columns: dict[str, list[float | None]] = {}
        for measure in self.scored[0].aggregate:
            values = [self._column(partial(_value, e, measure)) for e in self.scored]
            columns |= {measure + s: v for s, v in zip(self.suffixes, values, strict=True)}
            if len(values) == 2:
                columns[measure + " difference"] = [
                    None if before is None or after is None else after - before
                    for before, after in zip(*values, strict=True)
                ]
        return columns

    @property
    def suffixes(self) -> tuple[str, ...]:
        """What the columns of each system end in."""
        return ("",) if len(self.systems) == 1 else (" before", " after")

    def _schema(self) -> pa.Schema:
        fields = list(TABLE)
        for suffix in self.suffixes:
            fields += [pa.field(f"{name}{suffix}", pa.int64()) for name in ("rank", "not_indexed")]
        ends = (*self.suffixes, " difference") if len(self.systems) == 2 else self.suffixes
        names = [f"{measure}{end}" for measure in self.scored[0].aggregate for end in ends]
        fields += [pa.field(name, pa.float64()) for name in names]
        return pa.schema(fields)


def _value(evaluation: Evaluation, measure: str, query_id: str) -> float:
    return evaluation.per_query[query_id][measure]


def means_by_slice(
    findings: EvaluationFindings, questions: JudgedQueries
) -> tuple[list[Slicing], list[SliceShare]]:
    """Return the mean of the headline measure by slice, the worst first; of two systems, of both.

    A query is in the slices of all of its relevant documents, and of their chunks where these are
    folded. Raises InputError for a measure beyond 0 to 1, and as `Slicer.by` does.
    """
    slicer = Slicer.by(findings.config.by, questions.documents, questions.fold)
    if slicer is None:
        return [], []
    judged, measure = findings.judged, findings.config.headline
    slices = slicer.of(judged.relevant(query) for query in judged.queries)
    shares: list[SliceShare] = []
    for evaluation, suffix in zip(findings.scored, findings.suffixes, strict=True):
        values = np.array([evaluation.per_query[q][measure] for q in judged.queries])
        if values.min() < 0 or values.max() > 1:
            raise InputError(
                f"{measure} goes beyond 0 to 1",
                expected="a headline measure that is a share",
                fix="Name another with --headline, such as nDCG@10.",
                where="--by",
            )
        trials = Trials(f"{measure}{suffix}", np.arange(len(values)), values)
        shares += slice_shares(slices, trials)
    return slices, worst_first(shares)
