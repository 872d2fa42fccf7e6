"""Read a YAML file that a person wrote into a pydantic model. Errors name file, line and place.

`read_spec`: a text and a model that derives from `Strict` -> the model. Rules of supersession and
HTTP endpoints are read so. Values are what they look like, as in YAML 1.2: `true`, `5`, `0.5` and
`null` are no text, and `NO`, `010`, `12:30` and `2024-03-01` are. Every key is text. A key that is
given twice, tags and anchors are refused.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from argus.data.reading import damage
from argus.errors import InputError, Location

S = TypeVar("S", bound="Strict")
Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"
Place = tuple[str | int, ...]  # keys and positions that lead to a value
TAG = "tag:yaml.org,2002:"
EXPECTED = {  # in the words of errors, by pydantic's types of errors
    "string_type": "text",
    "dict_type": "a mapping, key: value",
    "list_type": "a list",
    "bool_type": "true or false",
    "float_type": "a number",
}
SCALARS: dict[str, Callable[[str], Value]] = {
    "str": str,
    "null": lambda _: None,
    "bool": lambda raw: {"true": True, "false": False}[raw.lower()],
    "int": int,
    "float": lambda raw: float(raw.replace(".inf", "inf").replace(".nan", "nan")),
}


class _Loader(yaml.SafeLoader):
    """A scalar without quotes is text, unless one of the patterns below fits the whole of it."""

    yaml_implicit_resolvers: ClassVar[dict[str, Any]] = {}


for _kind, _first, _pattern in (
    ("null", ["~", "n", "N", ""], "~|null|Null|NULL|"),
    ("bool", list("tTfF"), "true|True|TRUE|false|False|FALSE"),
    ("int", list("-0123456789"), r"-?(?:0|[1-9]\d{0,300})"),
    ("float", list("-+.0123456789"),
     r"[-+]?(?:0|[1-9]\d{0,300})\.\d{0,300}(?:[eE][-+]\d{1,300})?|[-+]?\.inf|\.nan"),
):  # fmt: skip
    _Loader.add_implicit_resolver(TAG + _kind, re.compile(rf"(?:{_pattern})\Z"), _first)


class YamlFile:
    """A YAML text: its value, and the line of each part of it, for errors.

    Raises InputError with file, line and place for text that is no YAML, or outside of the subset.
    """

    def __init__(self, file: Path, text: str) -> None:
        self.file = file
        self.lines: dict[Place, int] = {}
        self._seen: set[int] = set()
        try:
            node = yaml.compose(text, Loader=_Loader)
            self.value = None if node is None else self._read(node, ())
        except (yaml.YAMLError, RecursionError, LookupError, ValueError, OverflowError) as error:
            mark = getattr(error, "problem_mark", None)
            got = f"broken YAML ({getattr(error, 'problem', None) or damage(error)})"
            fix = "Mend the line: indent by spaces, and quote text with : # { [ or quotes in it."
            where = Location(file, mark.line + 1 if mark else None)
            raise InputError(got, expected="YAML", fix=fix, where=where) from error

    def _read(self, node: yaml.Node, place: Place, line: int | None = None) -> Value:
        kind, out = node.tag.removeprefix(TAG), "Write it out."
        self.lines[place] = line or node.start_mark.line + 1
        if id(node) in self._seen:
            raise self.error(place, "an anchor is used a second time", "values written out", out)
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode) and kind == "seq":
            return [self._read(item, (*place, i)) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode) and kind in SCALARS:
            return SCALARS[kind](node.value)
        if not isinstance(node, yaml.MappingNode) or kind != "map":
            raise self.error(place, f"tag {node.tag!r}", "plain values without tags", out)
        values: dict[str, Value] = {}
        for key, inner in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise self.error(place, "a list or a mapping as key", "text as key", "Name it.")
            line, here = key.start_mark.line + 1, (*place, key.value)
            if key.value in values:
                got = f"key {key.value!r} is given twice, first on line {self.lines[here]}"
                self.lines[here] = line
                raise self.error(here, got, "each key once", "Remove or rename one of the two.")
            values[key.value] = self._read(inner, here, line)
        return values

    def at(self, place: Place) -> Location:
        """Return file, line and dotted place of the value nearest to `place`."""
        place = self.known(place)
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)
        dotted = "".join(steps).removeprefix(".")  # as people write it: rules[0].scope
        return Location(self.file, self.lines.get(place), dotted or None)

    def error(self, place: Place, got: str, expected: str, fix: str) -> InputError:
        """Return an error about a place."""
        return InputError(got, expected=expected, fix=fix, where=self.at(place))

    def known(self, place: Place) -> Place:
        """Return a place without the steps of shorthands, such as one value as a list of one."""
        known: Place = ()
        for step in place:
            if (*known, step) in self.lines:
                known = (*known, step)
        return known


def problem(got: str, expected: str, fix: str, key: str | None = None) -> PydanticCustomError:
    """Return the error of a validator: the parts of an InputError. key: of a mapping, if any."""
    context = {"got": got, "expected": expected, "fix": fix, "key": key}
    return PydanticCustomError("spec", "{got}", context)


def nearest(name: str, known: list[str], otherwise: str = "Remove it, or rename it.") -> str:
    """Return the way to mend an unknown name. otherwise: where no known one is like it."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else otherwise


class Strict(BaseModel):
    """A mapping of known keys. An error names a missing key, or the nearest to an unknown one."""

    model_config = ConfigDict(
        strict=True, frozen=True, extra="forbid", populate_by_name=False, hide_input_in_errors=True
    )
    WHAT: ClassVar[str] = "mapping"

    @model_validator(mode="before")
    @classmethod
    def _keys(cls, data: object) -> object:
        fields = {field.alias or name: field for name, field in cls.model_fields.items()}
        named = ", ".join(fields)
        if not isinstance(data, dict):
            raise problem(kind_of(data), f"a {cls.WHAT} with {named}", "Write it as key: value.")
        for key in data:
            if key not in fields:
                fix = nearest(key, [name for name in fields if name not in data])
                raise problem(f"unknown key {key!r}", f"in a {cls.WHAT}: {named}", fix, key)
        for name, field in fields.items():
            if field.is_required() and name not in data:
                expected = f"in a {cls.WHAT}: {field.description}"
                raise problem(f"no {name!r}", expected, "Add the key.")
        return data


def kind_of(value: object) -> str:
    """Return the word for a value of a file in a message."""
    names = {str: "text", list: "a list", dict: "a mapping", bool: "a boolean"}
    return "nothing" if value is None else names.get(type(value), "a number")


def listed(value: object) -> object:
    """Return one value as a list of one. Refuse an empty list."""
    if value == []:
        raise problem("an empty list", "at least one entry", "Add one, or leave the key out.")
    return value if isinstance(value, list) else [value]


def text_of(value: object) -> str:
    """Return a text that is not blank; for validators."""
    if not isinstance(value, str):
        raise problem(kind_of(value), "text", "Quote it.")
    if not value.strip():
        raise problem("empty text", "text that says something", "Write it, or leave the key out.")
    return value


Text = Annotated[str, BeforeValidator(text_of)]
Texts = Annotated[list[Text], BeforeValidator(listed)]


def read_spec(
    kind: type[S], text: str, file: Path, under: Callable[[Value], Value] | None = None
) -> tuple[S, YamlFile]:
    """Return the model of a YAML text, and the file with its places, for `YamlFile.error`.

    under: returns the value to check in place of the text's own, such as that over defaults.
    Raises InputError with file, line and dotted place for whatever is wrong, with the nearest known
    name for a typo.
    """
    where = YamlFile(file, text)
    try:
        return kind.model_validate(under(where.value) if under else where.value), where
    except ValidationError as error:
        first = error.errors()[0]
        place = where.known(tuple(first["loc"]))
        said: dict[str, Any] = {"got": kind_of(first["input"]), "fix": "Mend it.", "key": None}
        said["expected"] = EXPECTED.get(first["type"], first["msg"])
        said |= first["ctx"] if first["type"] == "spec" else {}
        if (*place, said["key"]) in where.lines:
            place = (*place, said["key"])
        raise where.error(place, said["got"], said["expected"], said["fix"]) from error
