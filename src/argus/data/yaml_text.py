"""YAML without its traps: a small subset, and where in the file every value stands.

Read are mappings with text keys, lists, text, whole numbers, decimals, true, false and null. What
YAML reads otherwise than it looks is refused: a key given twice (the last would win), `NO`, `on`
and `yes` (booleans), 010 and 12:30 (numbers), 2024-03-01 where text is expected, tags, anchors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import yaml

from argus.errors import InputError, Location

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
"""What the subset holds."""
Place = tuple[str | int, ...]
"""Keys and positions that lead to a value."""
_KINDS = {
    "bool": "a boolean",
    "int": "a whole number",
    "float": "a number",
    "null": "nothing",
    "timestamp": "a date",
}
_TAG = "tag:yaml.org,2002:"
_NO_DEEPER = 40
_MOST_CHARS = 4 << 20
_MOST_DIGITS = 300
"""Of a whole number: beyond, it is none that a decimal can stand for."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a value stands, how it is spelled, and what YAML takes it for ("" for text)."""

    line: int
    raw: str = ""
    kind: str = ""


def dotted(place: Place) -> str:
    """Return a place as people write it: `rules[0].scope`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def read_yaml(file: Path, text: str) -> tuple[Value, dict[Place, Mark]]:
    """Return the value of a YAML text and the mark of each place in it.

    file: for messages. Raises InputError with file, line and place for what is no YAML, or is not
    of the subset.
    """
    if len(text) > _MOST_CHARS:
        raise InputError(
            f"{len(text):,} characters", expected=f"at most {_MOST_CHARS:,} that a person wrote",
            fix="Check that this is the right file.", where=file,
        )  # fmt: skip
    try:
        _check_depth(text, file)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError, OverflowError) as error:
        raise _broken(error, text, file) from error
    reader = _Reader(file)
    return (None if node is None else reader.value(node, ())), reader.marks


def _check_depth(text: str, file: Path) -> None:
    """Refuse what is nested without end before it is composed, which takes its depth squared."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > _NO_DEEPER + 1:
            raise InputError(
                "nested too deeply", expected=f"at most {_NO_DEEPER} levels", fix="Write it out.",
                where=Location(file, event.start_mark.line + 1),
            )  # fmt: skip


class _Reader:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.marks: dict[Place, Mark] = {}
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, place: Place, line: int | None = None) -> Value:
        """Return the value of a node; line: of its key, where it has one."""
        line = line or node.start_mark.line + 1
        self.marks[place] = Mark(line)
        if id(node) in self._seen:
            raise self._refuse("an anchor is used a second time", "values written out", place, line)
        self._seen.add(id(node))
        if len(place) > _NO_DEEPER:
            raise self._refuse("nested too deeply", f"at most {_NO_DEEPER} levels", place, line)
        kind = node.tag.removeprefix(_TAG)
        if isinstance(node, yaml.MappingNode) and kind == "map":
            return self._mapping(node, place)
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self.value(item, (*place, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and kind == "str":
            return self._text(node.value, place, line)
        if isinstance(node, yaml.ScalarNode) and kind in _KINDS:
            return self._scalar(node, kind, place)
        raise self._refuse(f"tag {node.tag!r}", "plain values without tags", place, line)

    def _mapping(self, node: yaml.MappingNode, place: Place) -> dict[str, Value]:
        mapping: dict[str, Value] = {}
        for key, inner in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode) or key.tag != f"{_TAG}str":
                raw = key.value if isinstance(key, yaml.ScalarNode) else ""
                kind = _KINDS.get(key.tag.removeprefix(_TAG), "no text")
                raise self._refuse(
                    f"key {raw} is {kind} to YAML",
                    "text as key",
                    place,
                    line,
                    fix=f'Quote it: "{raw}".',
                )
            self._text(key.value, place, line)
            if key.value in mapping:
                first = self.marks[(*place, key.value)].line
                raise self._refuse(
                    f"key {key.value!r} is given twice, first on line {first}",
                    "each key once",
                    (*place, key.value),
                    line,
                    fix="Remove or rename one of the two: YAML would silently keep the last.",
                )
            mapping[key.value] = self.value(inner, (*place, key.value), line)
        return mapping

    def _text(self, text: str, place: Place, line: int) -> str:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise self._refuse(
                f"half a surrogate pair (\\u{ord(text[error.start]):04x})",
                "whole Unicode characters",
                place,
                line,
            ) from error
        return text

    def _scalar(self, node: yaml.ScalarNode, kind: str, place: Place) -> Value:
        raw: str = node.value
        line = node.start_mark.line + 1
        self.marks[place] = Mark(line, raw, _KINDS[kind])
        misleading = (kind == "bool" and raw.lower() not in ("true", "false")) or (
            kind == "int" and not re.fullmatch(r"-?(0|[1-9]\d*)", raw)
        )
        if misleading:
            raise self._refuse(
                f"{raw} is {_KINDS[kind]} to YAML",
                "a value that is what it looks like",
                place,
                line,
                fix=f'Quote it: "{raw}".',
            )
        if kind == "int" and len(raw) > _MOST_DIGITS:
            raise self._refuse(
                f"a number of {len(raw):,} digits",
                f"at most {_MOST_DIGITS}",
                place,
                line,
                fix="Quote it if it is a text.",
            )
        if kind == "int":
            return int(raw)
        if kind == "timestamp":
            return raw  # its mark says that it was not quoted
        if kind == "null":
            return None
        if kind == "bool":
            return raw.lower() == "true"
        return self._decimal(raw, place, line)

    def _decimal(self, raw: str, place: Place, line: int) -> float:
        try:
            return float(raw.replace(".inf", "inf").replace(".nan", "nan"))
        except ValueError as error:
            raise self._refuse(
                f"{raw} is a number to YAML",
                "a number such as 0.5",
                place,
                line,
                fix=f'Quote it: "{raw}", or write the number plainly.',
            ) from error

    def _refuse(
        self, got: str, expected: str, place: Place, line: int, fix: str = "Write it out."
    ) -> InputError:
        where = Location(self.file, line, dotted(place) or None)
        return InputError(got, expected=expected, fix=fix, where=where)


def _broken(error: Exception, text: str, file: Path) -> InputError:
    mark = getattr(error, "problem_mark", None)
    line = mark.line + 1 if mark else None
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    written = text.splitlines()[line - 1] if line and line <= len(text.splitlines()) else ""
    fix = "Mend the line; text with : # { [ or quotes in it goes in quotes."
    if "\t" in written[: len(written) - len(written.lstrip())] or "'\\t'" in problem:
        fix = "Indent by spaces: YAML takes no tabs."
    return InputError(
        f"broken YAML ({problem})", expected="YAML", fix=fix, where=Location(file, line)
    )
