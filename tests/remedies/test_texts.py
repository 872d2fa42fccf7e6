"""Further texts of a file or of a user's code are searched, and are undone like any remedy."""

import pytest

from argus.data.types import Document, Query
from argus.errors import ArgusError, InputError, NothingToMend
from argus.indexes.blend import Blend
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever, search_index
from argus.indexes.views import ViewIndex
from argus.remedies.texts import add_texts
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
    remedy = add_texts(index, "own.py:remedy")
    assert search_index(asked, index)["results"][0]["id"] == "ny" != before
    assert [(r["id"], r["kind"], r["views"]) for r in list_remedies(index)] == [
        (remedy, "texts", 1)
    ]
    assert add_texts(index, "own.py") == remedy
    assert rollback(index, remedy)["views_removed"] == 1
    assert search_index(asked, index)["results"][0]["id"] == before


def test_texts_of_a_file_rank_as_the_formula_says(index, minilm):
    summary = "The Big Apple, where the Yankees play"
    (index.parent / "summaries.jsonl").write_text(f'{{"_id": "ny", "summary": "{summary}"}}\n')
    blend = Blend(weight=0.5, bm25=0)
    add_texts(index, str(index.parent / "summaries.jsonl"), blend=blend)
    asked = minilm.encode_queries(["the Big Apple"])[0]
    own, text, other = minilm.encode_documents(
        [DOCUMENTS[0].content, summary, DOCUMENTS[1].content]
    )
    found = IndexRetriever(ViewIndex.open(index), minilm).search([Query("q", "the Big Apple")], 2)
    expected = 0.5 * asked @ own + 0.5 * max(asked @ own, asked @ text)
    assert found["q"] == pytest.approx({"ny": expected, "cider": asked @ other}, abs=1e-5)
    with pytest.raises(InputError, match=r"no text field.*'a', 'b'"):
        (index.parent / "two.jsonl").write_text('{"_id": "ny", "a": "x", "b": "y"}\n')
        add_texts(index, str(index.parent / "two.jsonl"))


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
        add_texts(index, "own.py:remedy")
    assert list_remedies(index) == [] and ViewIndex.open(index).remedies() == []
