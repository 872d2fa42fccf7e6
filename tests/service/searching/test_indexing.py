"""Documents of a stream enter the index that is searched, and leave it, in the background."""

import json
import shutil
import time

import pytest

from argus.data.types import Document
from argus.indexes.job import add_documents
from argus.indexes.views import ViewIndex
from argus.service.app import create_app
from argus.service.searching.indexing import why_not_indexed
from argus.service.workplace import Workplace, open_workplace
from tests.service.client import Client
from tests.support.superseding import story_source

TEXT = "Certificates of the update server are pinned."
PINNED = {"_id": "fix-9", "type": "patch", "timestamp": "2024-05-01", "entities": {"cve": "9"},
          "title": "Release 3.1", "text": TEXT}  # fmt: skip
GONE = {"op": "delete", "_id": "fix-9"}
QUESTION = {"query": "which release pins the certificates of the update server", "k": 1}


@pytest.fixture
def folder(story, tmp_path):
    return shutil.copytree(story, tmp_path / "story")


def served(folder):
    place = open_workplace([folder], index=str(folder / "index"), authority=story_source(folder))
    return Client(create_app(place))


def take(client, *rows):
    body = "\n".join(map(json.dumps, rows))
    return client.post("/records", content=body).json()


def settled(client):
    until = time.monotonic() + 60
    while (state := client.get("/records/waiting").json())["waiting"]:
        assert time.monotonic() < until, state
        time.sleep(0.02)
    return state


def first(client):
    (hit,) = client.post("/search", json=QUESTION).json()["results"]
    return hit["id"], hit["anchor"]


def test_a_document_that_came_is_found_by_its_own_text_until_it_goes(folder):
    with served(folder) as client:
        before = first(client)
        assert take(client, PINNED)["not_indexed"] is None
        assert settled(client)["held"] == []
        assert first(client) == ("fix-9", "fix-9")
        newer = {**PINNED, "text": f"{TEXT} Twice."}
        take(client, GONE, newer)  # another text of the same document
        settled(client)
        (hit,) = client.post("/search", json=QUESTION).json()["results"]
        assert hit["text"].endswith("Twice.")
        take(client, GONE)
        settled(client)
        assert first(client) == before
    assert "fix-9" not in ViewIndex.open(folder / "index").snapshot()


def test_what_a_service_that_was_killed_left_is_taken_up_by_the_next(folder):
    with served(folder) as client:
        authority = client.app.state.service.authority
        authority.take([PINNED])  # written, and killed before the index was
    assert "fix-9" not in ViewIndex.open(folder / "index").snapshot()
    with served(folder) as client:
        until = time.monotonic() + 60
        while "fix-9" not in ViewIndex.open(folder / "index").snapshot():
            assert time.monotonic() < until
            time.sleep(0.05)
        settled(client)
        assert first(client)[0] == "fix-9"


def test_a_document_that_the_stream_did_not_bring_stays_as_it_is(folder, minilm):
    other = Document("fix-9", "Something else under this id.")
    add_documents(folder / "index", [other], encoder=minilm)
    with served(folder) as client:
        take(client, PINNED, {"op": "delete", "_id": "flaw-2"})
        assert settled(client)["held"] == ["fix-9"]
    snapshot = ViewIndex.open(folder / "index").snapshot()
    assert "flaw-2" in snapshot and other.text in snapshot.columns["text"].to_pylist()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"retriever": "mine.py:retrieve"}, "where it retrieves from"),
        ({"index": None}, "no index"),
        ({"index": "index@original"}, "'original'"),
        ({"index": "/elsewhere/index"}, "outside the folders"),
    ],
)
def test_what_cannot_be_written_is_said(tmp_path, changes, told):
    assert told in why_not_indexed(Workplace((tmp_path,), **changes))


def test_records_that_cannot_be_read_at_start_are_told_and_followed_once_they_can(
    folder, monkeypatch, capsys
):
    monkeypatch.setattr("argus.service.searching.indexing.AGAIN_S", 0.1)
    with served(folder) as client:
        take(client, {**PINNED, "_id": "fix-8", "title": "Other", "text": "Nothing of that."})
        settled(client)
    rules = (folder / "rules.yaml").rename(folder / "away.yaml")
    capsys.readouterr()
    with served(folder) as client:
        until, told = time.monotonic() + 60, ""
        while "records not indexed" not in told:
            assert time.monotonic() < until
            time.sleep(0.02)
            told += capsys.readouterr().err
        assert "rules.yaml" in told
        rules.rename(folder / "rules.yaml")
        assert take(client, PINNED)["not_indexed"] is None
        settled(client)
        assert first(client) == ("fix-9", "fix-9")
