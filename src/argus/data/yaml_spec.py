"""Files in YAML that a person writes, read into pydantic models: each error names line and place.

A model derives from `Strict`; `read_spec` reads a text into one.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from argus.data.yaml_text import Mark, Place, Value, dotted, read_yaml
from argus.errors import InputError, Location

S = TypeVar("S", bound="Strict")


def problem(got: str, expected: str, fix: str, key: str | None = None) -> PydanticCustomError:
    """Return what a validator raises: the parts of an InputError; key: of a mapping, if any."""
    context = {"got": got, "expected": expected, "fix": fix, "key": key}
    return PydanticCustomError("spec", "{got}", context)


def nearest(name: str, known: list[str], otherwise: str = "Remove it, or rename it.") -> str:
    """Return how to mend a name that is not known; otherwise: where none is like it."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else otherwise


class Strict(BaseModel):
    """A mapping of known keys; what is missing or unknown is told with its nearest known name."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", populate_by_name=False, hide_input_in_errors=True
    )
    WHAT: ClassVar[str] = "mapping"

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, data: object) -> object:
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        known = list(fields)
        if not isinstance(data, dict):
            kind = "nothing" if data is None else f"{kind_of(data)}"
            raise problem(kind, f"a {cls.WHAT} with {', '.join(known)}", "Write it as key: value.")
        for key in data:
            if key not in fields:
                raise problem(
                    f"unknown key {key!r}",
                    f"in a {cls.WHAT}: {', '.join(known)}",
                    nearest(key, [name for name in known if name not in data]),
                    key,
                )
        for name, field in fields.items():
            if field.is_required() and name not in data:
                raise problem(
                    f"no {name!r}", f"in a {cls.WHAT}: {field.description}", "Add the key."
                )
        return data


def kind_of(value: object) -> str:
    """Return what a value of a file is called in a message."""
    names = {str: "text", list: "a list", dict: "a mapping", bool: "a boolean"}
    return names.get(type(value), "a number")


def listed(value: object) -> object:
    """Take one for a list of one, and no empty list."""
    if isinstance(value, list):
        if not value:
            raise problem("an empty list", "at least one entry", "Add one, or leave the key out.")
        return value
    return [value]


def text_of(value: object) -> str:
    """Return a text that says something; for validators."""
    if not isinstance(value, str):
        raise problem(kind_of(value), "text", "Quote it.")
    if not value.strip():
        raise problem("empty text", "text that says something", "Write it, or leave the key out.")
    return value


Text = Annotated[str, BeforeValidator(text_of)]
Texts = Annotated[list[Text], BeforeValidator(listed)]


class YamlFile:
    """A file's marks, to say where something in it is wrong."""

    def __init__(self, file: Path, marks: dict[Place, Mark]) -> None:
        self.file, self.marks = file, marks

    def at(self, place: Place) -> Location:
        """Return file, line and dotted place of the value nearest to `place`."""
        place = self.known(place)
        mark = self.marks.get(place)
        return Location(self.file, mark.line if mark else None, dotted(place) or None)

    def error(self, place: Place, got: str, expected: str, fix: str) -> InputError:
        """Return an error about a place; says to quote what YAML took for something else."""
        mark = self.marks.get(self.known(place))
        if mark and mark.kind and expected.startswith("text"):
            got = f"{mark.raw or 'nothing'} is {mark.kind} to YAML"
            fix = f'Quote it: "{mark.raw}".' if mark.raw else "Write it, or remove the key."
        return InputError(got, expected=expected, fix=fix, where=self.at(place))

    def unquoted_date(self) -> Place | None:
        """Return where a date stands without quotes: nothing in a spec is one."""
        return next((p for p, mark in self.marks.items() if mark.kind == "a date"), None)

    def known(self, place: Place) -> Place:
        """Leave out what shorthands add: a single value is checked as a list of one."""
        marked: Place = ()
        for step in place:
            if (*marked, step) in self.marks:
                marked = (*marked, step)
        return marked


def read_spec(
    kind: type[S], text: str, file: Path, under: Callable[[Value], Value] | None = None
) -> tuple[S, YamlFile]:
    """Return what a YAML text says, and where in the file it says so; for `YamlFile.error`.

    under: returns what is checked in place of the text's own value, such as that over defaults.
    Raises InputError with file, line and dotted place for whatever is wrong, with the nearest known
    name for a typo.
    """
    content, marks = read_yaml(file, text)
    where = YamlFile(file, marks)
    if content is None:
        needed = ", ".join(n for n, field in kind.model_fields.items() if field.is_required())
        raise where.error(
            (), "an empty file", f"a {kind.WHAT} with {needed}", f"Write its {needed}."
        )
    date = where.unquoted_date()
    if date is not None:
        raise where.error(date, "", "text", "")
    try:
        return kind.model_validate(under(content) if under else content), where
    except ValidationError as error:
        raise _invalid(error, where) from error


def _invalid(error: ValidationError, where: YamlFile) -> InputError:
    first = error.errors()[0]
    place = where.known(tuple(first["loc"]))
    context = first.get("ctx", {})
    if "got" in context:
        key = context["key"]
        inner = (*place, key) if key and (*place, key) in where.marks else place
        return where.error(inner, context["got"], context["expected"], context["fix"])
    expected = {
        "string_type": "text",
        "dict_type": "a mapping, key: value",
        "list_type": "a list",
        "bool_type": "true or false",
        "float_type": "a number",
    }.get(first["type"], first["msg"])
    return where.error(place, "something else", expected, "Mend it.")
