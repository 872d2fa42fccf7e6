"""Programs search, explain, resolve, and retrieve in the shapes of others."""

import pytest

from argus.authority.search import search_authority
from tests.support.superseding import story_source

QUESTION = "archives that write outside of their folder"
# Of fix-1b, as the index has it.
TEXT = "Release 2.5 Links are checked as well. Replaces 2.4."


@pytest.mark.parametrize("date", [None, "2024-01-15", "2024-02-15", "2024-03-15"])
def test_a_search_serves_what_is_in_force_as_the_command_does(client, story, minilm, date):
    asked = {"query": QUESTION, "k": 3} | ({"as_of": date} if date else {})
    answer = client.post("/search", json=asked).json()
    source = story_source(story, **({"as_of": date} if date else {}))
    command = search_authority(QUESTION, source, k=3, index=str(story / "index"), encoder=minilm)[
        "results"
    ]
    for key in ("id", "anchor", "anchor_rank", "chain", "type", "time", "title"):
        assert [hit[key] for hit in answer["results"]] == [hit[key] for hit in command]
    assert date is None or answer["as_of"] == date
    assert date or answer["retired"]["flaw-1"] == ["fix-1b"]
    assert client.get("/search", params=asked).json() == answer


def test_what_controls_documents_and_by_which_chain(client):
    body = {"ids": ["flaw-1", "fix-1b", "nobody"], "as_of": "2024-02-15"}
    flaw, fix, nobody = client.post("/resolve", json=body).json()["documents"]
    assert [one["id"] for one in flaw["controlling"]] == ["fix-1"]
    assert flaw["controlling"][0]["chain"][0]["rule"] == "fix"
    assert not fix["in_force"] and not nobody["known"]
