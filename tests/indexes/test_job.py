import pytest

from argus.data.types import Document, Query
from argus.errors import InputError
from argus.indexes.job import add_documents, build_index, delete_documents
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex

TEXTS = {
    "cat": "Cats purr when they are content.",
    "rock": "The Who are an English rock band formed in London.",
    "atom": "Quantum mechanics describes electrons in atoms.",
    "bread": "Bread is baked from flour, water and yeast.",
}
DOCUMENTS = [Document(i, text) for i, text in TEXTS.items()]


@pytest.fixture(scope="module")
def built(minilm, tmp_path_factory):
    out = tmp_path_factory.mktemp("built") / "idx"
    return build_index([*DOCUMENTS, Document("blank", " ")], out=out, encoder=minilm)


def test_each_document_with_text_is_indexed_by_it_and_a_repeated_build_changes_nothing(
    built, minilm
):
    assert built.summary["documents"] == {"total": 5, "indexed": 4, "no_text": 1, "failed": 0}
    assert {v.doc_id: v.text for v in built.index.snapshot().views} == TEXTS
    version = built.index.version
    again = build_index(DOCUMENTS, out=built.index.path, encoder=minilm)
    assert again.index.version == version
    with pytest.raises(InputError, match="holds an index of 4 other documents"):
        build_index([Document("x", "other")], out=built.index.path, encoder=minilm)


@pytest.mark.parametrize("hybrid", [None, "rrf", "min-max", "dbsf"])
def test_questions_find_their_document(built, minilm, hybrid):
    retriever = IndexRetriever(built.index, minilm, hybrid=hybrid)
    queries = [Query("1", "electrons"), Query("2", "band from London"), Query("3", " ")]
    run = retriever.search(queries, 2)
    assert [next(iter(run[q]), None) for q in "123"] == ["atom", "rock", None]
    assert len(run["1"]) == 2
    name = "dense" if hybrid is None else f"{hybrid}(dense, bm25)"
    assert retriever.name == f"{name} of idx@now"


def test_documents_come_and_go(minilm, tmp_path):
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index
    added = add_documents(index.path, [Document("sun", "The sun is a star.")], encoder=minilm)
    assert added.summary["views"] == 5
    version = added.index.version
    with pytest.raises(InputError, match=r"1 of .* already with another text: 'cat'"):
        add_documents(index.path, [Document("new", "x"), Document("cat", "Dogs.")], encoder=minilm)
    assert ViewIndex.open(index.path).version == version
    removed = delete_documents(index.path, (i for i in ("cat", "sun")))
    assert (removed.summary["documents"]["deleted"], removed.summary["views"]) == (2, 3)
    for ids, message in ([], "no document id"), ("ab", "ids are the text 'ab'"):
        with pytest.raises(InputError, match=message):
            delete_documents(index.path, ids)
