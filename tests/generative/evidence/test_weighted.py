import numpy as np

from argus.generative.evidence.weighted import class_keys
from argus.generative.settings import Scoring

NGRAMS = [(9,), (5, 6), (4, 5), (1, 1, 2), (3,), (8,), (7,)]
WEIGHTS = np.array([1.0, 4.0, 4.0, 2.0, 0.0, 9.0, 3.0])
COUNTS = np.array([2, 1, 1, 1, 1, 10_000_001, 5])


def test_keys_rank_by_weight_then_tokens_rare_ones_as_listed():
    keys = class_keys(NGRAMS, WEIGHTS, COUNTS, Scoring(max_occurrences=4))
    assert keys.ngrams == [(4, 5), (5, 6), (7,), (1, 1, 2), (9,)]  # (3,) and (8,) are dropped
    assert keys.weights.tolist() == [4, 4, 3, 2, 1]
    assert keys.counts.tolist() == [1, 1, 5, 1, 2]
    assert [keys.ngrams[i] for i in keys.rare] == [(5, 6), (4, 5), (1, 1, 2), (9,)]
    assert keys.lengths.tolist() == [2, 2, 1, 3, 1]
    assert keys.tokens.tolist() == [4, 5, 5, 6, 7, 1, 1, 2, 9]
    assert keys.types.tolist() == [4, 5, 5, 6, 7, 1, 2, 9]
    assert keys.types_ptr.tolist() == [0, 2, 4, 5, 7, 8]


def test_without_keys_all_arrays_are_empty():
    keys = class_keys([], np.zeros(0), np.zeros(0, np.int64), Scoring())
    assert (len(keys), len(keys.rare), keys.ptr.tolist()) == (0, 0, [0])
