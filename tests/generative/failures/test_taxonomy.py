"""The taxonomy is data: complete, and measurable where it says so."""

from __future__ import annotations

import pytest

from argus.generative.failures.diagnosis import taxonomy


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
