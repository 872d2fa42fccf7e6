"""The vocabulary gap: words that questions share with superseded and with controlling documents.

CAR section 6.4, Table 4. Of each question two measures to the documents that it is about (its
anchors) and to those that control (its gold): Jaccard |A ∩ B| / |A ∪ B| of the sets of words, and
the score of BM25 (`Okapi`, over the whole corpus). Of several documents on one side the best
counts.
A gap is the anchor's value less the gold one's. It is positive if a ranker by words puts superseded
documents in front.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from argus.authority.benchmarks.first_stages import Okapi, okapi_words
from argus.authority.benchmarks.judging import share
from argus.authority.benchmarks.source import open_benchmark
from argus.authority.config import NamedBenchmark, OtherQueries
from argus.errors import InputError
from argus.indexes.lexical import STOP_WORDS
from argus.settings import Seed


def vocabulary_gap(
    benchmark: NamedBenchmark,
    *,
    queries: OtherQueries = None,
    seed: Seed = 0,
) -> dict[str, Any]:
    """Measure the vocabulary gap: words that questions share with each side (CAR, Table 4).

    Each question is held against the superseded document that it is about, and against what
    controls that: by Jaccard of their words, with and without stop words, and by BM25. The gap is
    positive where the superseded one is nearer.

    benchmark: a name of `MAKERS`, a folder, or a benchmark. queries: another file of questions in
    the folder. seed: of one that is made. Raises InputError where no question is about a document
    that another one controls.

    benchmark: name of the benchmark.
    questions: questions about something superseded.
    not_applicable: the others.
    measures: each measure averaged over questions: measure (its name), superseded, controlling,
    gap, and positive (share of questions with a gap above 0, as `share`).
    """
    made, _ = open_benchmark(benchmark, queries, seed=seed)
    questions = [q for q in made.questions if set(q.anchor) - set(q.gold)]
    if not questions:
        got = f"none of {len(made.questions):,} questions is about a superseded document"
        expected = "questions whose `anchor` is not their `gold`"
        fix = "Name in `anchor` what each question is about."
        raise InputError(got, expected=expected, fix=fix, where=made.name)
    texts = {record.id: record.document.content for record in made.records}
    sides = {id_ for q in questions for id_ in (*q.anchor, *q.gold)}
    words = {id_: frozenset(okapi_words(texts[id_])) for id_ in sides}
    question_words = [frozenset(okapi_words(q.text)) for q in questions]
    place = {id_: number for number, id_ in enumerate(texts)}
    scores = Okapi(list(texts.values())).scores([q.text for q in questions])

    def jaccard(i: int, id_: str, without: frozenset[str]) -> float:
        first, second = question_words[i] - without, words[id_] - without
        both = first | second
        return len(first & second) / len(both) if both else 0.0

    values: dict[str, Callable[[int, str], float]] = {
        "Jaccard": lambda i, id_: jaccard(i, id_, frozenset()),
        "Jaccard (no stop words)": lambda i, id_: jaccard(i, id_, STOP_WORDS),
        "BM25": lambda i, id_: float(scores[i, place[id_]]),
    }
    measures = []
    for name, value in values.items():
        pairs = [
            (
                max(value(i, id_) for id_ in q.anchor if id_ not in q.gold),
                max(value(i, id_) for id_ in q.gold),
            )
            for i, q in enumerate(questions)
        ]
        superseded, controlling = (float(np.mean(side)) for side in zip(*pairs, strict=True))
        measures.append({
            "measure": name, "superseded": superseded, "controlling": controlling,
            "gap": superseded - controlling, "positive": share(old > new for old, new in pairs),
        })  # fmt: skip
    return {
        "benchmark": made.name,
        "questions": len(questions),
        "not_applicable": len(made.questions) - len(questions),
        "measures": measures,
    }


def gap_lines(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the figures in words."""
    rest = f", {summary['not_applicable']:,} not" if summary["not_applicable"] else ""
    questions = f"{summary['questions']:,} questions about something superseded"
    yield f"{summary['benchmark']}: {questions}{rest}"
    yield "question and ...          superseded  controlling  positive gap (95% interval)"
    for of in summary["measures"]:
        positive = of["positive"]
        text = f"{positive['value']:.1%} ({positive['low']:.1%} to {positive['high']:.1%})"
        yield f"{of['measure']:<24}  {of['superseded']:>10.3f}  {of['controlling']:>11.3f}  {text}"
