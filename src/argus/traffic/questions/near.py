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
_NUMBER = re.compile(r"\w*\d\w*")
_PRIME = np.uint64((1 << 61) - 1)


def find_alike(questions: Sequence[LookedAt], least: float) -> int:
    """Let the one asked most often stand for nearly equal ones; return how many these are.

    least: shared part from which two are nearly equal; 1 finds none. Two that differ in a number
    are never alike: they ask for two things.
    """
    if least >= 1:
        return 0
    parts = [_parts(one.text or "") for one in questions]
    order = sorted(range(len(questions)), key=lambda i: (-questions[i].asks, questions[i].id))
    leader = [-1] * len(questions)
    bands = _bands(parts)
    buckets: dict[tuple[int, bytes], list[int]] = defaultdict(list)
    for i in order:
        keys = [(band, bands[i, band].tobytes()) for band in range(BANDS)] if parts[i] else []
        rivals = dict.fromkeys(j for key in keys for j in buckets[key][:MOST_IN_BAND])
        best = next((j for j in rivals if _is_alike(questions, parts, i, j, least)), -1)
        if best >= 0:
            leader[i], questions[i].alike = best, questions[best].id
            continue
        for key in keys:
            buckets[key].append(i)
    return sum(place >= 0 for place in leader)


def _is_alike(
    questions: Sequence[LookedAt], parts: Sequence[frozenset[str]], i: int, j: int, least: float
) -> bool:
    one, other = parts[i], parts[j]
    if len(one & other) < least * len(one | other):
        return False
    numbers = [set(_NUMBER.findall((questions[n].text or "").casefold())) for n in (i, j)]
    return numbers[0] == numbers[1]


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
