"""`remedy blend` on an index: added once, searched, told, rolled back; killed, without effect."""

import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.retriever import open_retriever
from argus.remedies.blend import blend_index
from argus.remedies.undo import list_remedies, rollback

TEXTS = {
    "deque": "A list-like sequence. Appends and pops are fast near either end. "
    "A maximum length makes it forget the oldest entries.",
    "heapq": "Heap queue algorithm. It is also known as a priority queue.",
    "bisect": "Bisection algorithms. They keep a list in order without sorting it again.",
    "zlib": "Compression compatible with gzip.",
    "gzip": "Support for gzip files. It opens them as plain files are opened.",
}
QUESTIONS = [Query("q1", "forget the oldest entries"), Query("q2", "keep a list in order")]


@pytest.fixture
def built(minilm, tmp_path):
    documents = [Document(doc, text) for doc, text in TEXTS.items()]
    build_index(documents, out=tmp_path / "ix", encoder=minilm)
    return tmp_path / "ix"


def answers(index, minilm, state=None):
    spec = f"{index}@{state}" if state else index
    return open_retriever(spec, minilm).search(QUESTIONS, 5)


def test_a_blend_is_added_once_and_comes_out_again(built, minilm):
    before = answers(built, minilm)
    result = blend_index(built, encoder=minilm)
    summary = result.summary
    assert summary["documents"] == {"total": 5, "with_views": 4, "without": 1, "joined": 0}
    assert summary["views"] == 9
    after = answers(built, minilm)
    assert after != before
    assert answers(built, minilm, f"before:{result.remedy}") == before
    again = blend_index(built, encoder=minilm)
    assert (again.remedy, again.summary["added"]) == (result.remedy, False)
    assert [r["kind"] for r in list_remedies(built)] == ["blend"]
    assert rollback(built, result.remedy)["views_removed"] == 9
    assert answers(built, minilm) == before
    assert blend_index(built, encoder=minilm).summary["added"]
    assert answers(built, minilm) == after
    with pytest.raises(InputError, match="every part off"):
        blend_index(built, Blend(weight=1, bm25=0), encoder=minilm)
