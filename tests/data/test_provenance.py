from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from argus.data import content_hash, file_hash
from argus.data.provenance import (
    describe_environment,
    describe_inputs,
    peak_memory_bytes,
    utc_now,
)

ABC_SHA256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2, B.1


@given(st.lists(st.text(max_size=3), max_size=4), st.lists(st.text(max_size=3), max_size=4))
def test_parts_never_run_together(a: list[str], b: list[str]) -> None:
    assert (content_hash(*a) == content_hash(*b)) == (a == b)


def test_the_same_letters_in_other_parts_hash_differently() -> None:
    lists = [("ab", "c"), ("a", "bc"), ("abc",), ("", "abc"), ("abc", ""), ("a", "b", "c"), ()]
    assert len({content_hash(*parts) for parts in lists}) == len(lists)


def test_a_part_cannot_imitate_the_length_of_the_next(tmp_path: Path) -> None:
    forged = "a" + "\x01" + "\x00" * 7 + "b"
    assert content_hash(forged) != content_hash("a", "b")


def test_text_bytes_and_arrays_of_the_same_bytes_hash_alike() -> None:
    data = np.array([1, 2], np.int64)
    assert content_hash(data.data) == content_hash(data.tobytes())
    assert content_hash(np.zeros((0, 4)).data) == content_hash(b"")
    assert content_hash("é") == content_hash("é".encode())


def test_lone_surrogates_can_be_hashed() -> None:
    assert content_hash("\ud800") != content_hash("\ud801")


def test_the_size_is_that_of_the_digest() -> None:
    assert len(content_hash("a")) == 16
    assert len(content_hash("a", size=8)) == 8


def test_a_file_hash_is_its_sha256(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert file_hash(path) == ABC_SHA256


def test_only_inputs_that_are_files_are_described(tmp_path: Path) -> None:
    path = tmp_path / "abc"
    path.write_bytes(b"abc")
    assert describe_inputs(corpus=path, relations=None, entities=tmp_path / "none") == {
        "corpus": {"file": str(path), "bytes": 3, "sha256": ABC_SHA256}
    }


def test_the_environment_names_versions_and_hardware() -> None:
    environment = describe_environment()
    assert environment["libraries"]["numpy"] == np.__version__
    assert environment["cores"] >= 1
    assert set(environment) == {
        "python", "platform", "processor", "cores", "accelerator", "libraries"
    }  # fmt: skip
    assert isinstance(environment["accelerator"], str)


def test_peak_memory_is_in_bytes_and_counts_what_was_held() -> None:
    size = 64 << 20
    array = np.ones(size, np.uint8)
    assert array.sum() == size
    assert size < peak_memory_bytes() < 1 << 40


def test_the_time_is_utc_in_whole_seconds() -> None:
    now = datetime.fromisoformat(utc_now())
    assert now.utcoffset() == timedelta(0)
    assert now.microsecond == 0
