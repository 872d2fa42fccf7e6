"""The choice of the best continuations, against sorting."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.generative.decode.beams import best_continuations
from tests.support.draws import examples


@given(st.integers(0, 10_000), st.integers(1, 7))
@settings(max_examples=examples(100), deadline=None)
def test_the_best_continuations_are_those_that_sorting_finds(seed, most):
    rng = np.random.default_rng(seed)
    v = 12
    per_question = rng.integers(0, 4, 3)
    rows = int(per_question.sum())
    logits = rng.integers(-3, 3, (rows, v)).astype(np.float32)  # many ties
    normalizers, sums = rng.integers(0, 3, rows) * 1.0, -rng.integers(0, 3, rows) * 1.0
    allowed = [np.flatnonzero(rng.random(v) < 0.5) for _ in range(rows)]
    pointers = np.cumsum([0, *map(len, allowed)])
    tokens = np.concatenate([*allowed, []]).astype(np.int32)
    barred = rng.random(v) < 0.2
    firsts = np.cumsum([0, *per_question])
    out, got_rows, got_tokens, got_sums = best_continuations(
        logits, normalizers, sums, pointers, tokens, firsts, most, barred
    )
    for q in range(3):
        want = sorted(
            (-(sums[r] - normalizers[r] + logits[r, t]), r, t)
            for r in range(firsts[q], firsts[q + 1])
            for t in allowed[r]
            if not barred[t]
        )[:most]
        mine = slice(out[q], out[q + 1])
        got = zip(-got_sums[mine], got_rows[mine], got_tokens[mine], strict=True)
        assert [tuple(map(float, g)) for g in got] == [tuple(map(float, w)) for w in want]
