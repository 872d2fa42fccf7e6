import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.retrievability.probes.data import split_entities
from tests.support.draws import examples

IDS = [f"Q{i}" for i in range(2000)]
KEYS = [id_.encode() for id_ in IDS]


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(0, 999), st.integers(0, 5))
def test_the_order_of_rows_changes_nothing(shuffle, seed):
    order = np.random.default_rng(shuffle).permutation(len(IDS))
    there = split_entities(IDS, KEYS, seed=seed)
    shuffled = split_entities([IDS[i] for i in order], [KEYS[i] for i in order], seed=seed)
    np.testing.assert_array_equal(there[order], shuffled)


@settings(max_examples=examples(20), deadline=None)
@given(st.integers(2, 7), st.integers(0, 100))
def test_duplicates_of_one_entity_never_straddle_splits(times, seed):
    """Neither one id listed several times, nor one text (hence one vector) under several ids."""
    ids, keys = IDS * times, KEYS * times
    parts = split_entities(ids, keys, seed=seed).reshape(times, -1)
    assert (parts == parts[0]).all()
    renamed = [f"{id_}-{copy}" for copy in range(times) for id_ in IDS]
    parts = split_entities(renamed, keys, seed=seed).reshape(times, -1)
    assert (parts == parts[0]).all()


def test_too_few_entities_say_how_many_are_needed():
    with pytest.raises(InputError, match=r"20 scored entities leave \d to validate or test on"):
        split_entities(IDS[:20], KEYS[:20], seed=0)
    with pytest.raises(InputError, match="0 scored entities"):
        split_entities([], [], seed=0)
