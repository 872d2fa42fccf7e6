"""Nearly equal questions: by shared words and pairs of words, found by signatures (MinHash).

Broder (1997): of two sets the share of hash functions whose least values agree is, in the mean, the
share of their union that they share. Bands of a signature are looked up, so that no two questions
are compared that share none; who does is compared exactly.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.indexes.words import words
from argus.traffic.questions.sample import LookedAt

BANDS, ROWS = 16, 4
"""16 bands of 4: of two questions that share 0.7, one band agrees with a chance of 0.988."""
MOST_PARTS = 2_000
"""Words and pairs of one question that are compared: longer ones by these."""
MOST_IN_BAND = 200
_WORD = re.compile(r"\w+")
_PRIME = np.uint64((1 << 61) - 1)


def find_alike(questions: Sequence[LookedAt], least: float) -> int:
    """Let the one asked most often stand for nearly equal ones; return how many these are.

    least: shared part from which two are nearly equal; 1 finds none. Two that differ in a number
    are never alike: they ask for two things.
    """
    if least >= 1:
        return 0
    parts = [_parts(one.text or "") for one in questions]
    numbers = [_numbers(one.text or "") for one in questions]
    order = sorted(range(len(questions)), key=lambda i: (-questions[i].asks, questions[i].id))
    bands, n = _bands(parts), 0
    buckets: dict[tuple[int, bytes, frozenset[str]], list[int]] = defaultdict(list)
    for i in order:
        keys = [(band, bands[i, band].tobytes(), numbers[i]) for band in range(BANDS)]
        keys = keys if parts[i] else []
        rivals = dict.fromkeys(j for key in keys for j in buckets[key][:MOST_IN_BAND])
        best = next((j for j in rivals if _share(parts[i], parts[j]) >= least), None)
        if best is not None:
            n, questions[i].alike = n + 1, questions[best].id
            continue
        for key in keys:
            buckets[key].append(i)
    return n


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    """Return which part of what either has both share (Jaccard)."""
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def _numbers(text: str) -> frozenset[str]:
    """Return the words that hold a digit, in time that grows with the text, however long a word."""
    own = _WORD.findall(text.casefold())
    return frozenset(word for word in own if any(map(str.isdigit, word)))


def _parts(text: str) -> frozenset[str]:
    own = words(text)[:MOST_PARTS]
    return frozenset(own) | {" ".join(pair) for pair in pairwise(own)}


def _bands(parts: Sequence[frozenset[str]]) -> npt.NDArray[np.uint64]:
    """Return signatures of shape (n, BANDS, ROWS)."""
    rng = np.random.default_rng(0)  # of the method, not of the data
    factors = rng.integers(1, 1 << 31, BANDS * ROWS, dtype=np.uint64)
    offsets = rng.integers(0, 1 << 31, BANDS * ROWS, dtype=np.uint64)
    out = np.zeros((len(parts), BANDS, ROWS), np.uint64)
    for i, own in enumerate(parts):
        if not own:
            continue
        values = np.array(
            [int.from_bytes(content_hash(part, size=4), "big") for part in own], np.uint64
        )
        least = ((values[:, None] * factors + offsets) % _PRIME).min(axis=0)
        out[i] = least.reshape(BANDS, ROWS)
    return out
