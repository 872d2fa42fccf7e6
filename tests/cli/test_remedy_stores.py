"""`argus remedy blend|rollback|list --store`, as a person types them."""

from __future__ import annotations

import json
import re

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


def test_a_store_is_blended_listed_and_undone(argus, store, tmp_path):
    encoder = ("--encoder", "all-MiniLM-L6-v2", "--precision", "float32")
    ran = argus("remedy", "blend", "--store", store, *encoder, "--lambda", "0.6")
    assert ran.code == 0
    first, *others = ran.out.splitlines()
    remedy = re.match(r"(blend-\w{8}): 7 records in \S+/docs_argus \(3 documents, 4 sent", first)[1]
    assert "λ = 0.6" in first
    assert f"To undo it: argus remedy rollback {remedy} --store {store}" in others
    assert "7 of 7 come back in the top 10: 100.00%" in ran.out
    summary = json.loads((tmp_path / "argus-out" / "summary.json").read_text())
    assert summary["written"]["remedy"] == remedy and "reach" not in summary
    own = json.loads((tmp_path / "argus-out" / remedy / "summary.json").read_text())
    assert own["reach"]["hidden"] == 0
    assert (tmp_path / "argus-out" / "report.html").exists()
    again = argus("remedy", "blend", "--store", store, *encoder, "--lambda", "0.6", "--json")
    assert json.loads(again.out)["counts"]["there_before"] == 7
    [listed] = json.loads(argus("remedy", "list", "--store", store, "--json").out)
    assert (listed["id"], listed["kind"], listed["views"], listed["documents"]) == (
        remedy, "blend", 4, 3,
    )  # fmt: skip
    ran = argus("remedy", "rollback", remedy, "--store", store)
    assert ran.out.splitlines() == [
        f"removed 7 records of {remedy} from {store}_argus",
        "the collection was Argus's own and is empty: it is gone as well",
    ]
    assert argus("remedy", "list", "--store", store).out == f"no remedy in {store}\n"


@pytest.mark.parametrize(
    ("arguments", "where"),
    [
        (("list",), "--index: neither --index nor --store"),
        (("list", "--index", "INDEX", "--store", "STORE"), "--index: --index and --store"),
        (("list", "--index", "INDEX", "--into", "x"), "--into: is said of"),
        (("blend", "--index", "INDEX", "--store-id", "x"), "--store-id: is said of"),
        (("blend", "--store", "STORE"), "--encoder: a store without its encoder"),
        (("blend", "--store", "STORE", "--encoder", "m", "--queries", "q"), "--queries: is said"),
        (("rollback", "blend-1", "--store", "STORE"), "docs_argus: no record of remedy"),
        (("blend", "--store", "redis:a/b", "--encoder", "m"), "STORE: 'redis:a/b' names no store"),
    ],
)
def test_what_does_not_fit_is_told(argus, store, index, arguments, where):
    names = {"INDEX": str(index), "STORE": store}
    ran = argus("remedy", *(names.get(a, a) for a in arguments))
    assert ran.code == 2 and where in ran.err.replace("\n", " ")
