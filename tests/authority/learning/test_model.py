"""Confidences: what moves them, whether they hold, and what is refused."""

import json

import numpy as np
import pytest

from argus.authority.learning.model import PRIOR, fit_model, read_model
from argus.authority.learning.pairs import CLUES
from argus.authority.learning.quality import quality
from argus.errors import InputError

STATED, DOUBT, SCOPE = (CLUES.index(clue) for clue in ("stated", "doubt", "same_scope"))


def drawn(n, rng):
    """Draw pairs whose labels follow a known model of two clues."""
    rows = np.zeros((n, len(CLUES)))
    rows[:, STATED] = rng.random(n) < 0.4
    rows[:, DOUBT] = rng.random(n) < 0.3
    odds = -2.5 + 4 * rows[:, STATED] - 3 * rows[:, DOUBT]
    labels = rng.random(n) < 1 / (1 + np.exp(-odds))
    return rows, labels, [str(i) for i in range(n)]


def test_confidences_of_new_pairs_are_shares():
    rng = np.random.default_rng(0)
    model = fit_model(*drawn(3000, rng))
    rows, _, _ = drawn(100, rng)
    odds = -2.5 + 4 * rows[:, STATED] - 3 * rows[:, DOUBT]
    assert model.confidences(rows) == pytest.approx(1 / (1 + np.exp(-odds)), abs=0.05)


def test_a_clue_that_no_pair_has_keeps_its_prior():
    model = fit_model(*drawn(400, np.random.default_rng(1)))
    assert model.values["told_by"]["same_scope"] == 0
    assert model.values["weights"]["same_scope"] == pytest.approx(PRIOR["same_scope"], abs=1e-6)
    assert model.values["weights"]["stated"] != pytest.approx(PRIOR["stated"], abs=0.1)


def test_the_same_pairs_give_the_same_model_whatever_their_order():
    rows, labels, groups = drawn(200, np.random.default_rng(2))
    turned = fit_model(rows[::-1], labels[::-1], groups[::-1]).confidences(rows)
    assert turned == pytest.approx(fit_model(rows, labels, groups).confidences(rows), abs=1e-5)


def test_one_kind_of_decision_is_not_enough():
    rows, _, groups = drawn(20, np.random.default_rng(3))
    with pytest.raises(InputError, match="0 accepted pairs of 20"):
        fit_model(rows, [False] * 20, groups)


def test_a_model_is_read_as_it_was_written(tmp_path):
    model = fit_model(*drawn(100, np.random.default_rng(4)))
    model.write(tmp_path / "m.json")
    assert read_model(tmp_path / "m.json") == model


def test_a_file_that_is_no_model_is_refused(tmp_path):
    file = tmp_path / "m.json"
    file.write_text("nothing")
    with pytest.raises(InputError, match="no model in it"):
        read_model(file)
    values = read_model().values | {"weights": {"stated": 1.0}}
    file.write_text(json.dumps(values))
    with pytest.raises(InputError, match="weights of stated"):
        read_model(file)


def test_a_statement_by_full_name_is_surer_than_a_doubted_one_and_a_citation():
    rows = np.zeros((3, len(CLUES)))
    for i, clues in enumerate([
        {"stated": 1, "strong_cue": 1, "near_cue": 1, "cited": 1, "later": 1},
        {"stated": 1, "strong_cue": 1, "near_cue": 1, "cited": 1, "later": 1, "doubt": 1},
        {"cited": 1, "later": 1},
    ]):  # fmt: skip
        rows[i] = [clues.get(clue, 0) for clue in CLUES]
    sure, doubted, cited = read_model().confidences(rows)
    assert sure > 0.7 > doubted > cited
    assert read_model().confidences([]).shape == (0,)


def test_quality_by_hand():
    p = {("b", "a"): 0.9, ("d", "c"): 0.8, ("f", "e"): 0.1}
    of = quality(p, {("b", "a"), ("y", "x")}, bounds=(0.5,))
    assert of["reachable"]["value"] == 0.5  # (y, x) is no candidate
    assert of["brier"] == pytest.approx((0.01 + 0.64 + 0.01) / 3)
    assert of["constant"] == pytest.approx(1 / 3 * 2 / 3)
    (at,) = of["bounds"]
    assert (at["proposals"], at["precision"]["value"], at["recall"]["value"]) == (2, 0.5, 0.5)
    assert of["ece"] == pytest.approx((2 * abs(0.85 - 0.5) + abs(0.1 - 0)) / 3)
