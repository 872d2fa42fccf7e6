import json

import pytest

from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Query, View
from argus.encoders import EncoderConfig
from argus.errors import FingerprintMismatch, InputError
from argus.evaluation.job import evaluate
from argus.evaluation.systems import search_index
from argus.indexes import job
from argus.indexes.job import add_documents, build_index, delete_documents
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.views import ViewIndex
from tests.support.results import shown

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


def test_each_document_with_text_is_indexed_by_its_own_text(built):
    assert shown(built)[0] == "indexed 4 of 5 (1 without text, 0 failed)"
    assert built.summary["documents"] == {"total": 5, "indexed": 4, "no_text": 1, "failed": 0}
    assert {v.doc_id: v.text for v in built.index.snapshot().views} == TEXTS
    stored = json.loads((built.index.path / "summary.json").read_text())["index"]
    assert stored["views"] == 4
    assert "index" in json.loads((built.index.path / "manifest.json").read_text())


def test_a_repeated_build_changes_nothing(built, minilm):
    version = built.index.version
    half = built.index.path / "views.lance" / "_versions" / ".tmpWSBNWw"
    half.write_bytes(b"half")  # of a build that was killed behind its commit
    again = build_index(DOCUMENTS, out=built.index.path, encoder=minilm)
    assert again.index.version == version and not half.exists()
    with pytest.raises(InputError, match="holds an index of 4 other documents"):
        build_index([Document("x", "other")], out=built.index.path, encoder=minilm)


@pytest.mark.parametrize("hybrid", [None, "rrf", "min-max", "dbsf"])
def test_questions_find_their_document(built, minilm, hybrid):
    retriever = IndexRetriever(built.index, minilm, hybrid=hybrid)
    queries = [Query("1", "electrons"), Query("2", "band from London"), Query("3", " ")]
    run = retriever.search(queries, 2)
    assert [next(iter(run[q]), None) for q in "123"] == ["atom", "rock", None]
    assert len(run["1"]) == 2
    assert (
        retriever.name == ("dense" if hybrid is None else f"{hybrid}(dense, bm25)") + " of idx@now"
    )


def test_documents_come_and_go(minilm, tmp_path):
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index
    added = add_documents(index.path, [Document("sun", "The sun is a star.")], encoder=minilm)
    assert added.summary["views"] == 5
    version = added.index.version
    with pytest.raises(InputError, match=r"1 of .* already with another text or vector: 'cat'"):
        add_documents(index.path, [Document("new", "x"), Document("cat", "Dogs.")], encoder=minilm)
    assert ViewIndex.open(index.path).version == version
    removed = delete_documents(index.path, (i for i in ("cat", "sun")))
    assert (removed.summary["documents"]["deleted"], removed.summary["views"]) == (2, 3)
    assert shown(removed)[0] == "deleted 2 documents (2 views)"
    for ids, message in ([], "no document id"), ("ab", "ids are the text 'ab'"):
        with pytest.raises(InputError, match=message):
            delete_documents(index.path, ids)


def test_an_addition_that_was_killed_is_finished_by_the_same_command(minilm, tmp_path, monkeypatch):
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index.path
    more = [Document("sun", "The sun is a star."), Document("blank", " ")]

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(job, "_built", killed)
        with pytest.raises(KeyboardInterrupt):
            add_documents(index, more, encoder=minilm)
    assert "index add" not in json.loads((index / "manifest.json").read_text())
    again = add_documents(index, more, encoder=minilm)
    assert again.summary["documents"] == {"total": 2, "indexed": 1, "no_text": 1, "failed": 0}
    assert again.summary["views"] == 5
    assert "index add" in json.loads((index / "manifest.json").read_text())
    wider = add_documents(index, [*more, Document("new", "Tin is a metal.")], encoder=minilm)
    assert wider.summary["views"] == 6


def test_what_another_process_added_meanwhile_is_done(minilm, tmp_path, monkeypatch):
    out = tmp_path / "idx"
    build_index(DOCUMENTS[:1], out=out, encoder=minilm)
    opened = job.encoder_of
    added = []

    def other_adds_first(*args, **kwargs):
        if not added:
            added.append(True)
            add_documents(out, DOCUMENTS[1:3], encoder=minilm)
        return opened(*args, **kwargs)

    monkeypatch.setattr(job, "encoder_of", other_adds_first)
    result = add_documents(out, DOCUMENTS[1:], encoder=minilm)
    assert {v.doc_id for v in result.index.snapshot().views} == set(TEXTS)


def test_a_deletion_that_was_killed_is_told_and_leaves_nothing_half_written(
    minilm, tmp_path, monkeypatch
):
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index.path
    doc_id = next(iter(TEXTS))

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(ArtifactFolder, "write_results", killed)
        with pytest.raises(KeyboardInterrupt):
            delete_documents(index, [doc_id])
    half = index / "views.lance" / "_versions" / ".tmpjItOjv"  # the name that a kill left
    half.write_bytes(b"half")
    assert delete_documents(index, [doc_id]).summary["views"] == len(TEXTS) - 1
    assert not half.exists()


def test_states_are_searched_by_their_name(minilm, tmp_path):
    index = build_index(DOCUMENTS, out=tmp_path / "i", encoder=minilm).index
    text = "Roger Daltrey and Pete Townshend"
    view = View("rock#1", "rock", "expansion", text)
    index.add([view], minilm.encode_documents([text]), remedy="fix")
    query = [Query("q", text)]
    scores = {
        state: open_retriever(f"{tmp_path / 'i'}{state}", minilm)
        .search(query, 1)["q"]
        .get("rock", 0)
        for state in ("", "@original", "@fix")
    }
    assert scores[""] == scores["@fix"] == pytest.approx(1, abs=1e-5)
    assert scores["@original"] < 0.9
    with pytest.raises(InputError, match="unknown remedy 'none'; expected one of fix"):
        open_retriever(f"{tmp_path / 'i'}@none", minilm)


def test_the_encoder_is_loaded_from_what_the_index_says(tmp_path, minilm):
    build_index(DOCUMENTS, out=tmp_path / "i", encoder=EncoderConfig(precision="float32"))
    retriever = open_retriever(tmp_path / "i")
    assert retriever.encoder.fingerprint == minilm.fingerprint
    other = ViewIndex.create(tmp_path / "other", fingerprint="else", dim=384)
    with pytest.raises(FingerprintMismatch):
        IndexRetriever(other, minilm)
    with pytest.raises(InputError, match="does not name an encoder"):
        open_retriever(tmp_path / "other")


def test_an_index_knows_the_titles_that_its_texts_begin_with(minilm, tmp_path):
    titled = [
        Document("moon", "It pulls the oceans.", "The Moon"),
        Document("sun", "The Sun is a star.", "The Sun"),
        Document("plain", "A text without a title."),
    ]
    index = build_index(titled, out=tmp_path / "i", encoder=minilm).index
    (moon,), (sun,), (plain,) = (index.views_of(d.id) for d in titled)
    assert (moon.text, moon.source) == ("The Moon It pulls the oceans.", "The Moon")
    assert (sun.text, sun.source) == ("The Sun is a star.", "The Sun")
    assert plain.source == ""
    system = search_index("i", IndexRetriever(index, minilm), [], 10)
    assert system.titles == {"moon": "The Moon", "sun": "The Sun"}
    result = evaluate(
        [Query("q", "When does the moon rise?"), Query("p", "Which one causes tides?")],
        {"q": {"moon": 1}, "p": {"moon": 1}},
        out=tmp_path / "e", indexes=[str(index.path)], encoder=minilm,
    )  # fmt: skip
    assert result.summary["implicitness"]["share"] == 0.5, "without --corpus"
