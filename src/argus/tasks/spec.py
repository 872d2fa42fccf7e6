"""How a task is named: `KIND:PLACE,setting=value`, or the place alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from argus.errors import InputError
from argus.settings import Setting, settings_of

C = TypeVar("C")
YES_OR_NO = {"yes": True, "no": False}


@dataclass(frozen=True)
class TaskSpec:
    """A task by its name. kind: "" where its place has to tell."""

    kind: str
    place: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        parts = [f"{self.kind}:{self.place}" if self.kind else str(self.place)]
        return ",".join([*parts, *(f"{key}={value}" for key, value in self.settings.items())])


def parse_task_spec(text: str | Path, kinds: Mapping[str, object]) -> TaskSpec:
    """Parse a name. Raise InputError for a setting that stands twice or has no value.

    A path that is there as it stands, with its commas and colons, is that path.
    """
    name = str(text)
    if Path(name).exists():
        return TaskSpec("", Path(name))
    kind, colon, rest = name.partition(":")
    if not colon or kind not in kinds:
        kind, rest = "", name
    place, *parts = rest.split(",")
    while parts and "=" not in parts[0]:  # a comma of the path's own
        place += "," + parts.pop(0)
    settings: dict[str, str] = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals or not value or key in settings:
            raise InputError(
                f"{part!r}", expected="setting=value, each setting once",
                fix="Correct it, or leave it out.", where=name,
            )  # fmt: skip
        settings[key] = value
    return TaskSpec(kind, Path(place), settings)


def config_of(config: type[C], spec: TaskSpec) -> C:
    """Return a reader's config with the settings of a spec. Raise InputError for unknown ones."""
    settings = {setting.name: setting for setting in settings_of(config)}
    unknown = next((key for key in spec.settings if key not in settings), None)
    if unknown is not None:
        raise InputError(
            f"setting {unknown!r}",
            expected=f"one of {', '.join(settings)}" if settings else "none",
            fix="Correct it, or leave it out.",
            where=str(spec),
        )
    values = {key: _value(settings[key], text, spec) for key, text in spec.settings.items()}
    return config(**values)


def _value(setting: Setting, text: str, spec: TaskSpec) -> object:
    if setting.kind is bool:
        if text not in YES_OR_NO:
            raise InputError(
                f"{setting.name}={text}", expected="yes or no", fix="Correct it.", where=str(spec)
            )
        return YES_OR_NO[text]
    if setting.kind is Path:
        return Path(text)
    if Path(text).name != text:
        raise InputError(
            f"{setting.name}={text} leads out of the task's folder",
            expected=f"a name in {spec.place} ({setting.text.rstrip('.')})",
            fix="Leave the folders out.", where=str(spec),
        )  # fmt: skip
    return text
