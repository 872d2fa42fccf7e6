"""Signals and risk over a small log, whose failures are known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.traffic.risk.background import Background
from argus.traffic.risk.model import FOREIGN, SHORT_LOG
from argus.traffic.risk.predict import predict_risk
from argus.traffic.risk.signals import SIGNS, Served, correlation, overlap, signals

WORDS = [f"word{i}" for i in range(60)]


def corpus():
    """Return documents of a topic each: six words that no other has, and common ones."""
    return [
        Document(f"d{i:02d}", " ".join([*WORDS[i * 2 : i * 2 + 2], f"topic{i}", "common", "text"]))
        for i in range(30)
    ]


def log():
    """Return forty questions: half of them ask a topic's words and are served it, half do not."""
    queries, run = [], {}
    for i in range(40):
        served = [f"d{(i + j) % 30:02d}" for j in range(10)]
        own = f"topic{i % 30} {WORDS[(i % 30) * 2]}"
        queries.append(Query(f"q{i:02d}", own if i % 2 else "common text of something"))
        run[f"q{i:02d}"] = {doc: 10.0 - j * (2 if i % 2 else 0.1) for j, doc in enumerate(served)}
    return queries, run


def test_questions_whose_words_came_back_are_less_at_risk():
    queries, run = log()
    risk = predict_risk(queries, run, corpus())
    good = [risk.by_id[q.id] for i, q in enumerate(queries) if i % 2]
    bad = [risk.by_id[q.id] for i, q in enumerate(queries) if not i % 2]
    assert np.mean([g < b for g in good for b in bad]) > 0.95
    assert risk.variant["worth"]["auc"] > 0.5 and not risk.is_corrected


def test_judgements_correct_it():
    queries, run = log()
    risk = predict_risk(queries, run, corpus())
    corrected = risk.corrected({q.id: 0.0 for q in queries[:20]} | {"unknown": 1.0})
    assert corrected.is_corrected
    assert np.mean(list(corrected.by_id.values())) < 0.2 < np.mean(list(risk.by_id.values()))
    order = sorted(risk.by_id, key=risk.by_id.get)
    assert sorted(corrected.by_id, key=corrected.by_id.get) == order


def test_vectors_are_used_where_they_are_given():
    queries, run = log()
    rng = np.random.default_rng(0)
    vectors = [rng.normal(size=(n, 8)).astype(np.float32) for n in (30, 40)]
    unit = tuple(v / np.linalg.norm(v, axis=1, keepdims=True) for v in vectors)
    risk = predict_risk(queries, run, corpus(), vectors=unit)
    assert risk.by_id.keys() == {q.id for q in queries} and not risk.reasons
    assert risk.variant != predict_risk(queries, run, corpus()).variant


def test_vectors_of_other_documents_are_refused():
    queries, run = log()
    with pytest.raises(InputError, match="3 vectors for 30 documents"):
        predict_risk(queries, run, corpus(), vectors=(np.eye(3, 8), np.zeros((40, 8))))


def test_a_short_log_and_foreign_questions_are_abstained_on():
    queries, run = log()
    short = predict_risk(queries[:5], run, corpus())
    assert set(short.by_id.values()) == {None} and set(short.reasons.values()) == {SHORT_LOG}
    foreign = [*queries, Query("x", "quelque chose d'autre")]
    risk = predict_risk(foreign, run, corpus())
    assert risk.by_id["x"] is None and risk.reasons == {"x": FOREIGN}


def test_a_corpus_of_another_size_is_told():
    queries, run = log()
    (note,) = predict_risk(queries, run, corpus()).notes
    assert note.startswith("the corpus has 30 documents; risk was tried on 354")


@pytest.mark.parametrize(
    "served",
    [
        Served("topic1", []),
        Served("topic1", ["unknown", "d01"]),
        Served("topic1", ["d01"], [1.0]),
        Served("the of and", ["d01", "d02"], [math.nan, 1.0]),
        Served("!!!", ["d01", "d02", "d03"], [1.0, 1.0, 1.0]),
        Served("topic1 " * 10_000, ["d01", "d02", "d03"], [3.0, 2.0, 1.0]),
    ],
)
def test_odd_questions_have_the_signals_that_they_have(served):
    table = signals([served], Background.of(corpus()))
    assert table.shape == (1, len(SIGNS)) and not np.isinf(table).any()


def test_overlap_by_hand():
    """Depth 2, p = 0.9: (0·1 + 0.9·2/2) / (1 + 0.9)."""
    assert overlap("ab", "ba") == pytest.approx(0.9 / 1.9)
    assert overlap("ab", "ab") == pytest.approx(1.0) and overlap("ab", "cd") == 0
    assert math.isnan(overlap("", "ab"))


def test_a_correlation_with_a_constant_is_not_defined():
    assert math.isnan(correlation(np.ones(3), np.arange(3.0)))
    assert correlation(np.arange(3.0), 2 * np.arange(3.0)) == pytest.approx(1.0)
