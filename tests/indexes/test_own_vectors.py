"""Vectors that people bring along: files that numpy did not write, and lengths that are odd."""

from __future__ import annotations

import struct
import zipfile

import numpy as np
import pytest

from argus.data.reading import read_arrays
from argus.data.types import Document
from argus.encoders.protocol import unit_rows
from argus.errors import InputError
from argus.indexes.own_vectors import own_vectors

DOCUMENTS = [Document("a", "A boat lies in the harbour."), Document("b", "The sun is a star.")]


def written(header: str) -> bytes:
    """Return a .npy file with any header, and some data."""
    padded = header.encode() + b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + bytes(64)


def shaped(shape: str) -> bytes:
    return written(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK\x03\x04" + bytes(100),
        b"\x80\x04\x95\x05",
        written("(" * 3000),
        written("{'descr':" + "[" * 3000),
        shaped("(1000000000000, 1000000)"),
        shaped(f"({'9' * 50}, 4)"),
        shaped("(0, 10000000000000000000)"),
        shaped("(4611686018427387904, 4)"),
        shaped("(True, 4)"),
        shaped("(-1, 4)"),
    ],
)
def test_a_file_that_numpy_did_not_write_is_refused(minilm, tmp_path, content):
    file = tmp_path / "v.npy"
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"v\.npy: cannot be read as \.npy \(.+\); expected one"):
        own_vectors(file, DOCUMENTS, minilm)


def test_a_header_that_never_ends_is_damage_of_an_archive_too(tmp_path):
    file = tmp_path / "parts.npz"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", written("(" * 3000))
    with pytest.raises(InputError, match="TokenError"):
        read_arrays(file, fix="Remove it.")


@pytest.mark.parametrize("length", [1e30, 1e-30, 3.0])
def test_any_length_is_scaled_to_one(minilm, tmp_path, length):
    file = tmp_path / "v.npy"
    vectors = minilm.encode_documents([d.content for d in DOCUMENTS])
    np.save(file, np.asfortranarray((vectors * np.float32(length)).astype(">f4")))
    own = own_vectors(file, DOCUMENTS, minilm)
    assert own.vectors == pytest.approx(vectors, abs=1e-5)
    assert unit_rows(np.array([[0, 0], [length, 0]], np.float32)).tolist() == [[0, 0], [1, 0]]


@pytest.mark.parametrize("length", [1e100, 1e-100])
def test_a_length_that_float32_does_not_hold_is_none(minilm, tmp_path, length):
    file = tmp_path / "v.npy"
    np.save(file, np.full((2, 384), length))
    with pytest.raises(InputError, match="2 rows are zero or not finite"):
        own_vectors(file, DOCUMENTS, minilm)
