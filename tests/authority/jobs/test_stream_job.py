"""Changes from a file, and the cached answers that they make stale."""

import json

import pytest

from argus.authority.stream import stream_authority
from argus.errors import InputError
from tests.support.superseding import ROWS, RUN, story_source, write_story

FIX_2 = {"_id": "fix-2", "type": "patch", "timestamp": "2024-05-01", "entities": {"cve": "2"}}


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def make(folder, *rows, **changes):
    file = folder / "changes.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return stream_authority(file, story_source(folder, **changes), RUN)


def test_an_insertion_names_what_it_supersedes_and_what_is_stale(story):
    summary = make(story, FIX_2)
    (change,) = summary["changes"]
    assert change == {
        "op": "insert", "record": "fix-2", "superseded": ["flaw-2"], "reactivated": [],
        "stale": ["archive", "parser"],
    }  # fmt: skip
    now = {answer["query_id"]: answer["controlling"] for answer in summary["stale"]}
    assert now["parser"] == ["fix-2"]
    assert set(now["archive"]) == {"fix-1b", "fix-2", "fix-3"}
    assert (summary["records"], summary["cached"]) == (7, 4)


@pytest.mark.parametrize(
    ("row", "line", "field"),
    [
        ({"op": "remove", "_id": "fix-1"}, 1, "op"),
        ({"op": "delete", "_id": "nowhere"}, 1, None),
        (ROWS[0], 1, None),
        ({"_id": "new"}, 1, None),
    ],
)
def test_changes_that_cannot_be_made_name_their_row(story, row, line, field):
    with pytest.raises(InputError) as error:
        make(story, row)
    assert (error.value.where.line, error.value.where.field) == (line, field)
