"""Shares and agreement by hand."""

import pytest

from argus.scenarios.study import Answer, Criterion, PreferenceConfig, Versus, preference

CONFIG = PreferenceConfig(resamples=1000)
LABELS = {"s": "scenarios", "r": "rival", "t": "tie", ".": None}


def answers(*pairs):
    """A word per pair, a letter per judge: s(cenarios), r(ival), t(ie), . for no answer."""
    return [
        Answer(
            sheet, f"p{i}", Versus.DOCUMENT, Criterion.OVERALL,
            {"s": "A", "r": "B", "t": "tie", ".": ""}[letter], LABELS[letter],
        )
        for i, word in enumerate(pairs)
        for sheet, letter in enumerate(word, 1)
    ]  # fmt: skip


def told(*pairs):
    return preference(answers(*pairs), Versus.DOCUMENT, Criterion.OVERALL, CONFIG)


def test_pairs_count_alike_and_a_tie_half():
    one = told("ssr", "t..", "rrr", "...")
    # (2/3 + 1/2 + 0) / 3; the pair without answers is none.
    assert one["share"] == pytest.approx((2 / 3 + 1 / 2) / 3)
    assert (one["pairs"], one["judgements"], one["no_answer"]) == (3, 7, 5)
    assert (one["scenarios"], one["tie"], one["rival"]) == (2, 1, 4)
    assert (one["wins"], one["even"], one["losses"]) == (1, 1, 1)
    assert one["low"] is None and one["no_interval"] == "only 2 of 3 pairs with a preference"


def test_a_clear_preference_has_an_interval_and_a_verdict():
    one = told(*["sss"] * 12, *["ssr"] * 6, *["srr"] * 2)
    assert 0.5 < one["low"] < one["share"] < one["high"] <= 1
    assert one["share"] == pytest.approx((12 + 6 * 2 / 3 + 2 / 3) / 20)
    assert (one["verdict"], one["p_value"] < 0.01) == ("better", True)
    other = told(*["rrr"] * 12, *["rrs"] * 8)
    assert other["verdict"] == "worse" and other["high"] < 0.5


def test_agreement_by_hand():
    """Of "ssr", "rrr": 1 - 0.75·5/6. Any answer may be missing."""
    assert told("ssr", "rrr")["alpha"] == pytest.approx(1 - 0.75 * 5 / 6)
    assert told("ssr", "rr.", "s..")["alpha"] is not None
    assert told("s", "r")["undefined"] == "no pair has two judges"
    assert told("ss", "ss")["undefined"] == "all answers are equal"
