"""The vocabulary gap: words that questions share with superseded and with controlling documents.

CAR section 6.4, Table 4. Of each question two measures to the documents that it is about (its
anchors) and to those that control (its gold): Jaccard |A ∩ B| / |A ∪ B| of the sets of words, and
the score of BM25 (`Okapi`, over the whole corpus). Of several documents on one side the best
counts.
A gap is the anchor's value less the gold one's. It is positive if a ranker by words puts superseded
documents in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from typing_extensions import TypedDict

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.first_stages import Okapi, okapi_words
from argus.authority.benchmarks.judging import ShareFigures, share
from argus.authority.benchmarks.source import open_benchmark
from argus.errors import InputError
from argus.indexes.words import STOP_WORDS

MEASURES = ("Jaccard", "Jaccard (no stop words)", "BM25")
Values = dict[str, float]  # Document id -> a measure between a question and it


class GapFigures(TypedDict):
    """A measure, averaged over questions. positive: share of questions with a gap above 0."""

    measure: str
    superseded: float
    controlling: float
    gap: float
    positive: ShareFigures | None


class GapSummary(TypedDict):
    """The vocabulary gap of a benchmark. Questions about nothing superseded have none."""

    benchmark: str
    questions: int
    not_applicable: int
    measures: list[GapFigures]


def vocabulary_gap(
    benchmark: Benchmark | Path | str, *, queries: Path | str | None = None, seed: int = 0
) -> GapSummary:
    """Measure the vocabulary gap of a benchmark (CAR Table 4).

    benchmark: a name of `MAKERS`, a folder, or a benchmark. queries: another file of questions in
    the folder. seed: of one that is made. Raises InputError where no question is about a document
    that another one controls.
    """
    source = open_benchmark(benchmark, queries, seed=seed).benchmark
    questions = [q for q in source.questions if set(q.anchor) - set(q.gold)]
    if not questions:
        raise InputError(
            f"none of {len(source.questions):,} questions is about a superseded document",
            expected="questions whose `anchor` is not their `gold`",
            fix="Name in `anchor` what each question is about.",
            where=source.name,
        )
    return {
        "benchmark": source.name,
        "questions": len(questions),
        "not_applicable": len(source.questions) - len(questions),
        "measures": [
            _figures(name, questions, values) for name, values in _measures(source, questions)
        ],
    }


def _measures(
    benchmark: Benchmark, questions: Sequence[Question]
) -> Iterator[tuple[str, Callable[[int, str], float]]]:
    """Yield each measure with its value between the question of a number and a document."""
    texts = {record.id: record.document.content for record in benchmark.records}
    sides = {id_ for q in questions for id_ in (*q.anchor, *q.gold)}
    words = {id_: frozenset(okapi_words(texts[id_])) for id_ in sides}
    asked_words = [frozenset(okapi_words(q.text)) for q in questions]
    for name, without in zip(MEASURES, (frozenset[str](), STOP_WORDS), strict=False):
        yield name, lambda i, id_, w=without: _jaccard(asked_words[i] - w, words[id_] - w)  # type: ignore[misc]
    place = {id_: number for number, id_ in enumerate(texts)}
    scores = Okapi(list(texts.values())).scores([q.text for q in questions])
    yield MEASURES[-1], lambda i, id_: float(scores[i, place[id_]])


def _jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    both = first | second
    return len(first & second) / len(both) if both else 0.0


def _figures(
    name: str, questions: Sequence[Question], value: Callable[[int, str], float]
) -> GapFigures:
    pairs = [
        (
            max(value(i, id_) for id_ in q.anchor if id_ not in q.gold),
            max(value(i, id_) for id_ in q.gold),
        )
        for i, q in enumerate(questions)
    ]
    superseded, controlling = (float(np.mean(side)) for side in zip(*pairs, strict=True))
    return {
        "measure": name,
        "superseded": superseded,
        "controlling": controlling,
        "gap": superseded - controlling,
        "positive": share(old > new for old, new in pairs),
    }


def gap_lines(summary: GapSummary) -> Iterator[str]:
    """Yield the figures in words."""
    left = summary["not_applicable"]
    yield (
        f"{summary['benchmark']}: {summary['questions']:,} questions about something superseded"
        f"{f', {left:,} not' if left else ''}"
    )
    yield "question and ...          superseded  controlling  positive gap (95% interval)"
    for of in summary["measures"]:
        positive = of["positive"]
        text = "-" if positive is None else (
            f"{positive['value']:.1%} ({positive['low']:.1%} to {positive['high']:.1%})"
        )  # fmt: skip
        yield f"{of['measure']:<24}  {of['superseded']:>10.3f}  {of['controlling']:>11.3f}  {text}"
