"""Verdicts on many arms at once, and the one that is recommended."""

import numpy as np
import pytest

from argus.tuning.arms import BM25, VECTORS, parts_words
from argus.tuning.decide import ALIKE, BETTER, OPEN, SAME, WORSE, compare_arms, recommend

N = 60


def of(values):
    return {f"q{i:03}": float(value) for i, value in enumerate(values)}


def draws(seed, *gains, noise=0.2, n=N):
    """What runs, and arms whose questions gain about so much."""
    rng = np.random.default_rng(seed)
    base = rng.uniform(0.2, 0.8, n)
    arms = {"mine": of(base)}
    for i, gain in enumerate(gains):
        arms[f"arm{i}"] = of(base + gain + noise * rng.normal(size=n))
    return arms


def test_each_arm_has_its_verdict():
    arms = draws(0, 0.2, -0.2, 0.0, noise=0.1) | {"close": of(draws(0)["mine"].values())}
    arms["close"] = {q: v + 0.001 * (i % 2) for i, (q, v) in enumerate(arms["close"].items())}
    arms["copy"] = dict(arms["mine"])
    arms["few"] = {q: v + (0.5 if i < 5 else 0) for i, (q, v) in enumerate(arms["mine"].items())}
    found, critical = compare_arms(arms, "mine")
    got = {name: verdict.verdict for name, verdict in found.items()}
    assert got == {
        "arm0": BETTER, "arm1": WORSE, "arm2": OPEN, "close": BETTER, "copy": SAME, "few": OPEN,
    }  # fmt: skip
    assert found["arm2"].needed and "more questions would tell" in found["arm2"].words()
    assert found["few"].low is None and 2 < critical < 4
    small = {
        "mine": arms["mine"],
        "arm": of(np.array(list(arms["mine"].values())) + 0.01 * _signs()),
    }
    assert compare_arms(small, "mine")[0]["arm"].verdict == ALIKE


def _signs():
    return np.where(np.arange(N) % 2, 1, -1)


@pytest.mark.parametrize("n", [20, 100])
def test_of_many_arms_without_a_difference_one_seldom_seems_better(n):
    wrong = 0
    for seed in range(100):
        found, _ = compare_arms(draws(seed, *[0.0] * 12, n=n), "mine", seed=seed)
        wrong += any(verdict.verdict in (BETTER, WORSE) for verdict in found.values())
    assert wrong <= 12  # 5 expected; each arm alone would give about 46


def test_questions_that_are_said_to_tell_do():
    arms = draws(3, 0.03)
    needed = compare_arms(arms, "mine")[0]["arm0"].needed
    more = draws(4, 0.03, n=N + needed + 40)
    assert needed and compare_arms(more, "mine")[0]["arm0"].verdict == BETTER


def test_the_default_stands_until_it_is_beaten_clearly():
    base = np.random.default_rng(5).uniform(0.2, 0.8, N)
    noise = 0.2 * np.random.default_rng(6).normal(size=N)
    arms = {"mine": of(base), "default": of(base + 0.02), "lucky": of(base + 0.04 + noise)}
    assert recommend(arms, "mine", "default") == "default"
    assert recommend(arms | {"clear": of(base + 0.1 + noise / 4)}, "mine", "default") == "clear"
    assert recommend({"mine": of(base), "default": of(base - 0.01)}, "mine", "default") == "mine"
    assert recommend({"mine": of(base)}, "mine", "mine") == "mine"


def part(name, mine, mean, passes=False):
    return {"arm": name, "passes": passes, "ndcg10": {"mean_before": mine, "mean_after": mean}}


@pytest.mark.parametrize(
    ("mine", "sure", "told"),
    [
        (0.381, True, "what is added to the vectors hurts"),
        (0.381, False, "what is added to the vectors hurts here, which may be chance"),
        (0.5, False, "the whole is better than either part"),
        (0.416, False, "it ranks as its vectors alone"),
    ],
)
def test_the_part_that_hurts_is_named(mine, sure, told):
    parts = [part(VECTORS, mine, 0.416, sure), part(BM25, mine, 0.3)]
    shown = f"vectors alone 0.416 ({0.416 - mine:+.3f}), BM25 alone 0.300 ({0.3 - mine:+.3f})"
    assert parts_words(parts) == f"nDCG@10 {mine:.3f}; {shown}: {told}"


def test_of_a_retriever_of_ones_own_the_bm25_is_said_to_be_another():
    parts = [part(VECTORS, 0.865, 0.813), part(BM25, 0.865, 0.914, True)]
    told = parts_words(parts, is_own=True)
    assert told.endswith("Argus' BM25 alone 0.914 (+0.049): Argus' BM25 alone beats it")
