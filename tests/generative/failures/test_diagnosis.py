"""A diagnosis ranks the modes that hold for a question, and says what it goes by."""

from __future__ import annotations

from typing import Any

import pytest

from argus.generative.failures.diagnosis import Spread, derived, diagnose, outcome, spreads
from argus.generative.failures.measures.columns import COLUMNS
from argus.generative.failures.taxonomy import taxonomy

MODES = taxonomy()


def row(**known: Any) -> dict[str, Any]:
    """Return a question of which only this is measured."""
    assert known.keys() <= COLUMNS.keys()
    return dict.fromkeys(COLUMNS) | {"query_id": "q", "hit_1": 0, "hit_k": 0} | known


def told(known: dict[str, Any], held: dict[str, Spread] | None = None) -> list[tuple[str, str]]:
    found = diagnose(derived(known, 10), MODES, held or {}, 10)
    return [(finding.mode.id, finding.evidence) for finding in found]


def test_nothing_measured_is_no_finding() -> None:
    assert told(row()) == []


@pytest.mark.parametrize(
    ("hits", "said"),
    [((None, None), "not judged"), ((0, 0), "failed"), ((0, 1), "late"), ((1, 1), "found at 1")],
)
def test_an_outcome_is_by_the_first_k(hits: tuple[int | None, int | None], said: str) -> None:
    assert outcome(row(hit_1=hits[0], hit_k=hits[1])) == said


def test_evidence_is_in_words_and_direct_modes_come_first() -> None:
    found = told(
        row(
            unigram_share=0.95,  # severity (0.95 - 0.9) / 0.1 = 0.5
            dominance=0.9,  # (0.9 - 0.5) / 0.5 = 0.8
            overlap=0.5,  # above a third: does not hold
            answer_outcome="unannotated",
            answer_rank=3,
            judged="YES",
        )
    )
    gap = "an unannotated passage holds an answer, the first at rank 3"
    dominance = ("dominance", "one n-gram makes 90% of the first passage's score")
    unigrams = ("too-many-unigrams", "95% of the first passage's n-grams are single tokens")
    said = "(judged: one of them answers the question)"
    assert found == [("annotation", f"{gap} {said}"), dominance, unigrams]
    suspected = told(
        row(unigram_share=0.95, dominance=0.9, answer_outcome="unannotated", answer_rank=3)
    )
    assert suspected == [dominance, unigrams, ("annotation", f"{gap} (not judged)")]


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
        "dominance": Spread(10, 5, 5, 0.2, 0.6, -0.4, -0.6, -0.1),
        "too-many-unigrams": Spread(10, 5, 5, 0.6, 0.2, 0.4, 0.1, 0.6),
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


def test_false_pruning_names_the_ngram_its_step_and_the_beam() -> None:
    known = row(
        pruned=4, pruned_ngram="song dynasty", pruned_at=2, pruned_rank=37, pruned_kept_by=60,
        rank_now=None, rank_unpruned=4,
    )  # fmt: skip
    assert told(known) == [
        (
            "false-pruning",
            "the beam dropped 4 n-grams of a positive, the heaviest “song dynasty” at token 2 "
            "(rank 37; 60 beams keep it); with them the positive ranks 4 instead of nowhere",
        )
    ]


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


def test_a_cut_answer_needs_answers_and_an_index() -> None:
    known = row(answer_hit_1=0, cut_answer="a + b")
    assert derived(known, 10)["answer_is_cut"] == 1
    assert derived(row(cut_answer=None), 10)["answer_is_cut"] is None, "no answers"
    without = {name: value for name, value in known.items() if name != "cut_answer"}
    assert derived(without, 10)["answer_is_cut"] is None, "no index"


def test_pruning_without_a_hit_is_half_a_gain_at_most() -> None:
    found = told(row(pruned=4, pruned_ngram="x", rank_now=795, rank_unpruned=117))
    assert [id_ for id_, _ in found] == ["improbable-ngrams", "false-pruning"]
    rescued = told(row(pruned=4, pruned_ngram="x", rank_now=795, rank_unpruned=7))
    assert [id_ for id_, _ in rescued] == ["false-pruning"]


def test_a_question_with_a_hit_is_not_unknown_to_the_model() -> None:
    assert told(row(pruned=0, rank_now=40, rank_unpruned=40, hit_1=1, hit_k=1)) == []


def test_a_short_list_may_be_of_one_title() -> None:
    assert derived(row(title_repetition=5, passages=5), 10)["title_share"] == 1.0
    assert derived(row(title_repetition=5, passages=50), 10)["title_share"] == 0.5


def test_a_mode_of_failed_questions_alone_has_no_difference() -> None:
    rows = [row(answer_outcome="unannotated"), row(answer_outcome="hit", hit_k=1)]
    found = spreads([derived(r, 10) for r in rows], MODES)["annotation"]
    assert (found.measured_failed, found.failed, found.found, found.difference) == (
        1,
        1,
        None,
        None,
    )


def test_derived_indicators_are_empty_where_their_columns_are() -> None:
    names = ("annotation_gap", "answer_is_cut", "pruning_gain", "metadata_share", "title_share")
    assert all(derived(row(), 10)[name] is None for name in (*names, "apart"))
    made = derived(
        row(
            answer_outcome="absent", positives_indexed=2, title_score_share=0.25,
            query_score_share=0.5, title_repetition=5, gold_adjacent=1,
        ),
        10,
    )  # fmt: skip
    assert [made[name] for name in (*names, "apart")] == [0.0, None, None, 0.75, 0.5, 0]


def test_spreads_compare_measured_questions_alone() -> None:
    rows = [
        *(row(hit_k=0, dominance=0.6) for _ in range(3)),
        row(hit_k=0, dominance=0.1),
        *(row(hit_k=1, dominance=0.1) for _ in range(4)),
        row(hit_k=1),  # not measured
        row(hit_k=None, hit_1=None, dominance=0.9),  # not judged: measured all the same
    ]
    found = spreads(rows, MODES)["dominance"]
    assert (found.measured, found.failed, found.found, found.difference) == (9, 0.75, 0.0, 0.75)
    assert (found.measured_failed, found.measured_found) == (4, 4)
    assert found.low is not None and found.high is not None
    assert 0 < found.low < 0.75 < found.high <= 1
    nothing = spreads(rows, MODES)["low-overlap"]
    assert (nothing.measured, nothing.failed, nothing.difference) == (0, None, None)
