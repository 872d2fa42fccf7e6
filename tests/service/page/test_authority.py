"""Chains around a record, as of a date, and where the time line draws them."""

from datetime import date

import pytest

from argus.authority.opening import open_authority
from argus.errors import InputError
from argus.service.page.authority import LEFT, RIGHT, WIDTH, chains_around, draw_timeline, heads
from tests.support.superseding import story_source, write_story


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return open_authority(story_source(write_story(tmp_path_factory.mktemp("story")))).authority


def states(authority, as_of, id_="fix-1"):
    chains = chains_around(authority, authority.as_of(as_of), id_)
    return {member["id"]: member["state"] for member in chains["members"]}


def test_a_chain_is_the_same_from_each_of_its_records(authority):
    for one in ("flaw-1", "fix-1", "fix-1b"):
        chains = chains_around(authority, authority, one)
        assert [m["id"] for m in chains["members"]] == ["flaw-1", "fix-1", "fix-1b"]
        assert {(link.superseded, link.superseder) for link in chains["links"]} == {
            ("flaw-1", "fix-1"),
            ("flaw-1", "fix-1b"),
            ("fix-1", "fix-1b"),
        }


def test_states_follow_the_date(authority):
    assert states(authority, "2024-01-01") == dict.fromkeys(
        ("flaw-1", "fix-1", "fix-1b"), "not yet"
    )
    assert states(authority, "2024-01-20")["flaw-1"] == "in force"
    assert states(authority, "2024-02-15") == {
        "flaw-1": "superseded",
        "fix-1": "in force",
        "fix-1b": "not yet",
    }
    assert states(authority, "2024-06-01")["fix-1b"] == "in force"


def test_heads_are_what_is_in_force_and_supersedes(authority):
    assert [(h["id"], h["superseded"]) for h in heads(authority, "")] == [
        ("fix-1b", 2),
        ("fix-3", 1),
    ]
    assert [h["id"] for h in heads(authority, "TOKENS")] == ["fix-3"]
    assert heads(authority, "parser") == []


def test_lanes_run_from_a_record_to_what_supersedes_it(authority):
    chains = chains_around(authority, authority, "fix-1")
    drawing = draw_timeline(chains, (date(2024, 2, 15) - date(1970, 1, 1)).days)
    old, middle, new = [(lane["start"], lane["end"]) for lane in drawing["lanes"]]
    assert old[1] == middle[0] < middle[1] == new[0] < new[1] == WIDTH - RIGHT
    assert LEFT < old[0] < old[1] < drawing["now"] < new[0]
    assert drawing["is_dated"] and len(drawing["arrows"]) == 3 and drawing["ticks"]
    assert draw_timeline(chains, None)["now"] is None


def test_an_unknown_record_is_refused(authority):
    with pytest.raises(InputError, match="no record 'x'"):
        chains_around(authority, authority, "x")
