from argus.data.types import View
from argus.indexes.views import ViewScenario, matched_scenario
from argus.scenarios.profile import Component, Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.views import scenario_views

PROFILE = ScenarioProfile("M", (), (Scenario("I1", "E1"), Scenario("I2", "E2")))


def test_a_view_per_scenario_leads_back_to_it():
    made = scenario_views([Profiled("d", ProfileState.OK, PROFILE, source="by")], label="r")
    assert [(v.id, v.doc_id, v.kind, v.text) for v in made] == [
        ("d#r-1", "d", "scenario", "M\nE1"),
        ("d#r-2", "d", "scenario", "M\nE2"),
    ]
    assert matched_scenario(made[1]) == ViewScenario("M", "I2", "E2")


def test_one_main_topic_is_one_view_and_no_profile_none():
    failed = Profiled("f", ProfileState.FAILED, reason="x")
    assert scenario_views([failed]) == []
    assert len(scenario_views([Profiled("d", ProfileState.OK, PROFILE)], Component.M)) == 1


def test_a_view_of_another_program_is_shown_by_its_text():
    view = View("v", "d", "scenario", "text", "made elsewhere")
    assert matched_scenario(view) == ViewScenario("", "", "text")
