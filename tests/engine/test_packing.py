import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.engine.local import pack
from tests.support.draws import examples


@pytest.fixture(scope="module")
def mapped(tmp_path_factory):
    path = tmp_path_factory.mktemp("mapped") / "rows.npy"
    np.save(path, np.random.default_rng(0).integers(0, 255, (300, 7, 11)))
    return np.load(path, mmap_mode="r")


def bounds(n):
    return st.tuples(st.integers(0, n), st.integers(0, n)).map(lambda ab: slice(*sorted(ab)))


@settings(max_examples=examples(60), deadline=None)
@given(first=bounds(300), second=bounds(7), step=st.sampled_from([1, 1, 2, -1]), turn=st.booleans())
def test_any_part_of_a_mapped_array_comes_out_as_it_went_in(mapped, first, second, step, turn):
    part = mapped[first, second][::step]
    part = part.T if turn else part
    for sent in (part, np.asarray(part)):
        np.testing.assert_array_equal(copied(sent), sent)
        assert copied(sent).dtype == sent.dtype


def copied(value):
    payload, *buffers = pack(value)
    return pickle.loads(payload, buffers=buffers)


def test_what_is_not_the_file_any_more_travels_as_content(mapped, tmp_path):
    np.save(tmp_path / "own.npy", np.zeros((100, 100)))
    private = np.load(tmp_path / "own.npy", mmap_mode="c")
    private[0, 0] = 7
    assert copied(private)[0, 0] == 7
    np.testing.assert_array_equal(copied(mapped + 1), mapped + 1)
