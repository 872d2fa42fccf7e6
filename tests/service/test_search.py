"""Programs search, explain, resolve, and retrieve in the shapes of others."""

from argus.authority.search import search_authority
from tests.support.superseding import story_source

QUESTION = "archives that write outside of their folder"
TEXT = "Release 2.5 Links are checked as well. Replaces 2.4."
"""Of fix-1b, as the index has it."""


def ids(answer):
    return [hit["id"] for hit in answer["results"]]


def test_a_search_serves_what_is_in_force_as_the_command_does(client, story, minilm):
    answer = client.get("/search", params={"query": QUESTION, "k": 3}).json()
    command = search_authority(
        QUESTION, story_source(story), k=3, index=str(story / "index"), encoder=minilm
    )
    assert ids(answer) == [hit["id"] for hit in command["results"]]
    first, same = answer["results"][0], command["results"][0]
    for key in ("anchor", "anchor_rank", "chain", "type", "time", "title"):
        assert first[key] == same[key]
    assert answer["retired"]["flaw-1"] == ["fix-1b"]
    assert client.post("/search", json={"query": QUESTION, "k": 3}).json() == answer


def test_an_earlier_time_is_answered_from_what_held_then(client, story, minilm):
    for date in ("2024-01-15", "2024-02-15", "2024-03-15"):
        answer = client.post("/search", json={"query": QUESTION, "k": 3, "as_of": date}).json()
        command = search_authority(
            QUESTION, story_source(story, as_of=date), k=3, index=str(story / "index"),
            encoder=minilm,
        )  # fmt: skip
        assert answer["as_of"] == date
        assert ids(answer) == [hit["id"] for hit in command["results"]]


def test_what_controls_documents_and_by_which_chain(client):
    body = {"ids": ["flaw-1", "fix-1b", "nobody"], "as_of": "2024-02-15"}
    flaw, fix, nobody = client.post("/resolve", json=body).json()["documents"]
    assert [one["id"] for one in flaw["controlling"]] == ["fix-1"]
    assert flaw["controlling"][0]["chain"][0]["rule"] == "fix"
    assert not fix["in_force"] and not nobody["known"]


def test_a_vector_store_as_openai_has_it(client):
    url = "/v1/vector_stores/anything/search"
    page = client.post(url, json={"query": [QUESTION], "max_num_results": 2}).json()
    assert page["object"] == "vector_store.search_results.page"
    assert (page["search_query"], page["has_more"]) == ([QUESTION], False)
    first = page["data"][0]
    assert (first["file_id"], first["filename"]) == ("fix-1b", "Release 2.5")
    assert first["content"] == [{"type": "text", "text": TEXT}]
    assert first["attributes"]["in_place_of"] == "flaw-1"
    filtered = client.post(url, json={"query": "x", "filters": {"type": "eq"}})
    assert filtered.status_code == 422 and "filters" in filtered.text
    best = {"query": QUESTION, "ranking_options": {"score_threshold": first["score"]}}
    assert [hit["file_id"] for hit in client.post(url, json=best).json()["data"]] == ["fix-1b"]
