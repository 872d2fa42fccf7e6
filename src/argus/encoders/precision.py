"""Which number format to encode in: decided on the texts at hand, named, never silent.

Half precision is two to three times as fast on processors with bfloat16 units, and slower than
float32 on others; whether it changes vectors depends on the model. So a sample of the user's own
texts is encoded in each format, and half precision is taken only where it is faster by a margin
and every sampled vector keeps a cosine of at least 0.999 to float32.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np

from argus.data.folders import PrecisionTrial
from argus.encoders.protocol import unit_rows
from argus.encoders.sentence_transformer import SentenceTransformerEncoder

CANDIDATES = ("bfloat16", "float16")
SAMPLE = 48
MIN_COSINE = 0.999
MIN_SPEEDUP = 1.15


def choose_precision(
    load: Callable[[str], SentenceTransformerEncoder], texts: Sequence[str]
) -> tuple[SentenceTransformerEncoder, list[PrecisionTrial]]:
    """Return the encoder in the fastest acceptable precision, and what was measured.

    load: makes the encoder in a given precision. texts: what will be encoded; an even sample of
    it is used.
    """
    baseline = load("float32")
    if not texts:
        return baseline, []
    sample = [texts[i] for i in np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts))).astype(int)]
    expected = None  # encoded once there is a format that is fast enough
    best, best_speedup = baseline, MIN_SPEEDUP
    trials: list[PrecisionTrial] = []
    for precision in CANDIDATES:
        encoder = load(precision)
        # A format the processor lacks can be a hundred times slower: a few texts tell.
        few = sample[: max(1, len(sample) // 6)]
        speedup = _speedup(baseline, encoder, few, rounds=1)
        if speedup < 1:
            trials.append(_trial(precision, speedup))
            continue
        if expected is None:
            expected = unit_rows(baseline.encode_documents(sample))
        cosine = float((unit_rows(encoder.encode_documents(sample)) * expected).sum(axis=1).min())
        speedup = _speedup(baseline, encoder, sample, rounds=2)
        accepted = cosine >= MIN_COSINE and speedup >= MIN_SPEEDUP
        trials.append(_trial(precision, speedup, cosine, accepted=accepted))
        if accepted and speedup > best_speedup:
            best, best_speedup = encoder, speedup
    return best, trials


def _trial(
    precision: str, speedup: float, min_cosine: float | None = None, *, accepted: bool = False
) -> PrecisionTrial:
    return {
        "precision": precision,
        "speedup": round(speedup, 2),
        "min_cosine": min_cosine,
        "accepted": accepted,
    }


def _speedup(
    baseline: SentenceTransformerEncoder,
    candidate: SentenceTransformerEncoder,
    texts: Sequence[str],
    *,
    rounds: int,
) -> float:
    """Return baseline's time over the candidate's, the best of interleaved rounds of each."""
    best = [float("inf"), float("inf")]
    for encoder in (baseline, candidate):
        encoder.encode_documents(texts[:2])  # first use allocates
    for _ in range(rounds):
        for i, encoder in enumerate((baseline, candidate)):
            start = time.perf_counter()
            encoder.encode_documents(texts)
            best[i] = min(best[i], time.perf_counter() - start)
    return best[0] / best[1]
