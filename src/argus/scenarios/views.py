"""From profiles to views of an index. `argus.indexes.views` reads the scenario back."""

from __future__ import annotations

import json
from collections.abc import Iterable

from argus.data.types import View
from argus.indexes.fold import SCENARIO
from argus.scenarios.profile import COMPONENT, Component, Profiled


def scenario_views(
    profiled: Iterable[Profiled], component: Component = COMPONENT, *, label: str = "scenarios"
) -> list[View]:
    """Return one view per distinct text of `component`. Ids `DOC#label-N`, N from 1.

    `source` holds the scenario and where it came from, as JSON.
    """
    return [
        View(f"{p.doc_id}#{label}-{i + 1}", p.doc_id, SCENARIO, text, _source(p, component, i))
        for p in profiled
        if p.profile is not None
        for i, text in p.profile.texts(component).items()
    ]


def _source(profiled: Profiled, component: Component, i: int) -> str:
    profile = profiled.profile
    assert profile is not None
    scenario = profile.scenarios[i]
    values = {
        "component": str(component),
        "scenario": i + 1,
        "main_topic": profile.main_topic,
        "information_need": scenario.information_need,
        "explanation": scenario.explanation,
    }
    by = {"by": profiled.source} if profiled.source else {}
    return json.dumps({**values, **by}, ensure_ascii=False)
