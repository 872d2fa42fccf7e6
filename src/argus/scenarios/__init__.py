"""Scenarios: index what a document would be needed for (SPIKE)."""

from argus.scenarios.profile import Component, Profiled, ProfileState, Scenario, ScenarioProfile

__all__ = ["Component", "ProfileState", "Profiled", "Scenario", "ScenarioProfile"]
