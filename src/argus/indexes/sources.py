"""What a view was made of, read back from its source."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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
        values: Mapping[str, Any] = json.loads(view.source)
        return ViewScenario(values["main_topic"], values["information_need"], values["explanation"])
    except (ValueError, KeyError, TypeError):
        return ViewScenario("", "", view.text)
