"""Chains around a record, as of a date, and where the time line draws them."""

import pytest

from argus.authority.opening import open_authority
from argus.errors import InputError
from argus.service.page.authority import chains_around
from tests.support.superseding import story_source, write_story


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return open_authority(story_source(write_story(tmp_path_factory.mktemp("story")))).authority


def states(authority, as_of, id_="fix-1"):
    chains = chains_around(authority, authority.as_of(as_of), id_)
    return {member["id"]: member["state"] for member in chains["members"]}


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


def test_an_unknown_record_is_refused(authority):
    with pytest.raises(InputError, match="no record 'x'"):
        chains_around(authority, authority, "x")
