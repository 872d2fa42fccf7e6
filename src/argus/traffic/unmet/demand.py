"""Clusters of unmet questions as the report has them: words, examples, what came, what is near."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pyarrow as pa
from typing_extensions import TypedDict

from argus.traffic.questions.sample import LookedAt
from argus.traffic.unmet.clusters import MOST, clusters, common_terms, names, terms
from argus.traffic.unmet.criterion import SUPPORT, WORTH

EXAMPLES, PLACES, SHOWN = 3, 3, 20
LONGEST = 200
"""Characters of a question that an example shows."""


class Demand(TypedDict):
    """Questions about one thing that nobody meets.

    words: what the questions have in common.
    asks: how often they were asked.
    questions: different questions.
    examples: the most frequent of them.
    """

    words: str
    asks: int
    questions: int
    why: dict[str, int]
    """Criterion to how many of the questions it holds for."""
    examples: list[str]
    instead: list[str]
    """What came back for them, the most frequent first."""
    nearest: list[str]
    """What the corpus has that holds most of their words."""


class Unmet(TypedDict):
    """Demand that nobody meets, among the questions that were looked at.

    questions: different questions that nobody meets.
    asks: how often they were asked.
    why: criterion to how many questions it holds for.
    clusters: clusters of two or more.
    largest: the largest clusters.
    """

    questions: int
    asks: int
    why: dict[str, int]
    worth: str
    """What little support by words is worth as a sign of failing; empty where none is named so."""
    clustered: int
    """Questions in a cluster of two or more."""
    compared: int
    """Questions that were put together: the most asked, where there are very many."""
    clusters: int
    largest: list[Demand]


def demand(
    unmet: Sequence[LookedAt], everyone: Sequence[LookedAt], labels: Mapping[str, str]
) -> list[Demand]:
    """Return clusters, those asked most often first. labels: titles by document."""
    own = [terms(one.text or "") for one in unmet]
    inside = {one.id for one in unmet}
    others = [terms(one.text or "") for one in everyone if one.id not in inside]
    common = common_terms([*own, *others])
    groups = clusters(own, common)
    called = names(groups, own, others, common)
    rows = [
        _demand([unmet[i] for i in group], name, labels)
        for group, name in zip(groups, called, strict=True)
    ]
    return sorted(rows, key=lambda row: (-row["asks"], row["words"]))


def _demand(members: Sequence[LookedAt], words: str, labels: Mapping[str, str]) -> Demand:
    served, nearest = Counter[str](), Counter[str]()
    for one in members:
        served.update(dict.fromkeys((id_ for id_, _ in (one.results or ())[:PLACES]), one.asks))
        nearest.update({one.nearest: one.asks} if one.nearest else {})
    often = sorted(members, key=lambda one: (-one.asks, one.id))[:EXAMPLES]
    return {
        "words": words,
        "asks": sum(one.asks for one in members),
        "questions": len(members),
        "why": dict(Counter(why for one in members for why in one.why).most_common()),
        "examples": [(one.text or "")[:LONGEST] for one in often],
        "instead": _named(served, labels),
        "nearest": _named(nearest, labels),
    }


def _named(counts: Counter[str], labels: Mapping[str, str]) -> list[str]:
    best = sorted(counts, key=lambda id_: (-counts[id_], id_))[:PLACES]
    return [f"{labels[id_]} · {id_}" if labels.get(id_) else id_ for id_ in best]


def unmet_figures(unmet: Sequence[LookedAt], rows: Sequence[Demand]) -> Unmet:
    """Return what the summary tells."""
    return {
        "questions": len(unmet),
        "asks": sum(one.asks for one in unmet),
        "why": dict(Counter(why for one in unmet for why in one.why).most_common()),
        "worth": WORTH if any(SUPPORT in one.why for one in unmet) else "",
        "clustered": sum(row["questions"] for row in rows),
        "compared": min(len(unmet), MOST),
        "clusters": len(rows),
        "largest": list(rows[:SHOWN]),
    }


def demand_table(rows: Sequence[Demand]) -> pa.Table:
    """Return one row per cluster of questions that nobody meets; lists as lines.

    words: what they have in common.
    asks: how often they were asked.
    questions: different questions of the cluster.
    why: criteria by which nobody meets them, with how many they hold for.
    examples: the most frequent of them.
    instead: what came back for them, the most frequent first.
    nearest: what the corpus has that holds most of their words.
    """
    schema = pa.schema(
        {
            "words": pa.string(), "asks": pa.int64(), "questions": pa.int64(), "why": pa.string(),
            "examples": pa.string(), "instead": pa.string(), "nearest": pa.string(),
        }
    )  # fmt: skip
    flat = [
        {
            **row,
            "why": "; ".join(f"{why} ({n})" for why, n in row["why"].items()),
            "examples": "\n".join(row["examples"]),
            "instead": "\n".join(row["instead"]),
            "nearest": "\n".join(row["nearest"]),
        }
        for row in rows
    ]
    return pa.Table.from_pylist(flat, schema=schema)
