"""Read `--config FILE.toml`: turn one file of settings into defaults of the command that runs.

Values at the top are for every command that has such an option, `[research.probe]` is for all of
`argus research probe`, and `[research.probe.fit]` for `argus research probe fit`. Inner tables win,
and options on the command line win over all. The tables of the command that runs, and of its
groups, are read and checked; of other commands' tables the names are.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from argus.data.reading import read_toml
from argus.errors import InputError, Location, unnamed

CONFIG = "config"  # the option that names the file. A file may not set it.
ONE_FILE = "one file with all settings: of several, none but the last would be read"


def refuse_empty(word: object, parameter: Any, where: Path | None = None) -> None:
    """Raise InputError for a path without a name, which would be the current folder.

    parameter: typer's. where: the file of settings that has the word, if any.
    """
    words = word if isinstance(word, list | tuple) else (word,)
    if "" in words and parameter.type_descriptor.annotation in (Path, list[Path]):
        option = parameter.opts[0]
        got = "is empty" if where is None else f"{option.lstrip('-')} is empty"
        raise unnamed(got, where or option)


def refuse_second_config(order: Sequence[Any]) -> None:
    """Raise InputError for a second file of settings. order: parameters as they were given."""
    if sum(parameter.name == CONFIG for parameter in order) > 1:
        raise InputError(
            "is given twice", expected=ONE_FILE, fix="Put them into one.", where="--config"
        )


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a TOML file this command's defaults. Options given by hand still win."""
    if path is None:
        return None
    levels: list[Any] = []  # the command and its groups, innermost first
    level: Any = context
    while level is not None:
        levels.append(level)
        level = level.parent
    parameters = {name: p for p in context.command.params for name in _spellings(p)}
    table: Mapping[str, Any] = read_toml(path)
    above: tuple[str, ...] = ()
    values: dict[str, Any] = {}
    for outer, inner in zip(levels[::-1], [*levels[-2::-1], None], strict=True):
        values |= _settings(table, outer.command, parameters, path, above)
        name = inner.info_name if inner else ""
        table = table.get(name, {})
        above = (*above, name)
    defaults = {}
    parameter: Any
    for parameter in context.command.params:
        if parameter.name not in values:
            continue
        value = values[parameter.name]
        if isinstance(value, bool) and parameter.type_descriptor.annotation in (int, float):
            raise InputError(
                f"{parameter.name} is {str(value).lower()}", expected="a number",
                fix="Write the number, without quotes.", where=path,
            )  # fmt: skip
        refuse_empty(value, parameter, path)
        if getattr(parameter, "multiple", False) or parameter.nargs == -1:
            value = value if isinstance(value, list) else [value]
        elif isinstance(value, list):  # as the command line would give it: "10,50"
            value = ",".join(map(str, value))
        defaults[parameter.name] = value
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def _settings(
    table: Mapping[str, Any], command: Any, parameters: Mapping[str, Any], path: Path,
    above: tuple[str, ...],
) -> dict[str, Any]:  # fmt: skip
    """Return the values of a table by parameter, without those of the tables in it.

    command: the group or command that the table is for. parameters: of the command that runs, by
    spelling. A setting of a group may be for another command in it. Raises InputError.
    """
    inside: Mapping[str, Any] = getattr(command, "commands", {})
    found: dict[str, tuple[str, Any]] = {}
    for key, value in table.items():
        where = Location(path, field=".".join((*above, key)))
        name, of = key.replace("_", "-"), " ".join(("argus", *above))
        if isinstance(value, dict):
            if key not in inside:
                named = "tables called " if inside else f"no table in {of}"
                raise _unknown("table", key, inside, named, where)
        elif name == CONFIG:
            got, fix = "names another file of settings", "Put its settings in here."
            raise InputError(got, expected=ONE_FILE, fix=fix, where=where)
        elif key in inside:
            raise InputError(
                f"{key!r} is a value", expected=f"a table: {of} {key} is a command",
                fix="Set an option of that name in the table of its command.", where=where,
            )  # fmt: skip
        elif name in parameters:
            first, _ = found.setdefault(parameters[name].name, (key, value))
            if first != key:
                got, fix = f"{first!r} and {key!r} are one setting", "Keep one of them."
                raise InputError(got, expected="each setting once", fix=fix, where=where)
        elif name not in (known := _options(command)):
            raise _unknown("setting", key, known, f"an option of {of}: ", where)
    return {name: value for name, (_, value) in found.items()}


def _unknown(
    kind: str, key: str, known: Collection[str], expected: str, where: Location
) -> InputError:
    close = difflib.get_close_matches(key.replace("_", "-"), known, n=1)
    expected += ", ".join(sorted(known))
    fix = f"Did you mean {close[0]!r}?" if close else "Remove it."
    return InputError(f"unknown {kind} {key!r}", expected=expected, fix=fix, where=where)


def _options(command: Any) -> set[str]:
    """Return the spellings of a command's options, or of all commands of a group."""
    inside = getattr(command, "commands", {})
    if inside:
        return set().union(*(_options(inner) for inner in inside.values()))
    return set().union(*(_spellings(parameter) for parameter in command.params))


def _spellings(parameter: Any) -> set[str]:
    names = [parameter.name or "", *(option.lstrip("-") for option in parameter.opts)]
    return {name.strip("_").replace("_", "-") for name in names} - {"", CONFIG}
