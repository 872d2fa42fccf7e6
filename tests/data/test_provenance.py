from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data import content_hash
from tests.support.draws import examples


@settings(max_examples=examples(40))
@given(
    st.lists(st.text("ab", max_size=3), max_size=4), st.lists(st.text("ab", max_size=3), max_size=4)
)
def test_parts_never_run_together(a: list[str], b: list[str]) -> None:
    assert (content_hash(*a) == content_hash(*b)) == (a == b)


def test_text_bytes_and_arrays_of_the_same_bytes_hash_alike() -> None:
    data = np.array([1, 2], np.int64)
    assert content_hash(data.data) == content_hash(data.tobytes())
    assert content_hash(np.zeros((0, 4)).data) == content_hash(b"")
    assert content_hash("é") == content_hash("é".encode())
