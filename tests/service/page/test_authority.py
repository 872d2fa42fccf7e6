"""Chains around a record, as of a date, and where the time line draws them."""

import pytest

from argus.authority.opening import open_authority
from argus.service.page.authority import chains_around
from tests.support.superseding import story_source, write_story


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return open_authority(story_source(write_story(tmp_path_factory.mktemp("story")))).authority


@pytest.mark.parametrize(
    ("date", "expected"),
    [
        ("2024-01-01", ("not yet", "not yet", "not yet")),
        ("2024-01-20", ("in force", "not yet", "not yet")),
        ("2024-02-15", ("superseded", "in force", "not yet")),
        ("2024-06-01", ("superseded", "superseded", "in force")),
    ],
)
def test_states_follow_the_date(authority, date, expected):
    chains = chains_around(authority, authority.as_of(date), "fix-1")
    states = {member["id"]: member["state"] for member in chains["members"]}
    assert states == dict(zip(("flaw-1", "fix-1", "fix-1b"), expected, strict=True))
