import json

import pytest

from argus.authority.search import search_authority
from argus.data.types import Document
from argus.encoders import EncoderConfig
from argus.errors import InputError
from argus.indexes.job import build_index
from tests.support.superseding import story_source, write_story

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
    for day, answer in (("2024-01-31", "flaw-1"), ("2024-02-15", "fix-1")):
        assert ids(search_authority(QUESTION, story_source(story, as_of=day)))[0] == answer
    given = search_authority(None, story_source(story), anchor="flaw-1")
    assert ids(given) == ["fix-1b"] and given["retired"] == {"flaw-1": ["fix-1b"]}
    with pytest.raises(InputError, match="no record 'flaw-1x'"):
        search_authority(None, story_source(story), anchor="flaw-1x")
    with pytest.raises(InputError, match="--named with --anchor"):
        search_authority(None, story_source(story), anchor="flaw-1", named=True)
    with pytest.raises(InputError, match="an empty query"):
        search_authority("  ", story_source(story))
    with pytest.raises(InputError, match="--hybrid with the records alone"):
        search_authority("x", story_source(story), hybrid="rrf")


def test_an_index_is_searched_deeper_for_what_is_in_force(tmp_path, minilm):
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
    build_index(documents, out=tmp_path / "index", encoder=EncoderConfig())
    found = search_authority(
        "toll of the bridge", story_source(tmp_path, as_of="2000"),
        index=str(tmp_path / "index"), anchors=5,
    )  # fmt: skip
    assert ids(found) == ["old"]
    with pytest.raises(InputError, match="no document found has a record"):
        other = story_source(write_story(tmp_path / "other"))
        search_authority(QUESTION, other, index=str(tmp_path / "index"))
