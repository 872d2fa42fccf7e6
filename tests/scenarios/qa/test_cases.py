import json

import numpy as np

from argus.data.types import State, View
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewScenario
from argus.scenarios.qa.cases import Gold, Retrieved, cases, context_hit
from argus.scenarios.qa.judge import Arm, Question

QUESTION = Question("q", "Why?", "Because.")


def scenario(id_, doc_id, need):
    fields = {"main_topic": "T", "information_need": need, "explanation": f"On {need}."}
    return View(id_, doc_id, "scenario", need, json.dumps(fields))


VIEWS = [
    View("a", "a", "original", "Text of a."),
    View("b", "b", "original", "Text of b."),
    scenario("a#1", "a", "near"),
    scenario("a#2", "a", "far"),
    scenario("a#3", "a", "near, too"),
]
VECTORS = np.array([[1, 0], [0, 1], [0.6, 0.8], [0.8, 0.6], [0.6, 0.8]], np.float32)
UP = np.array([0, 1], np.float32)


SNAPSHOT = Snapshot.of(VIEWS, VECTORS)


def test_the_nearest_scenario_or_first_of_equals_is_shown():
    hit = context_hit(SNAPSHOT, "a", UP)
    assert hit.text == "Text of a."
    assert hit.scenarios == (ViewScenario("T", "near", "On near."),)
    other = context_hit(SNAPSHOT, "a", np.array([1, 0], np.float32))
    assert other.scenarios[0].information_need == "far"
    assert context_hit(SNAPSHOT, "b", UP).scenarios == ()


def test_an_empty_ranking_failed_and_no_gold_is_not_applicable():
    retrieved = Retrieved({"q": UP}, {arm: {"q": {}} for arm in Arm}, {})
    found = cases([QUESTION], retrieved, Gold({}, {}), SNAPSHOT, k=10, max_chars=1000)
    assert [(c.arm.is_oracle, c.state, c.reason) for c in found] == [
        *[(False, State.FAILED, "nothing was retrieved")] * 3,
        *[(True, State.NOT_APPLICABLE, "no relevant document is known, or none is in the index")]
        * 2,
    ]
