"""Needs that a document would serve: topic, aspects, and pairs of need and explanation (§3.1).

Generators write "The document describes ..." again and again. What explanations of many documents
share tells none of them apart, and moves all of them closer together (docs/results.md). The form
`plain` asks a generator for other beginnings, and leaves out of what is indexed the beginnings that
explanations share all the same. People and models are shown explanations as they were written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated, NamedTuple

from argus.errors import InputError
from argus.settings import Doc


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
    """One information need that the document meets, and how it meets it.

    indexed: indexed part of the explanation (see `in_form`). "" for all of it.
    """

    information_need: str
    explanation: str
    indexed: str = ""


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
        explanation = scenario.indexed or scenario.explanation
        parts = {"M": self.main_topic, "I": scenario.information_need, "E": explanation}
        named = (parts[name] for name in component.split("+"))
        return "\n".join(text for text in named if text)


@dataclass(frozen=True, slots=True)
class Profiled:
    """Outcome of one document.

    profile: only where the state is OK.
    reason: reason for no scenarios, or for noise.
    notes: omissions from an answer that could be used, or of a document that was too long.
    source: provenance as JSON: model and prompt hash. "" for profiles that were written by hand.
    """

    doc_id: str
    state: ProfileState
    profile: ScenarioProfile | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
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


SHARE = 0.1  # Share of the documents with scenarios that must begin alike before it is left out.
LEAST_DOCUMENTS = 5  # That share a beginning, however few documents there are.
MOST_WORDS = 12  # Words of a beginning.
LEAST_WORDS = 3  # That stay of an explanation.

Opening = tuple[str, ...]  # The first words of a text, in lower case.
# Instruction to a generator on the plain form.
GUIDELINE = """\
Begin each explanation with what it is about, in the subject's own words: never with "The \
document", "The text", "It" or a word for what the document does with its subject. No two \
explanations begin alike."""


class Form(StrEnum):
    """How explanations begin."""

    WRITTEN = "written"  # As the generator writes them, and indexed whole (SPIKE).
    # Each in its own words, and indexed without the beginnings that many documents share.
    PLAIN = "plain"


FormSetting = Annotated[
    Form,
    Doc("plain: explanations that do not open alike, indexed without what many open with."),
]


def in_form(profiles: Mapping[str, Profiled], form: Form) -> dict[str, Profiled]:
    """Return profiles that are indexed in a given form. Explanations stay as they are.

    Shared beginnings are counted over these profiles: at least SHARE of those with scenarios, and
    LEAST_DOCUMENTS. So profiles that are added later count among themselves.
    """
    if form is Form.WRITTEN:
        return dict(profiles)
    shared, plain = shared_openings(profiles.values()), dict(profiles)
    for doc_id, profiled in profiles.items():
        if (profile := profiled.profile) is not None:
            scenarios = tuple(
                replace(s, indexed=without_opening(s.explanation, shared))
                for s in profile.scenarios
            )
            plain[doc_id] = replace(profiled, profile=replace(profile, scenarios=scenarios))
    return plain


def shared_openings(profiles: Iterable[Profiled]) -> frozenset[Opening]:
    """Return the beginnings that explanations of many documents have. A document counts once."""
    documents, times = 0, Counter[Opening]()
    for profiled in profiles:
        if profiled.profile is None:
            continue
        documents += 1
        times.update({o for s in profiled.profile.scenarios for o in _openings(s.explanation)})
    least = max(LEAST_DOCUMENTS, SHARE * documents)
    return frozenset(opening for opening, n in times.items() if n >= least)


def without_opening(text: str, shared: frozenset[Opening]) -> str:
    """Return a text less the longest of its beginnings that is shared. LEAST_WORDS stay."""
    words = text.split()
    most = min(len(words) - LEAST_WORDS, MOST_WORDS)
    opening = tuple(word.casefold() for word in words[: max(0, most)])
    n = 0
    while n < len(opening) and opening[: n + 1] in shared:
        n += 1
    return " ".join(words[n:]) if n else text


def _openings(text: str) -> list[Opening]:
    words = tuple(word.casefold() for word in text.split(maxsplit=MOST_WORDS)[:MOST_WORDS])
    return [words[:n] for n in range(1, len(words) + 1)]
