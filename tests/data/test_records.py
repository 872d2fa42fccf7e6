"""A record comes back from JSON, or the error names the place that does not fit."""

import pytest
from typing_extensions import TypedDict

from argus.data.records import read_record
from argus.errors import InputError, Location


class Count(TypedDict):
    n: int


@pytest.mark.parametrize(
    ("value", "section", "field"),
    [([], "", None), ([], "audit", "audit"), ({"n": "1"}, "", "n"), ({}, "audit", "audit.n")],
)
def test_the_place_that_does_not_fit_is_named(tmp_path, value, section, field):
    path = tmp_path / "summary.json"
    with pytest.raises(InputError) as error:
        read_record(Count, value, where=path, section=section)
    assert error.value.where == Location(path, field=field)


def test_unknown_keys_are_kept(tmp_path):
    value = {"n": 1, "more": "x"}
    assert read_record(Count, value, where=tmp_path) is value
