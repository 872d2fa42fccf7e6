"""A remedy of a user's own file adds views, and is undone like any other."""

from __future__ import annotations

import pytest
from argus.remedies.own import add_own

from argus.data.types import Document
from argus.errors import ArgusError, InputError, NothingToMend
from argus.indexes.job import build_index
from argus.indexes.retriever import search_index
from argus.indexes.views import ViewIndex
from argus.remedies.undo import list_remedies, rollback

NICKNAMES = "def remedy(documents): return {'ny': ['The Big Apple, where the Yankees play']}"
DOCUMENTS = [
    Document("ny", "New York is a city in the United States.", "New York"),
    Document("cider", "Cider is made of apples in autumn.", "Cider"),
]


@pytest.fixture
def index(tmp_path, monkeypatch, minilm):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(NICKNAMES)
    build_index(DOCUMENTS, out=tmp_path / "index", encoder="all-MiniLM-L6-v2")
    return tmp_path / "index"


def test_its_texts_bring_their_document_back_until_it_is_undone(index):
    asked = "Where is the Big Apple?"
    before = search_index(asked, index)["results"][0]["id"]
    remedy = add_own(index, "own.py:remedy")
    assert search_index(asked, index)["results"][0]["id"] == "ny" != before
    assert [(r["id"], r["kind"], r["views"]) for r in list_remedies(index)] == [(remedy, "own", 1)]
    assert add_own(index, "own.py") == remedy
    assert rollback(index, remedy)["views_removed"] == 1
    assert search_index(asked, index)["results"][0]["id"] == before


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\n", InputError),
        ("def remedy(documents): return []\n", ArgusError),
        ("def remedy(documents): return {'unknown': ['x']}\n", ArgusError),
        ("def remedy(documents): return {'ny': ['  ']}\n", NothingToMend),
        ("def remedy(documents): raise KeyError('boom')\n", ArgusError),
    ],
)
def test_what_is_no_remedy_changes_nothing(index, code, error):
    (index.parent / "own.py").write_text(code)
    with pytest.raises(error, match=r"own\.py|no view could be made"):
        add_own(index, "own.py:remedy")
    assert list_remedies(index) == [] and ViewIndex.open(index).remedies() == []
