"""Define the profile of a document: its topic, and its scenarios (a need and how it is met).

The types of all `scenarios` modules (SPIKE §3.1). `Component` names the part of a scenario that is
indexed: topic (M), need (I), explanation (E), or several. `argus.scenarios.files` reads and writes
profiles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from argus.errors import InputError


class Component(StrEnum):
    """Indexed part of a scenario: main topic, information need, explanation (SPIKE Figure 6)."""

    M = "M"
    I = "I"  # noqa: E741 - the paper's letter
    E = "E"
    ME = "M+E"
    IE = "I+E"


COMPONENT = Component.ME  # Default component: main topic and explanation (SPIKE).


class ProfileState(StrEnum):
    """How the profile of a document ended."""

    OK = "ok"
    NOISE = "noise"  # The generator found nothing in the document that anyone could need.
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Scenario:
    """One information need that the document meets, and how it meets it."""

    information_need: str
    explanation: str


@dataclass(frozen=True, slots=True)
class ScenarioProfile:
    """The scenarios of one document, as many as it deserves, and at least one."""

    main_topic: str
    key_aspects: tuple[str, ...]
    scenarios: tuple[Scenario, ...]

    def texts(self, component: Component = COMPONENT) -> dict[int, str]:
        """Return the indexed texts, by position of the scenario. Equal texts once.

        M is one text for all. Joined parts stand on lines of their own. An empty one is left out.
        """
        first: dict[str, int] = {}
        for i in range(len(self.scenarios)):
            first.setdefault(self.text(component, i), i)
        return {i: text for text, i in first.items() if text}

    def text(self, component: Component, i: int) -> str:
        """Return the indexed part of the scenario at position i. "" where there is nothing."""
        scenario = self.scenarios[i]
        parts = {
            "M": self.main_topic, "I": scenario.information_need, "E": scenario.explanation,
        }  # fmt: skip
        named = (parts[name] for name in component.split("+"))
        return "\n".join(text for text in named if text)


@dataclass(frozen=True, slots=True)
class Profiled:
    """Outcome of one document.

    profile: only where the state is OK.
    reason: reason for no scenarios, or for noise.
    source: provenance as JSON: model and prompt hash. "" for profiles that were written by hand.
    """

    doc_id: str
    state: ProfileState
    profile: ScenarioProfile | None = None
    reason: str = ""
    source: str = ""


class Need(NamedTuple):
    """An information need: its document, the position of its scenario there, and its text."""

    doc_id: str
    position: int
    text: str


def needs(profiles: Mapping[str, Profiled]) -> list[Need]:
    """Return the information needs of all scenarios, by document id."""
    return [
        Need(doc_id, i, scenario.information_need)
        for doc_id, profiled in sorted(profiles.items())
        if profiled.profile is not None
        for i, scenario in enumerate(profiled.profile.scenarios)
    ]


def component(text: str) -> Component:
    """Return the component of this name, in any case."""
    try:
        return Component(text.upper())
    except ValueError as error:
        raise InputError(
            f"component {text!r}",
            expected=f"one of {', '.join(Component)}",
            fix=f"Leave it out for {COMPONENT}: main topic and explanation.",
            where="--component",
        ) from error
