"""What a view was made of, read back from its source."""

from __future__ import annotations

from dataclasses import dataclass

from argus.data.reading import parse_json
from argus.data.types import View


@dataclass(frozen=True, slots=True)
class ViewScenario:
    """The scenario behind a view, as a person or a language model is shown it."""

    main_topic: str
    information_need: str
    explanation: str


def matched_scenario(view: View) -> ViewScenario:
    """Return the scenario of a view; its text as the explanation where the source does not say."""
    try:
        source = parse_json(view.source)
        parts = [source[name] for name in ("main_topic", "information_need", "explanation")]
    except (ValueError, KeyError, TypeError):
        return ViewScenario("", "", view.text)
    if not all(isinstance(part, str) for part in parts):
        return ViewScenario("", "", view.text)
    return ViewScenario(*parts)
