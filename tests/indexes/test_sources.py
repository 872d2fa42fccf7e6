import json

import pytest

from argus.data.types import View
from argus.indexes.sources import Matched, matched

PARTS = {"main_topic": "Rivers", "information_need": "to swim", "explanation": "It is warm."}


def _view(source):
    return View("d#1", "d", "scenario", "all of it", source)


def test_the_scenario_of_a_view_is_read_from_its_source():
    assert matched(_view(json.dumps(PARTS | {"other": 1}))) == Matched(**PARTS)


@pytest.mark.parametrize(
    "source",
    ["", "{", "[]", "3", json.dumps({"main_topic": "x"}), json.dumps(PARTS | {"explanation": 3})],
)
def test_a_source_that_says_nothing_leaves_the_text(source):
    assert matched(_view(source)) == Matched("", "", "all of it")
