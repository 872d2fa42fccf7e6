"""Profiles on disk: one JSON line per document, `_id, state, main_topic, key_aspects, scenarios`.

The released teacher data (`key_points`; no state) and rows without a state, as people write them,
are read, too. A file holds a row for every document that was tried: what is noise or failed says
why, and counts as a document without scenarios.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from argus.data.documents import file_in, rows_by_document
from argus.data.rows import Row
from argus.data.types import View
from argus.data.writing import write_jsonl
from argus.errors import InputError
from argus.indexes.fold import SCENARIO
from argus.scenarios.profile import (
    COMPONENT,
    Component,
    Profiled,
    ProfileState,
    Scenario,
    ScenarioProfile,
)
from argus.scenarios.schema import ProfileAnswer

FILE = "profiles.jsonl"
_EXAMPLE = (
    '{"_id": "d1", "main_topic": "...", '
    '"scenarios": [{"information_need": "...", "explanation": "..."}]}'
)


def write_profiles(path: Path, profiles: Iterable[Profiled]) -> Path:
    """Write the profiles, whole or not at all. Return the path."""
    write_jsonl(path, map(as_row, profiles))
    return path


def as_row(profiled: Profiled) -> dict[str, Any]:
    """Return one line as an object. Fields that are empty are left out."""
    fields = profile_fields(profiled.profile) if profiled.profile is not None else {}
    rest = {"reason": profiled.reason, "notes": profiled.notes, "source": profiled.source}
    row = {"_id": profiled.doc_id, "state": str(profiled.state), **fields}
    return row | {name: value for name, value in rest.items() if value}


def profile_fields(profile: ScenarioProfile) -> dict[str, Any]:
    """Return a profile as a generator answers with it."""
    return {
        "main_topic": profile.main_topic,
        "key_aspects": list(profile.key_aspects),
        "scenarios": [
            {"information_need": s.information_need, "explanation": s.explanation}
            for s in profile.scenarios
        ],
    }


def read_profiles(path: Path | str, *, coerce_ids: bool = False) -> dict[str, Profiled]:
    """Read profiles by document id: a file, or a folder that holds profiles.jsonl.

    Rows of state ok are validated as a generator's answer is: what cannot be used in one is noted,
    and one of which nothing can be used is FAILED with the reason. Raises InputError, with the
    line, for another file, an unknown state and a document that comes twice.
    """
    path = file_in(Path(path), FILE)
    profiles = {
        doc_id: _profiled(doc_id, row)
        for doc_id, row in rows_by_document(path, coerce_ids=coerce_ids)
    }
    if not profiles:
        raise InputError(
            "no profile", expected=f"lines such as {_EXAMPLE}", fix="Check the path.", where=path
        )
    return profiles


def read_fields(doc_id: str, values: Mapping[str, object], source: str = "") -> Profiled:
    """Return the profile in the fields of a row or an answer. FAILED where nothing can be used."""
    try:
        answer = ProfileAnswer.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(map(str, first["loc"]))
        reason = f"{place}: {first['msg']}" if place else first["msg"]
        return Profiled(doc_id, ProfileState.FAILED, None, reason, source=source)
    return from_answer(doc_id, answer, source=source)


def from_answer(
    doc_id: str, answer: ProfileAnswer, *, notes: tuple[str, ...] = (), source: str = ""
) -> Profiled:
    """Return the outcome of a document whose answer was valid."""
    if answer.noise:
        reason = "the generator found nothing that anyone could need"
        return Profiled(doc_id, ProfileState.NOISE, None, reason, notes, source)
    profile, left_out = answer.profile()
    return Profiled(doc_id, ProfileState.OK, profile, "", notes + left_out, source)


def _profiled(doc_id: str, row: Row) -> Profiled:
    values = row.values
    state = _state(row)
    reason, source = str(values.get("reason") or ""), str(values.get("source") or "")
    if state is not ProfileState.OK:
        return Profiled(doc_id, state, None, reason, _notes(values), source)
    if isinstance(values.get("scenarios"), list) and values.get("state"):
        trusted = _as_written(doc_id, row, source)
        if trusted is not None:
            return trusted
    return read_fields(doc_id, values, source)


def _as_written(doc_id: str, row: Row, source: str) -> Profiled | None:
    """Return a row that `write_profiles` wrote. None where it was changed since."""
    values = row.values
    try:
        scenarios = tuple(
            Scenario(s["information_need"], s["explanation"]) for s in values["scenarios"]
        )
        aspects = tuple(values["key_aspects"])
        texts = [values["main_topic"], *aspects]
    except (KeyError, TypeError):
        return None
    texts += [text for s in scenarios for text in (s.information_need, s.explanation)]
    whole = all(isinstance(text, str) for text in texts)
    if (
        not scenarios
        or not whole
        or not all(s.information_need.strip() and s.explanation.strip() for s in scenarios)
    ):
        return None
    profile = ScenarioProfile(values["main_topic"], aspects, scenarios)
    return Profiled(doc_id, ProfileState.OK, profile, "", _notes(values), source)


def _notes(values: Mapping[str, object]) -> tuple[str, ...]:
    notes = values.get("notes")
    return tuple(map(str, notes)) if isinstance(notes, list) else ()


def _state(row: Row) -> ProfileState:
    state = row.values.get("state")
    try:
        return ProfileState(state) if state else ProfileState.OK
    except ValueError as error:
        raise InputError(
            f"state {state!r}",
            expected=f"one of {', '.join(ProfileState)}",
            fix="Leave it out for profiles written by hand.",
            where=row.at("state"),
        ) from error


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
