"""A diagnosis ranks the modes that hold for a question, and says what it goes by."""

from __future__ import annotations

from typing import Any

import pytest

from argus.generative.failures.diagnosis import derived, diagnose, outcome, taxonomy
from argus.generative.failures.measures import COLUMNS

MODES = taxonomy()


def row(**known: Any) -> dict[str, Any]:
    """Return a question of which only this is measured."""
    assert known.keys() <= COLUMNS.keys()
    return dict.fromkeys(COLUMNS) | {"query_id": "q", "hit_1": 0, "hit_k": 0} | known


def told(known: dict[str, Any], held: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    found = diagnose(derived(known, 10), MODES, held or {}, 10)
    return [(finding.mode.id, finding.evidence) for finding in found]


@pytest.mark.parametrize(
    ("hits", "said"),
    [((None, None), "not judged"), ((0, 0), "failed"), ((0, 1), "late"), ((1, 1), "found at 1")],
)
def test_an_outcome_is_by_the_first_k(hits: tuple[int | None, int | None], said: str) -> None:
    assert outcome(row(hit_1=hits[0], hit_k=hits[1])) == said


@pytest.mark.parametrize(
    ("verdict", "holds"),
    [("YES", True), ("PARTIAL", True), (None, True), ("failed", True), ("NO", False)],
)
def test_a_verdict_decides_whether_an_annotation_is_missing(
    verdict: str | None, holds: bool
) -> None:
    found = told(row(answer_outcome="unannotated", answer_rank=1, judged=verdict))
    assert [id_ for id_, _ in found] == ["annotation"] * holds


def test_traits_that_go_with_success_in_this_run_come_last() -> None:
    held = {
        "dominance": {"difference": -0.4},
        "too-many-unigrams": {"difference": 0.4},
    }
    found = told(row(unigram_share=0.95, dominance=0.9), held)
    assert [id_ for id_, _ in found] == ["too-many-unigrams", "dominance"]


@pytest.mark.parametrize(
    ("now", "unpruned", "gain"),
    [
        (None, 3, 1.0),  # comes into the first ten
        (40, 10, 1.0),
        (40, 20, 0.5),  # better, but still too late
        (5, 2, 0.5),  # was among them before
        (5, 5, 0.0),
        (5, 9, 0.0),  # worse: other passages gained more
        (None, None, 0.0),
    ],
)
def test_what_was_pruned_counts_by_what_it_would_have_changed(
    now: int | None, unpruned: int | None, gain: float
) -> None:
    known = row(pruned=4, rank_now=now, rank_unpruned=unpruned)
    assert derived(known, 10)["pruning_gain"] == gain


def test_a_replay_parts_unknown_passages_from_outvoted_ones() -> None:
    unknown = row(pruned=7, rank_now=None, rank_unpruned=None)
    assert told(unknown) == [
        (
            "improbable-ngrams",
            "what the beam dropped (7 n-grams) would bring the best positive to nowhere (now "
            "nowhere); leaving out titles, pseudo-queries or single tokens brings none among the "
            "first 10",
        )
    ]
    outvoted = row(
        pruned=0, rank_now=58, rank_unpruned=58, rank_without_titles=60, rank_without_unigrams=2
    )
    assert told(outvoted) == [
        ("misleading-keys", "without single tokens the positive ranks 2 instead of 58"),
    ]  # fmt: skip
    found = row(pruned=0, rank_now=3, rank_unpruned=3, rank_without_unigrams=1, hit_k=1)
    assert told(found) == []
