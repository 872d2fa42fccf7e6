import json

import pytest

from argus.data.types import View
from argus.indexes.sources import ViewScenario, matched_scenario

PARTS = {"main_topic": "Rivers", "information_need": "to swim", "explanation": "It is warm."}


def _view(source):
    return View("d#1", "d", "scenario", "all of it", source)


def test_the_scenario_of_a_view_is_read_from_its_source():
    assert matched_scenario(_view(json.dumps(PARTS | {"other": 1}))) == ViewScenario(**PARTS)


@pytest.mark.parametrize(
    "source",
    ["", "{", "[]", "3", json.dumps({"main_topic": "x"}), json.dumps(PARTS | {"explanation": 3})],
)
def test_a_source_that_says_nothing_leaves_the_text(source):
    assert matched_scenario(_view(source)) == ViewScenario("", "", "all of it")
