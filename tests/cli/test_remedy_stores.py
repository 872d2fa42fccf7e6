"""`argus tune apply blend|rollback|list --store`, as a person types them."""

from __future__ import annotations

import pytest

from argus.data.types import Document
from tests.support.stored_corpora import sqlite_vec

TEXTS = {
    "deque": "A list-like sequence. Appends and pops are fast near either end.",
    "heapq": "Heap queue algorithm. It is also known as a priority queue.",
    "zlib": "Compression compatible with gzip.",
}


@pytest.fixture
def store(minilm, tmp_path):
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    vectors = minilm.encode_documents(list(TEXTS.values()))
    return sqlite_vec(tmp_path / "store", documents, vectors)


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("tune", "list"), "--index: neither --index nor --store"),
        (("tune", "list", "--index", "INDEX", "--store", "STORE"), "--index: --index and --store"),
        (("tune", "list", "--index", "INDEX", "--into", "x"), "--into with --index"),
        (
            ("tune", "apply", "blend", "--index", "INDEX", "--store-id", "x"),
            "--store-id: is said of",
        ),
        (("tune", "apply", "blend", "--store", "STORE"), "--encoder: a store without its encoder"),
        (
            ("tune", "apply", "blend", "--store", "STORE", "--encoder", "m", "--queries", "q"),
            "--queries with --store",
        ),
        (("tune", "undo", "blend-1", "--store", "STORE"), "docs_argus: no record of remedy"),
        (
            ("tune", "apply", "blend", "--store", "redis:a/b", "--encoder", "m"),
            "STORE: 'redis:a/b' names no store",
        ),
    ],
)
def test_what_does_not_fit_is_told(argus, store, index, arguments, where):
    names = {"INDEX": str(index), "STORE": store}
    ran = argus(*(names.get(a, a) for a in arguments))
    assert ran.code == 2 and where in ran.err.replace("\n", " ")
