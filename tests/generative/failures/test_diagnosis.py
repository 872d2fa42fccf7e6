"""A diagnosis ranks the modes that hold for a question, and says what it goes by."""

from typing import Any

import pytest

from argus.generative.failures.diagnosis import derived, diagnose, taxonomy
from argus.generative.failures.measures import COLUMNS

MODES = taxonomy()


def row(**known: Any) -> dict[str, Any]:
    """Return a question of which only this is measured."""
    assert known.keys() <= COLUMNS.keys()
    return dict.fromkeys(COLUMNS) | {"query_id": "q", "hit_1": 0, "hit_k": 0} | known


def told(known: dict[str, Any], held: dict[str, Any] | None = None) -> list[tuple[str, str]]:
    found = diagnose(derived(known, 10), MODES, held or {}, 10)
    return [(finding.mode.id, finding.evidence) for finding in found]


def test_a_verdict_decides_whether_an_annotation_is_missing() -> None:
    for verdict, holds in (("YES", True), (None, True), ("failed", True), ("NO", False)):
        found = told(row(answer_outcome="unannotated", answer_rank=1, judged=verdict))
        assert [id_ for id_, _ in found] == ["annotation"] * holds


def test_traits_that_go_with_success_in_this_run_come_last() -> None:
    held = {"dominance": {"difference": -0.4}, "too-many-unigrams": {"difference": 0.4}}
    found = told(row(unigram_share=0.95, dominance=0.9), held)
    assert [id_ for id_, _ in found] == ["too-many-unigrams", "dominance"]


def test_what_was_pruned_counts_by_what_it_would_have_changed() -> None:
    for now, unpruned, gain in (
        (None, 3, 1.0),  # comes into the first ten
        (40, 10, 1.0),
        (40, 20, 0.5),  # better, but still too late
        (5, 2, 0.5),  # was among them before
        (5, 9, 0.0),  # worse: other passages gained more
        (None, None, 0.0),
    ):
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


def test_ids_are_unique_and_all_modes_of_table_3_are_there() -> None:
    ids = [mode.id for mode in taxonomy()]
    assert len(ids) == len(set(ids))
    table_3 = {
        "nonspecific-ngrams", "too-many-unigrams", "redundant-ngrams", "low-overlap",
        "answer-not-generated", "dominance", "title-repetition", "no-pseudo-query",
        "false-pruning", "cut-answer", "search-optimum", "scalability", "dynamic-corpus",
        "training",
    }  # fmt: skip
    table_2 = {"annotation", "cut-answer", "metadata-overreliance", "cultural-bias",
               "model-capacity", "indistinct-identifiers", "short-identifiers"}  # fmt: skip
    assert table_3 | table_2 <= set(ids)
    assert {mode.stage for mode in taxonomy()} == {"representation", "training", "inference"}


def test_severity_runs_from_the_threshold_to_the_worst() -> None:
    modes = {mode.id: mode for mode in taxonomy()}
    unigrams = modes["too-many-unigrams"]
    assert unigrams.applies(0.9) and not unigrams.applies(0.8999)
    assert unigrams.severity(0.9) == 0
    assert unigrams.severity(0.95) == pytest.approx(0.5)
    assert unigrams.severity(1.0) == 1
    overlap = modes["low-overlap"]
    assert overlap.applies(1 / 3) and not overlap.applies(0.34)
    assert overlap.severity(0.0) == 1
    common = modes["nonspecific-ngrams"]  # logarithmic: 100 to 10,000
    assert common.severity(1_000) == pytest.approx(0.5)
    assert common.severity(1e9) == 1
    assert modes["answer-not-generated"].severity(0) == 1  # nothing between threshold and worst
