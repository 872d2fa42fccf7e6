"""A few documents with profiles, and a tiny model to distil them into."""

from argus.data.types import Document
from argus.scenarios import Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.profiles import STUDENT

TOPICS = ("rain", "iron", "tea", "rope", "salt", "glass", "wool", "clay")


def document(topic: str) -> Document:
    return Document(topic, f"What {topic} is. Use \\frac{{1}}{{2}} of\t{topic}.")


def profiled(topic: str) -> Profiled:
    scenario = Scenario(
        f"A user wants to know what {topic} is.", f"It says what {topic} is: $\\frac{{1}}{{2}}$."
    )
    profile = ScenarioProfile(f"About {topic}", ("what it is",), (scenario,))
    return Profiled(topic, ProfileState.OK, profile, source='{"model": "teacher", "prompt": "p"}')


def noise(topic: str) -> Profiled:
    return Profiled(topic, ProfileState.NOISE, reason="nothing")


DOCUMENTS = [document(topic) for topic in TOPICS]
PROFILES = {topic: profiled(topic) for topic in TOPICS} | {"clay": noise("clay")}
# What a tokenizer is made for.
TEXTS = [STUDENT] * 2 + [d.text for d in DOCUMENTS]
