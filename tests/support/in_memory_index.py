"""An n-gram index over passages of tokens, without tokenizer and folder."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from argus.generative.index import NgramIndex
from argus.generative.index.segment import make_segment
from argus.generative.passages import Passages


def in_memory(
    passages: Sequence[Sequence[int]], size: int, border: int, *, cuts: Iterable[int] = ()
) -> NgramIndex:
    """Index passages (borders left out); a segment begins before each passage in `cuts`."""
    made = []
    for a, b in pairwise([0, *sorted(cuts), len(passages)]):
        if a < b:
            whole = [[border, *p] for p in passages[a:b]]
            block = Passages(
                [str(i) for i in range(a, b)],
                np.concatenate([np.array(p, np.int32) for p in whole]),
                np.cumsum([0, *map(len, whole)]),
                np.array([[1, len(p)] for p in whole], np.int32),
                np.zeros((b - a, 3), np.uint64),
            )
            made.append(make_segment([block], border, size))
    return NgramIndex(made, border)
