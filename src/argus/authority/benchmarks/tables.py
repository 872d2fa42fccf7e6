"""What a scoring leaves behind: a summary of systems, and a table of questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa

from argus.authority.benchmarks.ceilings import ceilings
from argus.authority.benchmarks.collection import stale_gold
from argus.authority.benchmarks.metrics import BY_ANSWERS, BY_CONDITIONS, Figures, Stages
from argus.authority.benchmarks.score import Scored, shares, summarise
from argus.authority.benchmarks.summary import ScoringSummary
from argus.authority.benchmarks.types import Benchmark
from argus.authority.coverage import unruled_types


@dataclass(frozen=True)
class ScoredSystem:
    """One system, scored."""

    name: str
    about: str
    scored: list[Scored]


def summarise_results(
    benchmark: Benchmark, results: Sequence[ScoredSystem], *, k: int, encoder: str
) -> ScoringSummary:
    """Return the section of summary.json: the benchmark, and the figures of every system."""
    answered = sum(question.has_derivable_answer for question in benchmark.questions)
    scopeless = sum(bool(q.answer) and not q.scope for q in benchmark.questions)
    limits = ceilings(benchmark, k)
    by = {BY_ANSWERS: answered, BY_CONDITIONS: len(benchmark.questions) - answered}
    return {
        "benchmark": {
            "name": benchmark.name,
            "records": len(benchmark.records),
            "questions": len(benchmark.questions),
            "edges": len(benchmark.edges),
            "rules": len(benchmark.rules),
            "gold_superseded": len(stale_gold(benchmark)),
            "answers_without_scope": scopeless,
            "unruled_types": unruled_types(benchmark.records, benchmark.rules, benchmark.edges),
        },
        "k": k,
        "tca_by": {name: n for name, n in by.items() if n},
        "ceilings": limits.figures,
        "encoder": encoder,
        "systems": [
            {
                "name": r.name,
                "about": r.about,
                **summarise(r.scored),
                "decidable": shares([s for s in r.scored if s.question.id in limits.decidable]),
            }
            for r in results
        ],
    }


Value = str | float | bool | None
Read = Callable[[Scored], Value]


def _figure(value: Callable[[Figures], Value]) -> Read:
    """Read a figure; None where the question failed."""
    return lambda scored: None if scored.figures is None else value(scored.figures)


def _event(value: Callable[[Stages], Value]) -> Read:
    """Read an event of Proposition 1; None where there are no stages."""
    return lambda scored: None if scored.stages is None else value(scored.stages)


_COLUMNS: dict[str, tuple[pa.DataType, Read]] = {
    "question_id": (pa.string(), lambda s: s.question.id),
    "question": (pa.string(), lambda s: s.question.text),
    "hop": (pa.string(), lambda s: s.question.hop or None),
    "state": (pa.string(), lambda s: str(s.state)),
    "reason": (pa.string(), lambda s: s.outcome.failure),
    "tca": (pa.bool_(), _figure(lambda f: f.tca)),
    "tca_by": (pa.string(), _figure(lambda f: f.tca_by)),
    "answer_correct": (pa.bool_(), _figure(lambda f: f.answer_correct)),
    "no_ignored_superseder": (pa.bool_(), _figure(lambda f: f.no_ignored_superseder)),
    "controlling_hit": (pa.bool_(), _figure(lambda f: f.controlling_hit)),
    "controlling_hit_equivalent": (pa.bool_(), _figure(lambda f: f.controlling_hit_equivalent)),
    "provenance_recall": (pa.float64(), _figure(lambda f: f.provenance_recall)),
    "recall": (pa.float64(), _figure(lambda f: f.recall)),
    "anchor_found": (pa.bool_(), lambda s: s.has_anchor),
    "event_anchor": (pa.bool_(), _event(lambda e: e.anchor)),
    "event_chain": (pa.bool_(), _event(lambda e: e.chain)),
    "event_frontier": (pa.bool_(), _event(lambda e: e.frontier)),
    "answer": (pa.string(), _figure(lambda f: f.answer)),
    "gold_answer": (pa.string(), lambda s: s.question.answer),
    "served": (pa.string(), lambda s: "; ".join(s.outcome.documents)),
    "gold": (pa.string(), lambda s: "; ".join(s.question.gold)),
    "anchor": (pa.string(), lambda s: "; ".join(s.question.anchor)),
}
"""One row per system and question; null where a question failed or it does not apply.

hop: type of hop, where questions have one.
tca: whether it is answered by what controls (TCA).
tca_by: how that is judged: answers, or theorem 4.
answer_correct: whether the derived answer is the gold one.
no_ignored_superseder: whether every superseded document comes with a superseder.
controlling_hit: whether a gold document is in the list.
controlling_hit_equivalent: the same, or one that says the same to the letter.
provenance_recall: share of the gold chain in the list.
recall: share of the gold documents in the list.
anchor_found: whether the list has a gold anchor.
event_anchor: E1: the first stage has a gold anchor.
event_chain: E2: and its closure has the gold documents.
event_frontier: E3: and TCA is 1.
answer: answer that is derived from the list.
gold_answer: answer of the benchmark.
served: ids of the list, parted by "; ".
gold: ids of the gold documents, likewise.
anchor: ids of the gold anchors, likewise.
"""


def question_table(results: Sequence[ScoredSystem]) -> pa.Table:
    """Return one row per system and question."""
    rows = [(result.name, scored) for result in results for scored in result.scored]
    columns = {"system": pa.array([name for name, _ in rows], pa.string())}
    for column, (type_, value) in _COLUMNS.items():
        columns[column] = pa.array([value(scored) for _, scored in rows], type_)
    return pa.table(columns)
