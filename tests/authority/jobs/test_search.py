import json

import pytest

from argus.authority.config import Places
from argus.authority.search import search_authority
from argus.errors import InputError
from tests.support.superseding import ROWS, story_source, write_story

QUESTION = "Does the archive reader write outside of its folder?"


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def ids(found):
    return [hit["id"] for hit in found["results"]]


def test_bm25_finds_the_flaw_and_serves_its_last_fix(story):
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
    from argus.indexes.job import build_index

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


def test_no_question_and_a_fusion_without_vectors_are_refused(story):
    with pytest.raises(InputError, match="an empty query"):
        search_authority("  ", story_source(story))
    with pytest.raises(InputError, match="--hybrid rrf without vectors"):
        search_authority("x", story_source(story), hybrid="rrf")
    with pytest.raises(InputError, match="fusion 'sum'"):
        search_authority("x", story_source(story), encoder="all-MiniLM-L6-v2", hybrid="sum")


def test_nothing_in_force_is_said(story):
    with pytest.raises(InputError, match="no record in force has a text"):
        search_authority(QUESTION, story_source(story, as_of="1999"))


def test_an_index_is_searched_deeper_for_what_is_in_force(tmp_path, minilm):
    from argus.data.types import Document
    from argus.encoders import EncoderConfig
    from argus.indexes.job import build_index

    rows = [{"_id": f"new-{i:02}", "type": "law", "timestamp": "2024-01-01",
             "entities": {"about": f"{i}"}, "text": "The toll of the bridge."}
            for i in range(30)]  # fmt: skip
    rows.append({"_id": "old", "type": "law", "timestamp": "1990-01-01",
                 "entities": {"about": "x"}, "text": "Bread must weigh a pound."})  # fmt: skip
    write_story(tmp_path)
    (tmp_path / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "rules.yaml").write_text(
        "rules: [{superseding: law, superseded: law, scope: [about]}]\n"
    )
    documents = [Document(row["_id"], row["text"]) for row in rows]
    build_index(documents, out=tmp_path / "index", encoder=EncoderConfig(precision="float32"))
    found = search_authority(
        "toll of the bridge", story_source(tmp_path, as_of="2000"),
        index=str(tmp_path / "index"), anchors=5,
    )  # fmt: skip
    assert ids(found) == ["old"]


def test_an_index_of_another_corpus_is_refused(story, index):
    with pytest.raises(InputError, match="no document found has a record"):
        search_authority(QUESTION, story_source(story), index=str(index))


def test_more_results_than_anchors_may_be_asked_for(story):
    found = search_authority("fix flaw release known", story_source(story), k=4, anchors=1)
    assert len(found["results"]) > 1


def test_doubtful_rules_count_only_where_sure_enough(story):
    rules = (
        (story / "rules.yaml").read_text().replace("name: fix", "name: fix\n    confidence: 0.4")
    )
    (story / "rules.yaml").write_text(rules)
    assert ids(search_authority(QUESTION, story_source(story)))[0] == "fix-1b"
    assert ids(search_authority(QUESTION, story_source(story, theta=0.5)))[0] == "flaw-1"
    with pytest.raises(InputError, match=r"--theta: 1\.5"):
        search_authority(QUESTION, story_source(story, theta=1.5))


def test_a_scope_that_other_chains_share_is_told(story):
    rows = [row | {"entities": row["entities"] | {"product": "archiver"}} for row in ROWS]
    (story / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = search_authority(QUESTION, story_source(story))
    assert found["scopes"]["flaw-1"] == {"kappa": 2.0, "phi": 0.5}


def test_what_the_question_names_is_looked_up_on_request(story):
    rows = [row | {"entities": {"cve": f"CVE-2024-000{row['entities']['cve']}"}} for row in ROWS]
    (story / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    question = "Is cve-2024-0003 open?"
    assert ids(search_authority(question, story_source(story))) == []
    found = search_authority(question, story_source(story), named=True)
    assert ids(found) == ["fix-3"] and found["ranked_by"].startswith("scopes named, bm25")
    both = search_authority(f"archive folder, {question}", story_source(story), named=True)
    assert ids(both)[:2] == ["fix-3", "fix-1b"]
