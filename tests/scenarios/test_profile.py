import pytest

from argus.errors import InputError
from argus.scenarios.profile import (
    Component,
    Scenario,
    ScenarioProfile,
    component,
)

PROFILE = ScenarioProfile("M", ("k",), (Scenario("I1", "E1"), Scenario("I2", "E2")))


@pytest.mark.parametrize(
    ("of", "texts"),
    [
        ("M", {0: "M"}),
        ("I", {0: "I1", 1: "I2"}),
        ("E", {0: "E1", 1: "E2"}),
        ("M+E", {0: "M\nE1", 1: "M\nE2"}),
        ("I+E", {0: "I1\nE1", 1: "I2\nE2"}),
    ],
)
def test_each_component_has_its_texts(of, texts):
    assert PROFILE.texts(Component(of)) == texts


def test_components_are_read_in_any_case():
    assert component("m+e") is Component.ME
    assert component("i") is Component.I
    for wrong in ("M+I", "X", "", "M+E+I", "M+"):
        with pytest.raises(InputError, match=r"component .*; expected one of M, I, E, M\+E, I\+E"):
            component(wrong)
