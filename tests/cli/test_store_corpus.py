"""`--corpus STORE` on the command line: what is printed, and what is refused at the door."""

from __future__ import annotations

import pytest

from argus.corpora.opening import read_corpus
from argus.data.types import Document
from tests.support.stored_corpora import sqlite_vec


@pytest.fixture(scope="module")
def store(tmp_path_factory, shared, minilm):
    """Short texts of wiki2 with the vectors that MiniLM made of title and text."""
    read = read_corpus(shared("wiki2"), limit=40)
    documents = [Document(d.id, d.text[:90], d.title) for d in read]
    vectors = minilm.encode_documents([f"{d.title}: {d.text}" for d in documents])
    return sqlite_vec(tmp_path_factory.mktemp("stores") / "store", documents, vectors)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("check", "--corpus", "qdrant:docs"), "names no collection"),
        (
            ("research", "audit", "--corpus", "qdrant:nowhere/docs"),
            "nowhere: no such file or folder",
        ),
        (("check", "--corpus", "STORE", "--store-metric", "l2"), "--store-metric"),
        (("check", "--corpus", "STORE", "--vector-field", "other"), "no vector field 'other'"),
        (("check", "--corpus", "STORE", "--store-key-env", "NO_KEY"), "--store-key-env"),
        (("index", "build", "--corpus", "STORE", "--text-field", "body"), "hold no text"),
        (("check", "--corpus", "FILE", "--template", "{titel}"), "--template"),
        (("research", "audit", "--corpus", "FILE", "--template", "{text}"), "--template"),
        (("research", "diagnose", "--corpus", "FILE", "--vector-field", "v"), "--vector-field"),
        (("index", "build", "--corpus", "STORE", "--vectors", "own.npy"), "--vectors"),
    ],
)
def test_bad_input_is_told_and_writes_nothing(argus, store, tmp_path, arguments, problem):
    (tmp_path / "docs.jsonl").write_text('{"_id": "a", "title": "A", "text": "words of a"}\n')
    given = [{"STORE": store, "FILE": "docs.jsonl"}.get(a, a) for a in arguments]
    more = ("--mentions", "capitals") if "diagnose" in arguments else ()
    ran = argus(*given, *more, "--out", "out")
    assert ran.code == 2 and problem in ran.err
    assert not (tmp_path / "out").exists()
