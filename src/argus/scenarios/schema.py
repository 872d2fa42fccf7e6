"""The answer of a generator as a schema, and the usable part of an answer.

Small models answer in many shapes: needs and explanations as one object (step 3 of the paper's
prompt), "key points" for aspects, a need without explanation, the same need again and again. What
can be used is kept and the rest is named. An answer with nothing to use fails with the reasons.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator, model_validator

from argus.scenarios.profile import Scenario, ScenarioProfile

REPETITION = 4.0
# Texts of so many characters that zlib makes so many times shorter repeat themselves: prose of a
# paragraph comes to 2 at most, a phrase in a loop to 10 and more.
REPETITION_CHARS = 160
_PROBE_CHARS = 12
MOST_SCENARIOS = 64  # Scenarios of one document. Teacher profiles have 1 to 6. Each becomes a view.


class ScenarioAnswer(BaseModel):
    """One need and its explanation, as a generator writes them."""

    model_config = ConfigDict(str_strip_whitespace=True)

    information_need: str = Field(
        validation_alias=AliasChoices("information_need", "need", "information need"),
        description='Begins "A user wants to know".',
    )
    explanation: str = Field(default="", description="How the document fulfils the need.")

    @field_validator("explanation", mode="before")
    @classmethod
    def _absent(cls, value: object) -> object:
        return "" if value is None else value


class ProfileAnswer(BaseModel):
    """The whole answer: SPIKE §3.1, or that the document is noise."""

    model_config = ConfigDict(str_strip_whitespace=True)

    noise: bool = Field(
        default=False, description="True only if nobody could need anything in the document."
    )
    main_topic: str = Field(
        default="", validation_alias=AliasChoices("main_topic", "main topic", "Main Topic")
    )
    key_aspects: list[str] = Field(
        default_factory=list,
        validation_alias=AliasChoices("key_aspects", "key_points", "key aspects", "Key Aspects"),
    )
    scenarios: list[ScenarioAnswer] = Field(default_factory=list)

    @field_validator("scenarios", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """Read `{need: explanation}`, the format of the paper's third step, too."""
        if isinstance(value, dict):
            return [{"information_need": n, "explanation": e} for n, e in value.items()]
        return [] if value is None else value

    @model_validator(mode="after")
    def _some(self) -> ProfileAnswer:
        if self.noise:
            return self
        left_out = []
        for item in _usable(self.scenarios):
            if isinstance(item, Scenario):
                return self
            left_out.append(item)
        reasons = "; ".join(left_out[:3]) or "the list of scenarios is empty"
        raise ValueError(f"no scenario that can be used ({reasons})")

    def profile(self) -> tuple[ScenarioProfile, tuple[str, ...]]:
        """Return the usable part, and the omissions."""
        items = list(_usable(self.scenarios))
        usable = [item for item in items if isinstance(item, Scenario)]
        first = tuple(usable[:MOST_SCENARIOS])
        aspects = tuple(dict.fromkeys(a.strip() for a in self.key_aspects if a.strip()))
        left_out = [item for item in items if isinstance(item, str)]
        if len(usable) > len(first):
            left_out.append(f"{len(usable) - len(first)} scenarios beyond the first {len(first)}")
        topic = self.main_topic
        if repeats_itself(topic):
            topic, left_out = "", [*left_out, "the main topic repeats itself"]
        elif not topic:
            left_out.append("there is no main topic")
        return ScenarioProfile(topic, aspects, first), tuple(left_out)


def _usable(scenarios: list[ScenarioAnswer]) -> Iterator[Scenario | str]:
    """Yield each scenario that can be used, and for each other one why it cannot."""
    earlier: set[str] = set()
    for i, scenario in enumerate(scenarios, 1):
        need, explanation = scenario.information_need, scenario.explanation
        texts = {" ".join(text.casefold().split()) for text in (need, explanation)}
        if not need:
            yield f"scenario {i} has no information need"
        elif not explanation:
            yield f"scenario {i} has a need without explanation"
        elif repeats_itself(need) or repeats_itself(explanation):
            yield f"scenario {i} repeats itself"
        elif texts & earlier:
            yield f"scenario {i} repeats an earlier one"
        else:
            yield Scenario(need, explanation)
        earlier |= texts - {""}


def repeats_itself(text: str) -> bool:
    """Whether a text is a phrase in a loop. In any script, with or without spaces."""
    if len(text) < REPETITION_CHARS:
        return False
    probes = (text[len(text) // 2 :][:_PROBE_CHARS], text[-_PROBE_CHARS:])
    if all(text.count(probe) < REPETITION - 1 for probe in probes):
        return False  # whatever is in a loop stands in the middle or at the end (much faster)
    raw = text.encode("utf-8", "replace")
    return len(raw) > REPETITION * len(zlib.compress(raw))
