"""Vectors that people bring along: files that numpy did not write, other spaces, other lengths."""

import struct
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from argus.data.reading import read_arrays
from argus.data.types import Document, Query
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.protocol import unit_rows
from argus.errors import FingerprintMismatch, InputError
from argus.indexes.header import read_header, write_header
from argus.indexes.job import add_documents, build_index, compact_index, delete_documents
from argus.indexes.own_vectors import own_vectors
from argus.indexes.retriever import IndexRetriever, open_retriever, search_index
from argus.indexes.views import ViewIndex

DOCUMENTS = [
    Document("cat", "Cats purr when they are content."),
    Document("bern", "Bern is an old town on a river."),
    Document("atom", "Quantum mechanics describes electrons in atoms."),
    Document("blank", " "),
]
MORE = [Document("sun", "The sun is a star.")]


def test_the_header_of_another_index_is_refused_where_its_vectors_are_kept(minilm, tmp_path):
    path = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index.path
    header = read_header(path)
    write_header(path, replace(header, fingerprint="another"))
    with pytest.raises(FingerprintMismatch, match="i/embeddings holds vectors of another encoder"):
        ViewIndex.open(path)
    write_header(path, header)
    (path / "embeddings" / "store.json").write_text("damaged")
    assert len(ViewIndex.open(path)) == 3


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


def test_foreign_vectors_are_searched_with_a_warning(minilm, tmp_path, vectors):
    path = build_index(
        DOCUMENTS, out=tmp_path / "i", encoder=EncoderConfig(precision="float32"),
        vectors=vectors["prefixed"],
    ).index.path  # fmt: skip
    found = search_index("electrons", path)
    assert found["results"][0]["id"] == "atom"
    assert f"are not what {minilm.fingerprint} makes" in found["warning"]
    other = load_encoder(EncoderConfig(precision="bfloat16")).encoder
    with pytest.raises(FingerprintMismatch, match="precision=bfloat16"):
        open_retriever(path, other)
    assert IndexRetriever(ViewIndex.open(path), minilm).search([Query("q", "cat")], 1)["q"]


def test_a_rebuild_with_vectors_of_another_origin_is_refused(minilm, tmp_path, vectors):
    out = tmp_path / "i"

    def build(name=None, **options):
        file = vectors[name] if name else None
        return build_index(DOCUMENTS, out=out, encoder=minilm, vectors=file, **options)

    version = build("noise").index.version
    assert build("noise").index.version == version, "the same vectors change nothing"
    for other in (None, "same", "prefixed"):
        with pytest.raises(
            InputError, match=r"holds an index of other vectors: from a file.*fresh"
        ):
            build(other)
    embedded = build(fresh=True).index
    assert embedded.header.vectors is None
    stored = embedded.snapshot().vectors
    own = minilm.encode_documents([v.text for v in embedded.snapshot().views])
    assert np.allclose(stored, own, atol=1e-5)
    with pytest.raises(InputError, match="holds an index of other vectors: embedded by"):
        build("same")
    again = build("same", fresh=True).index
    with pytest.raises(InputError, match="holds an index of other vectors"):
        build()
    assert len(again) == 3


def test_a_build_stopped_before_its_vectors_were_named_goes_on(minilm, tmp_path, vectors):
    done = build_index(
        DOCUMENTS, out=tmp_path / "done", encoder=minilm, vectors=vectors["noise"]
    ).index
    stopped = ViewIndex.create(tmp_path / "i", fingerprint=done.fingerprint, dim=done.dim)
    assert stopped.header.vectors is None
    index = build_index(
        DOCUMENTS, out=tmp_path / "i", encoder=minilm, vectors=vectors["noise"]
    ).index
    assert (len(index), index.header.vectors) == (3, done.header.vectors)
    assert index.header.foreign is not None


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


@pytest.mark.parametrize(
    "change",
    [
        lambda path, encoder: add_documents(path, MORE, encoder=encoder),
        lambda path, encoder: delete_documents(path, ["cat"]),
        lambda path, encoder: compact_index(path),
    ],
)
def test_a_state_cannot_be_changed(minilm, tmp_path, change):
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index
    with pytest.raises(InputError, match="names the state 'original' of an index") as refused:
        change(f"{index.path}@original", minilm)
    assert f"Give {index.path};" in str(refused.value)
    assert ViewIndex.open(index.path).version == index.version


def test_no_index_is_built_where_it_would_hide_a_state(minilm, tmp_path):
    path = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index.path
    with pytest.raises(InputError, match="names the state 'original' of the index"):
        build_index(DOCUMENTS, out=f"{path}@original", encoder=minilm)
    assert not (tmp_path / "i@original").exists()
    odd = build_index(DOCUMENTS, out=tmp_path / "me@host", encoder=minilm).index
    assert add_documents(odd.path, MORE, encoder=minilm).summary["views"] == 4


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
    assert own.vectors[:3] == pytest.approx(vectors[:3], abs=1e-5)
    assert own.notes["normalised"] and own.notes["least"] == pytest.approx(1, abs=1e-3)
    assert unit_rows(np.array([[0, 0], [length, 0]], np.float32)).tolist() == [[0, 0], [1, 0]]


def test_vectors_of_ones_own_that_are_there_have_to_be_the_same(minilm, tmp_path):
    file = tmp_path / "v.npy"
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index.path
    vectors = minilm.encode_documents([d.content for d in MORE])
    np.save(file, vectors)
    for _ in range(2):
        assert add_documents(index, MORE, encoder=minilm, vectors=file).summary["views"] == 4
    np.save(file, vectors + np.eye(1, vectors.shape[1], dtype=np.float32) * 0.02)
    with pytest.raises(InputError, match="another text or vector: 'sun'"):
        add_documents(index, MORE, encoder=minilm, vectors=file)
