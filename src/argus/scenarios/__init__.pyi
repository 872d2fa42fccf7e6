from .profile import (
    Component as Component,
    Profiled as Profiled,
    ProfileState as ProfileState,
    Scenario as Scenario,
    ScenarioProfile as ScenarioProfile,
)
