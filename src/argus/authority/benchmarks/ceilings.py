"""What a benchmark allows at k: duplicate questions and equal gold texts cannot be told apart.

Whoever answers by the question's text serves every question of one text the same k documents: of
more gold documents than that, some are missed. Whoever ranks by the documents' texts cannot tell
which of m equal texts is the gold one: k of them hit it with a chance of k/m. Both bound
controlling-hit@k, and so TCA@k by Theorem 4; look-ups by scope or by edges are bound by the first
alone, and answers derived from other documents by neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from argus.authority.benchmarks.summary import CeilingFigures
from argus.authority.benchmarks.types import Benchmark, Question


@dataclass(frozen=True)
class Ceilings:
    """The most that controlling-hit@k can be, and the questions that nothing bounds."""

    figures: CeilingFigures
    decidable: frozenset[str]
    """Ids of the questions whose gold can be served, whatever else is asked in the same words."""


def ceilings(benchmark: Benchmark, k: int) -> Ceilings:
    """Return what duplicate questions, equal gold texts, and both allow at k."""
    texts = {record.id: record.document.content.strip() for record in benchmark.records}
    alike: dict[str, list[Question]] = {}
    for question in benchmark.questions:
        alike.setdefault(question.text.strip(), []).append(question)
    groups = list(alike.values())
    alone = [[question] for question in benchmark.questions]
    copies = Counter(texts.values())
    n = max(len(benchmark.questions), 1)
    both = [_limit(group, k, texts, copies) for group in groups]
    decidable = frozenset(
        question.id
        for group, limit in zip(groups, both, strict=True)
        if limit > len(group) - 1e-9
        for question in group
    )
    distinct = {id_: id_ for id_ in texts}
    singly = dict.fromkeys(texts, 1)
    figures: CeilingFigures = {
        "duplicate_questions": sum(_limit(g, k, distinct, singly) for g in groups) / n,
        "equal_gold_texts": sum(_limit(g, k, texts, copies) for g in alone) / n,
        "both": sum(both) / n,
        "questions_with_duplicates": sum(len(group) for group in groups if len(group) > 1),
        "questions_with_equal_gold": sum(
            any(copies[texts[id_]] > 1 for id_ in q.gold) for q in benchmark.questions
        ),
        "decidable": len(decidable),
    }
    return Ceilings(figures, decidable)


def _limit(
    group: Sequence[Question], k: int, kinds: Mapping[str, str], copies: Mapping[str, int]
) -> float:
    """Return how many of some questions of one text k documents can hit.

    kinds: document -> what it looks like; copies: how many documents look so. Each place that goes
    to a kind is worth the questions with gold of that kind, over its copies.
    """
    golds = Counter(kinds[id_] for question in group for id_ in question.gold)
    worth = sorted(((n / copies[kind], copies[kind]) for kind, n in golds.items()), reverse=True)
    places, hits = k, 0.0
    for value, most in worth:
        filled = min(places, most)
        hits += value * filled
        places -= filled
    return min(hits, float(len(group)))
