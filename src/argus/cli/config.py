"""`--config file.toml`: one file of settings for every command.

Values at the top are for every command that has such an option, `[audit]` is for `argus audit`,
`[probe]` for all of `argus probe`, `[probe.fit]` for `argus probe fit`. Inner tables win. The whole
file is checked whichever command reads it, so that a typo is found where it stands.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from argus.data.text_files import read_toml
from argus.errors import InputError, Location, unnamed

ONE_FILE = "one file with all settings: of several, none but the last would be read"


def refuse_empty(word: object, parameter: Any, where: Path | None = None) -> None:
    """Raise InputError for a path without a name, which would be the current folder.

    parameter: typer's. where: the file of settings that has the word, if one does.
    """
    words = word if isinstance(word, list | tuple) else (word,)
    if "" in words and parameter.type_descriptor.annotation in (Path, list[Path]):
        option = parameter.opts[0]
        got = "is empty" if where is None else f"{option.lstrip('-')} is empty"
        raise unnamed(got, where or option)


def refuse_second_config(order: Sequence[Any]) -> None:
    """Raise InputError for a second file of settings. order: parameters, as they were given."""
    if sum(parameter.name == "config" for parameter in order) > 1:
        raise InputError(
            "is given twice", expected=ONE_FILE, fix="Put them into one.", where="--config"
        )


CONFIG = "config"
"""The option that names the file; in a file it would be passed over."""


def read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the values of a TOML file this command's defaults; options given by hand still win."""
    if path is None:
        return None
    names: list[str] = []
    root: Any = context
    while root.parent is not None:
        names.insert(0, root.info_name or "")
        root = root.parent
    tables = _values(read_toml(path), root.command, names, path)
    defaults = {}
    for parameter in context.command.params:
        value = _said(tables, parameter, path)
        _refuse_flag(value, parameter, path)
        refuse_empty(value, parameter, path)
        if parameter.name and value is not None:
            defaults[parameter.name] = _default(value, parameter)
    context.default_map = {**(context.default_map or {}), **defaults}
    return path


def _said(tables: Sequence[Mapping[str, Any]], parameter: Any, path: Path) -> object:
    """Return what the innermost table says of a parameter that says anything; None: none does."""
    spellings = list(dict.fromkeys(_spellings(parameter)))
    for table in tables:
        there = [name for name in spellings if name in table]
        if len(there) > 1:
            raise _twice(there[0], there[1], Location(path))
        if there:
            return table[there[0]]
    return None


def _twice(first: str, second: str, where: Location) -> InputError:
    return InputError(
        f"{first!r} and {second!r} are one setting"
        if first != second
        else f"{first!r} stands there twice, with - and with _",
        expected="each setting once in a table",
        fix="Keep one of them.",
        where=where,
    )


def _refuse_flag(value: object, parameter: Any, path: Path) -> None:
    """Raise InputError for true or false where a number stands, which Python takes for 1 and 0."""
    if isinstance(value, bool) and parameter.type_descriptor.annotation in (int, float):
        raise InputError(
            f"{parameter.name} is {str(value).lower()}",
            expected="a number",
            fix="Write the number, without quotes.",
            where=path,
        )


def _values(
    table: Mapping[str, Any],
    command: Any,
    words: Sequence[str],
    path: Path,
    above: tuple[str, ...] = (),
) -> list[dict[str, Any]]:
    """Check a table and all in it; return what is said for the command that `words` lead to.

    That is a table of each level, the innermost, which wins, first.

    command: what the table is for, a group or a command; above: the tables that it stands in.
    """
    inside = _commands(command)
    known = set(_options(command))
    values: dict[str, Any] = {}
    inner: list[dict[str, Any]] = []
    for key, value in table.items():
        where = Location(path, field=".".join((*above, key)))
        name = key.replace("_", "-")
        if isinstance(value, dict) and key in inside:
            below = _values(value, inside[key], words[1:], path, (*above, key))
            if key in words[:1]:
                inner = below
        elif isinstance(value, dict) or key in inside or name not in known:
            raise _misplaced(key, value, command, above, where)
        elif name in values:
            raise _twice(name, name, where)
        else:
            values[name] = value
    return [*inner, values]


def _options(command: Any) -> Iterable[str]:
    """Yield the names under which a command's options, or those of all in a group, are set."""
    for inner in _commands(command).values():
        yield from _options(inner)
    if not _commands(command):
        for parameter in command.params:
            if parameter.name != CONFIG:
                yield from set(_spellings(parameter))


def _spellings(parameter: Any) -> list[str]:
    names = [parameter.name or "", *(option.lstrip("-") for option in parameter.opts)]
    return [name.strip("_").replace("_", "-") for name in names]


def _default(value: Any, parameter: Any) -> Any:
    """Return a value as the command line would give it: "10,50", or a list where it may repeat."""
    if getattr(parameter, "multiple", False) or parameter.nargs == -1:
        return value if isinstance(value, list) else [value]
    return ",".join(map(str, value)) if isinstance(value, list) else value


def _misplaced(
    key: str, value: object, command: Any, above: tuple[str, ...], where: Location
) -> InputError:
    commands, name = _commands(command), " ".join(("argus", *above))
    table = isinstance(value, dict)
    candidates = sorted(commands) if table else sorted(filter(None, _options(command)))
    close = difflib.get_close_matches(key if table else key.replace("_", "-"), candidates, n=1)
    got, fix = f"unknown {'table' if table else 'setting'} {key!r}", "Remove it."
    if table:
        expected = f"tables called {', '.join(candidates)}" if commands else f"no table in {name}"
        homes = [
            f"[{'.'.join((*above, c, key))}]" for c in commands if key in _commands(commands[c])
        ]
        if homes:
            fix = f"Call it {' or '.join(homes)}."
        elif commands:
            fix = "Rename it."
    elif key == CONFIG:
        got, expected, close = "names another file of settings", ONE_FILE, []
        fix = "Put its settings in here."
    elif key in commands:
        got, expected, close = f"{key!r} is a value", f"a table: {name} {key} is a command", []
        fix = "Set an option of that name in the table of its command."
    elif commands:
        expected = f"an option of {name}, or of a command in it"
    else:
        expected = f"an option of {name}: {', '.join(candidates)}"
    return InputError(
        got, expected=expected, fix=f"Did you mean {close[0]!r}?" if close else fix, where=where
    )


def _commands(command: Any) -> Mapping[str, Any]:
    commands: Mapping[str, Any] = getattr(command, "commands", {})
    return commands
