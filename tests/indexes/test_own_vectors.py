"""Vectors that people bring along: files that numpy did not write, other spaces, other lengths."""

import struct

import numpy as np
import pytest

from argus.data.types import Document
from argus.encoders.protocol import unit_rows
from argus.errors import InputError
from argus.indexes.header import read_header
from argus.indexes.job import add_documents, build_index
from argus.indexes.own_vectors import own_vectors
from argus.indexes.retriever import open_retriever
from argus.indexes.views import ViewIndex

DOCUMENTS = [
    Document("cat", "Cats purr when they are content."),
    Document("bern", "Bern is an old town on a river."),
    Document("atom", "Quantum mechanics describes electrons in atoms."),
    Document("blank", " "),
]
MORE = [Document("sun", "The sun is a star.")]


@pytest.fixture
def vectors(minilm, tmp_path):
    """Write .npy files: the encoder's vectors as int8, with a prefix, and of no encoder."""
    made = minilm.encode_documents([d.content for d in DOCUMENTS])
    prefixed = minilm.encode_documents([f"search_document: {d.content}" for d in DOCUMENTS])
    noise = np.random.default_rng(0).normal(size=made.shape)
    files = {}
    for name, array in {
        "same": np.round(made * 127 / np.abs(made).max()).astype(np.float16),
        "prefixed": prefixed,
        "noise": noise.astype(np.float32),
        "last row wrong": np.concatenate([made[:2], noise[2:]]).astype(np.float32),
    }.items():
        files[name] = tmp_path / f"{name}.npy"
        np.save(files[name], array)
    return files


@pytest.mark.parametrize("name", ["prefixed", "noise", "last row wrong"])
def test_foreign_vectors_have_a_fingerprint_of_their_own(minilm, tmp_path, vectors, name):
    built = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm, vectors=vectors[name])
    header = read_header(built.index.path)
    assert header.fingerprint.startswith("own vectors sha256=")
    assert header.foreign is not None
    assert header.asked_with == header.foreign.encoder == minilm.fingerprint
    assert header.foreign.least < 0.99
    assert built.summary["vectors"]["foreign"] is True
    assert built.summary["encoder"] == header.fingerprint
    with pytest.raises(
        InputError, match=r"holds vectors of your own.*without --vectors"
    ) as refused:
        add_documents(built.index.path, MORE, encoder=minilm)
    assert "two are never mixed" in str(refused.value)
    assert len(ViewIndex.open(built.index.path)) == 3


def test_rounded_vectors_of_the_encoder_count_as_its_own(minilm, tmp_path, vectors):
    built = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm, vectors=vectors["same"])
    header = read_header(built.index.path)
    assert (header.fingerprint, header.foreign) == (minilm.fingerprint, None)
    assert header.vectors is not None
    assert header.vectors.least > 0.999
    assert open_retriever(built.index.path, minilm).warning is None
    assert add_documents(built.index.path, MORE, encoder=minilm).summary["views"] == 4


def test_vectors_are_added_only_where_they_can_be_of_one_space(minilm, tmp_path, vectors):
    same, noise = (
        build_index(DOCUMENTS, out=tmp_path / name, encoder=minilm, vectors=vectors[name]).index
        for name in ("same", "noise")
    )
    made, foreign = tmp_path / "made.npy", tmp_path / "foreign.npy"
    np.save(made, minilm.encode_documents([d.content for d in MORE]))
    np.save(foreign, np.random.default_rng(1).normal(size=(1, minilm.dim)))
    with pytest.raises(InputError, match=r"another space.*expected those of .*MiniLM"):
        add_documents(same.path, MORE, encoder=minilm, vectors=foreign)
    with pytest.raises(InputError, match=r"another space.*expected vectors of your own"):
        add_documents(noise.path, MORE, encoder=minilm, vectors=made)
    assert (len(ViewIndex.open(same.path)), len(ViewIndex.open(noise.path))) == (3, 3)
    assert add_documents(same.path, MORE, encoder=minilm, vectors=made).summary["views"] == 4
    assert add_documents(noise.path, MORE, encoder=minilm, vectors=foreign).summary["views"] == 4


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
        (np.ones((3, 384), np.float32), "3 rows; expected 4: one row per document"),
        (np.ones((4, 10), np.float32), "dimension 10; expected 384"),
        (np.full((4, 384), np.nan, np.float32), "3 rows are zero or not finite"),
        (np.zeros((4, 384), np.float32), "3 rows are zero or not finite"),
        (np.full((4, 384), 1e200), "3 rows are zero or not finite"),
        (np.full((4, 384), 1e-100), "3 rows are zero or not finite"),
        (np.ones(4, np.float32), r"shape \(4,\)"),
        (np.array([["a"]]), "expected floating-point numbers"),
        (np.array([{}], object), UNREADABLE),
        (None, "no such file"),
        *(
            (content, UNREADABLE)
            for content in (
                *(b"", b"PK\x03\x04" + bytes(100), b"\x80\x04\x95\x05"),
                b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4', ",
                b"\x93NUMPY\x01\x00\x12\x00{'shape': ([[[[[[[\n",
                *(written("(" * 3000), written("{'descr':" + "[" * 3000)),
                *map(shaped, ("(1000000000000, 1000000)", f"({'9' * 50}, 4)", "(True, 4)")),
                *map(shaped, ("(0, 10000000000000000000)", "(4611686018427387904, 4)", "(-1, 4)")),
            )
        ),
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
    assert notes["normalised"] and notes["least"] == pytest.approx(1, abs=1e-3)
    assert unit_rows(np.array([[0, 0], [length, 0]], np.float32)).tolist() == [[0, 0], [1, 0]]
