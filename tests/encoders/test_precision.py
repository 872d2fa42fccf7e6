from types import SimpleNamespace

import numpy as np
import pytest

from argus.encoders.models import choose_precision

TEXTS = [f"text {i}" for i in range(60)]
NOW = [0.0]
"""The clock of encoders that take a given time, whatever the machine does meanwhile."""


class Timed:
    """Encodes texts to rows of (cos angle, sin angle), in a given time per call."""

    dim = 2

    def __init__(self, seconds, angle=0.0):
        self.seconds, self.angle, self.asked = seconds, angle, []

    def encode_documents(self, texts):
        self.asked.append(len(texts))
        NOW[0] += self.seconds
        row = np.array([np.cos(self.angle), np.sin(self.angle)], np.float32)
        return np.tile(row, (len(texts), 1))


def choose(**encoders):
    with pytest.MonkeyPatch.context() as patch:
        clock = SimpleNamespace(perf_counter=lambda: NOW[0])
        patch.setattr("argus.encoders.models.time", clock)
        best, trials = choose_precision(encoders.__getitem__, TEXTS)
    name = next(name for name, encoder in encoders.items() if encoder is best)
    return name, {trial["precision"]: trial for trial in trials}


def test_a_fast_and_close_format_is_taken():
    name, trials = choose(float32=Timed(0.06), bfloat16=Timed(0.003), float16=Timed(0.12))
    assert name == "bfloat16"
    assert trials["bfloat16"]["accepted"]
    assert trials["bfloat16"]["min_cosine"] == pytest.approx(1)
    assert trials["bfloat16"]["speedup"] == pytest.approx(20)


def test_a_fast_format_that_changes_vectors_is_refused():
    inexact = Timed(0.003, angle=0.05)  # cos 0.05 = 0.99875
    name, trials = choose(float32=Timed(0.06), bfloat16=inexact, float16=inexact)
    assert name == "float32"
    assert not trials["bfloat16"]["accepted"]
    assert trials["bfloat16"]["min_cosine"] == pytest.approx(0.99875, abs=1e-5)


def test_one_inexact_text_among_many_is_enough_to_refuse():
    class Uneven(Timed):
        def encode_documents(self, texts):
            rows = super().encode_documents(texts)
            rows[[text == "text 59" for text in texts]] = (0, 1)
            return rows

    name, trials = choose(float32=Timed(0.06), bfloat16=Uneven(0.003), float16=Timed(0.12))
    assert name == "float32"
    assert trials["bfloat16"]["min_cosine"] == pytest.approx(0, abs=1e-6)
