import pytest

from argus.authority.resolve import Places
from argus.errors import InputError
from argus.workflows.authority_search import search_authority
from tests.support.superseding import ROWS, story_source, write_story

QUESTION = "Does the archive reader write outside of its folder?"


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def ids(found):
    return [hit["id"] for hit in found["results"]]


def test_bm25_over_the_records_finds_the_flaw_and_serves_its_last_fix_with_the_chain(story):
    found = search_authority(QUESTION, story_source(story))
    first = found["results"][0]
    assert first["id"] == "fix-1b" and first["anchor"] == "flaw-1" and first["anchor_rank"] == 1
    assert first["chain"] == [
        {"superseded": "flaw-1", "superseder": "fix-1b", "rule": "fix", "relation": "supersedes",
         "confidence": 1.0, "time": "2024-03-01", "published": None}
    ]  # fmt: skip
    assert "flaw-1" not in ids(found) and found["retired"]["flaw-1"] == ["fix-1b"]
    assert found["ranked_by"] == "bm25 of the records"


def test_as_of_an_earlier_day_the_answer_is_what_stood_then(story):
    then = story_source(story, as_of="2024-01-31")
    assert ids(search_authority(QUESTION, then))[0] == "flaw-1"
    between = story_source(story, as_of="2024-02-15")
    assert ids(search_authority(QUESTION, between))[0] == "fix-1"


def test_vectors_and_fusion_give_anchors_too(story, tmp_path, minilm):
    store = tmp_path / "vectors" / "embeddings"
    dense = search_authority(QUESTION, story_source(story), encoder=minilm, store=store, k=3)
    assert ids(dense)[0] == "fix-1b" and dense["ranked_by"] == "dense of the records"
    assert store.is_dir()
    fused = search_authority(
        QUESTION, story_source(story), encoder=minilm, hybrid="rrf", store=store
    )
    assert ids(fused)[0] == "fix-1b" and fused["ranked_by"].startswith("rrf")


def test_an_index_gives_anchors_too(story, tmp_path, minilm):
    from argus.data.types import Document
    from argus.encoders import EncoderConfig
    from argus.workflows.index import build_index

    documents = [Document(row["_id"], row["text"], row["title"]) for row in ROWS]
    build_index(documents, out=tmp_path / "index", encoder=EncoderConfig(precision="float32"))
    found = search_authority(QUESTION, story_source(story), index=str(tmp_path / "index"))
    assert ids(found)[0] == "fix-1b" and found["ranked_by"] == "dense of index@now"


def test_what_supersedes_may_come_first(story):
    found = search_authority(
        "a fix of the parser stack or predictable tokens", story_source(story), places=Places.FIRST
    )
    replaced = [bool(hit["chain"]) for hit in found["results"]]
    assert replaced == sorted(replaced, reverse=True) and any(replaced) and not all(replaced)


def test_an_empty_question_and_a_fusion_without_vectors_are_refused(story):
    with pytest.raises(InputError, match="an empty query"):
        search_authority("  ", story_source(story))
    with pytest.raises(InputError, match="--hybrid rrf without vectors"):
        search_authority("x", story_source(story), hybrid="rrf")
    with pytest.raises(InputError, match="fusion 'sum'"):
        search_authority("x", story_source(story), encoder="all-MiniLM-L6-v2", hybrid="sum")


def test_nothing_in_force_is_said(story):
    with pytest.raises(InputError, match="no record in force has a text"):
        search_authority(QUESTION, story_source(story, as_of="1999"))
