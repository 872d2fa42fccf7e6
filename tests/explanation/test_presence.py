import json
from dataclasses import replace

from argus.data import Document, View
from argus.explanation.job import explain
from argus.explanation.presence import near_ids
from argus.explanation.types import Cause, Verdict
from argus.indexes.job import add_documents, build_index
from argus.indexes.retriever import IndexRetriever


def test_a_missing_document_is_named_with_ids_like_it(of, retriever):
    found = explain("Who was Teutberga?", "W2_0000", retriever)
    absent = of(found, Cause.ABSENT)
    assert found.cause is Cause.ABSENT and found.standing.dense.rank is None
    assert absent.evidence["near_ids"][0] == "w2-0000"
    assert "Did you mean 'w2-0000'?" in absent.advice
    others = [f for f in found.findings if f.cause in (Cause.VECTOR, Cause.HUBS, Cause.LEXICAL)]
    assert all(f.state is Verdict.UNCHECKED for f in others)


def test_a_named_corpus_tells_no_text_from_not_there(of, minilm, tmp_path):
    rows = [{"_id": "a", "text": "Bread rises."}, {"_id": "b", "text": " "}, {"_id": "c",
            "text": "Tides fall."}]  # fmt: skip
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    index = build_index(corpus, out=tmp_path / "idx", encoder=minilm).index
    index.delete_documents(["c"])
    retriever = IndexRetriever(index, minilm)
    summaries = {d: explain("bread?", d, retriever).verdict for d in ("b", "c", "zzz")}
    assert "without text" in summaries["b"]
    assert "deleted" in summaries["c"]
    assert "not in the corpus either" in summaries["zzz"]
    corpus.unlink()
    gone = of(explain("bread?", "b", retriever), Cause.ABSENT)
    assert gone.summary == "it is not in the index" and "is gone" in gone.evidence["corpus"]


def test_a_document_that_came_after_a_remedy_is_not_in_its_state(indexed, of, minilm, tmp_path):
    documents = [Document("a", "Bread rises."), Document("b", "Tides fall.")]
    retriever = indexed(
        tmp_path / "idx", documents, minilm.encode_documents([d.text for d in documents]), minilm
    )
    view = View("a#x", "a", "expansion", "Yeast makes bread rise.")
    for remedy, id_ in (("r1", "a#x"), ("r2", "a#y")):
        retriever.index.add(
            [replace(view, id=id_)], minilm.encode_documents([view.text]), remedy=remedy
        )
        if remedy == "r1":
            add_documents(tmp_path / "idx", [Document("c", "Kings castle.")], encoder=minilm)
            retriever.index.refresh()
    found = explain("castling", "c", IndexRetriever(retriever.index, minilm, as_of="r1"))
    assert found.cause is Cause.ABSENT and "not yet in the state 'r1'" in found.verdict
    assert of(found, Cause.ABSENT).evidence["first_state_that_holds_it"] == "r2"
    assert explain("castling", "c", retriever).came_back
    view_asked = explain("yeast", "a#x", retriever)
    assert "a view of document 'a'" in view_asked.verdict


def test_near_ids_of_a_large_index_are_found_among_those_alike():
    ids = [f"doc-{i:06}" for i in range(60_000)]
    assert near_ids("DOC-001234", ids)[0] == "doc-001234"
    assert near_ids("doc-0012345", ids)
    assert near_ids("", ids) == []
