from __future__ import annotations

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from argus.data import content_hash
from argus.data.provenance import (
    describe_inputs,
    peak_memory_bytes,
)

ABC_SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_parts_never_run_together(a: list[str], b: list[str]) -> None:
    assert (content_hash(*a) == content_hash(*b)) == (a == b)


def test_text_bytes_and_arrays_of_the_same_bytes_hash_alike() -> None:
    data = np.array([1, 2], np.int64)
    assert content_hash(data.data) == content_hash(data.tobytes())
    assert content_hash(np.zeros((0, 4)).data) == content_hash(b"")
    assert content_hash("é") == content_hash("é".encode())


def test_only_inputs_that_are_files_are_described(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert describe_inputs(corpus=path, relations=None, entities=tmp_path / "none") == {
        "corpus": {"file": str(path), "bytes": 3, "sha256": ABC_SHA256}
    }


def test_peak_memory_is_in_bytes_and_counts_what_was_held() -> None:
    size = 64 << 20
    array = np.ones(size, np.uint8)
    assert array.sum() == size
    assert size < peak_memory_bytes() < 1 << 40
