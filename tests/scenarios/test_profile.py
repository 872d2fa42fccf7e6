import pytest

from argus.errors import InputError
from argus.scenarios.profile import Component, Scenario, ScenarioProfile, component

PROFILE = ScenarioProfile("M", ("k",), (Scenario("I1", "E1"), Scenario("I2", "E2")))


def test_each_component_has_its_texts():
    assert {str(c): list(PROFILE.texts(c).values()) for c in Component} == {
        "M": ["M"], "I": ["I1", "I2"], "E": ["E1", "E2"], "M+E": ["M\nE1", "M\nE2"],
        "I+E": ["I1\nE1", "I2\nE2"],
    }  # fmt: skip


def test_components_are_read_in_any_case():
    assert component("m+e") is Component.ME
    assert component("i") is Component.I
    for wrong in ("M+I", "", "M+E+I"):
        with pytest.raises(InputError, match=r"component .*; expected one of M, I, E, M\+E, I\+E"):
            component(wrong)
