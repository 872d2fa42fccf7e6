"""The order of questions by risk."""

import pytest

from argus.data.types import Document, Query
from argus.traffic.risk import FOREIGN, NOTHING, rank_by_risk

DOCUMENTS = [Document(f"d{i}", f"word{i} word{i + 1} tide") for i in range(20)]


def test_a_low_top_score_and_a_small_overlap_come_first():
    queries = [Query(f"q{i}", f"word{i} tide") for i in range(4)]
    second = {q.id: {"d1": 2.0, "d2": 1.0} for q in queries}
    run = {
        "q0": {"d1": 0.9, "d2": 0.8},  # high, and both agree
        "q1": {"d1": 0.8, "d9": 0.7},
        "q2": {"d1": 0.5, "d9": 0.4},
        "q3": {"d8": 0.3, "d9": 0.2},  # low, and nothing agrees
    }
    risk = rank_by_risk(queries, run, DOCUMENTS, second=second)
    assert risk.order == ("q3", "q2", "q1", "q0") and not risk.flagged
    assert risk.places == pytest.approx({"q3": 0.875, "q2": 0.625, "q1": 0.375, "q0": 0.125})


def test_what_is_foreign_to_the_corpus_and_what_nothing_came_back_for_is_flagged():
    queries = [Query("a", "word1 tide"), Query("b", "zebra quagga okapi"), Query("c", "word2")]
    run = {"a": {"d1": 1.0}, "b": {"d2": 9.0}, "c": {}}
    risk = rank_by_risk(queries, run, DOCUMENTS)
    assert set(risk.order) == {"a", "b"} and risk.flagged == {"b": FOREIGN, "c": NOTHING}
