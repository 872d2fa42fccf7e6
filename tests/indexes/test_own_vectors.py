"""Vectors that people bring along: files that numpy did not write, other spaces, other lengths."""

import struct

import numpy as np
import pytest

from argus.data.types import Document
from argus.encoders.protocol import unit_rows
from argus.errors import InputError
from argus.indexes.job import add_documents, build_index, own_vectors

DOCUMENTS = [
    Document("cat", "Cats purr when they are content."),
    Document("bern", "Bern is an old town on a river."),
    Document("atom", "Quantum mechanics describes electrons in atoms."),
    Document("blank", " "),
]
MORE, MOON = [Document("sun", "The sun is a star.")], [Document("moon", "No star.")]


@pytest.fixture
def vectors(minilm, tmp_path):
    """Write .npy files: the encoder's vectors as int8, with a prefix, and of no encoder."""
    made = minilm.encode_documents([d.content for d in DOCUMENTS])
    noise = np.random.default_rng(0).normal(size=made.shape).astype(np.float32)
    arrays = {
        "same": np.round(made * 127 / np.abs(made).max()).astype(np.float16),
        "prefixed": minilm.encode_documents([f"search_document: {d.content}" for d in DOCUMENTS]),
        "noise": noise,
        "last row wrong": np.concatenate([made[:2], noise[2:]]),
    }
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
    return {name: tmp_path / f"{name}.npy" for name in arrays}


@pytest.mark.parametrize("name", ["prefixed", "noise", "last row wrong"])
def test_vectors_of_another_encoder_are_never_mixed_with_its_own(minilm, tmp_path, vectors, name):
    built = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm, vectors=vectors[name])
    assert built.summary["vectors"]["foreign"] and built.summary["vectors"]["least"] < 0.99
    with pytest.raises(InputError, match="two are never mixed"):
        add_documents(built.index.path, MORE, encoder=minilm)
    made, other = (tmp_path / f"{name}.npy" for name in ("made", "other"))
    np.save(made, minilm.encode_documents([d.content for d in MORE]))
    np.save(other, np.random.default_rng(1).normal(size=(1, minilm.dim)))
    with pytest.raises(InputError, match="another space") as refused:
        add_documents(built.index.path, MORE, encoder=minilm, vectors=made)
    assert refused.value.where == str(made)
    added = add_documents(built.index.path, MORE, encoder=minilm, vectors=other)
    assert added.summary["views"] == 4


def test_rounded_vectors_of_the_encoder_count_as_its_own(minilm, tmp_path, vectors):
    built = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm, vectors=vectors["same"])
    assert built.index.fingerprint == minilm.fingerprint
    assert built.summary["vectors"]["least"] > 0.999
    assert add_documents(built.index.path, MORE, encoder=minilm).summary["views"] == 4
    made = tmp_path / "made.npy"
    np.save(made, minilm.encode_documents(["No star."]))
    assert add_documents(built.index.path, MOON, encoder=minilm, vectors=made).summary["views"] == 5


def written(header: str) -> bytes:
    """Return a .npy file with any header, and some data."""
    padded = header.encode() + b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(padded)) + padded + bytes(64)


def shaped(shape: str) -> bytes:
    return written(f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}")


UNREADABLE = r"cannot be read as \.npy"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (np.ones((3, 384), np.float32), r"expected \(4, 384\): a row per document"),
        (np.ones((4, 10), np.float32), r"shape \(4, 10\)"),
        (np.full((4, 384), np.nan, np.float32), "3 rows are zero or not finite"),
        (np.zeros((4, 384), np.float32), "3 rows are zero or not finite"),
        (np.ones(4, np.float32), r"shape \(4,\)"),
        (np.array([["a"]]), UNREADABLE),
        (np.array([{}], object), UNREADABLE),
        (None, "No such file"),
        (b"", UNREADABLE),
        (b"PK\x03\x04" + bytes(100), UNREADABLE),
        (b"\x93NUMPY\x01\x00\x12\x00{'shape': ([[[[[[[\n", UNREADABLE),
        (written("(" * 3000), UNREADABLE),
        (shaped("(1000000000000, 1000000)"), UNREADABLE),
        (shaped(f"({'9' * 50}, 4)"), UNREADABLE),
        (shaped("(-1, 4)"), UNREADABLE),
    ],
)
def test_wrong_vectors_are_named(minilm, tmp_path, content, message):
    file = tmp_path / "v.npy"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content is not None:
        np.save(file, content)
    with pytest.raises(InputError, match=message) as refused:
        own_vectors(file, DOCUMENTS, minilm)
    assert refused.value.where == file


@pytest.mark.parametrize("length", [1e30, 1e-30, 3.0])
def test_any_length_is_scaled_to_one(minilm, tmp_path, length):
    file = tmp_path / "v.npy"
    vectors = minilm.encode_documents([d.content for d in DOCUMENTS])
    np.save(file, np.asfortranarray((vectors * np.float32(length)).astype(">f4")))
    own, notes, _ = own_vectors(file, DOCUMENTS, minilm)
    assert own[:3] == pytest.approx(vectors[:3], abs=1e-5)
    assert notes["least"] == pytest.approx(1, abs=1e-3)
    assert unit_rows(np.array([[0, 0], [length, 0]], np.float32)).tolist() == [[0, 0], [1, 0]]
