"""Describe and parse the commands of `argus` for the page of `argus serve`, which starts them.

`ArgusCommands`: the words of a command -> its parameters with their kinds, and arguments -> values
or an `InputError`. It implements `argus.service.jobs.planning.Commands`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command

from argus.errors import InputError
from argus.service.jobs.planning import Declared, Kind
from argus.settings import Setting

command_of = cache(get_command)


class ArgusCommands:
    """See `argus.service.jobs.planning.Commands`."""

    def declared(self, words: Sequence[str]) -> Sequence[Declared]:
        """Return a command's parameters, arguments in order. InputError for an unknown command."""
        command, _ = _command(words)
        settings: Mapping[str, Setting] = getattr(command.callback, "settings", {})
        outputs = getattr(command.callback, "outputs", {})
        hints = command.callback.__annotations__
        return [
            Declared(
                one.name,
                _kind(hints[one.name], settings.get(one.name)),
                one.opts[0] if one.param_type_name == "option" else "",
                next(iter(one.secondary_opts), ""),
                bool(one.multiple or one.nargs == -1),
                one.default is not None,
                one.name in outputs,
            )
            for one in command.params
        ]

    def check(self, words: Sequence[str], arguments: Sequence[str]) -> None:
        """Raise InputError for arguments that the command line would refuse."""
        command, parent = _command(words)
        with _refusing(words), command.make_context(words[-1], list(arguments), parent):
            pass

    def parse(self, words: Sequence[str], arguments: Sequence[str]) -> dict[str, Any]:
        """Return what is given for each parameter. Raise InputError for what has no meaning."""
        command, parent = _command(words)
        context = command.context_class(command, parent=parent)
        with _refusing(words):
            given, rest, _ = command.make_parser(context).parse_args(list(arguments))
            if rest:
                context.fail(f"{rest[0]!r} is one argument too many")
        return {name: value for name, value in given.items() if value is not None}


@contextmanager
def _refusing(words: Sequence[str]) -> Iterator[None]:
    """Turn an error of the command line into one of the request."""
    try:
        yield
    except Exception as error:
        if not hasattr(error, "format_message"):  # of typer, whose click is its own
            raise
        got, command = str(error.format_message()).rstrip("."), " ".join(words)
        expected, fix = "options as the command line takes them", f"See argus {command} --help."
        raise InputError(got, expected=expected, fix=fix, where=command) from error


def _command(words: Sequence[str]) -> tuple[Any, Any]:
    """Return a command, and the context of its groups, by which a file of options is read."""
    from argus.cli.main import app

    command: Any = command_of(app)
    parent: Any = None
    name = "argus"
    for word in words:
        parent = command.context_class(command, info_name=name, parent=parent)
        inside, name = getattr(command, "commands", {}), word
        if word not in inside:
            got, fix = repr(" ".join(words)), "See argus --help."
            raise InputError(got, expected="a command of Argus", fix=fix, where="command")
        command = inside[word]
    return command, parent


def _kind(hint: Any, setting: Setting | None) -> Kind:
    """Return the kind of a parameter's type. A type of no other kind is a text."""
    kinds = set(_kinds(hint))
    if Path in kinds:
        return "path"
    if bool in kinds:
        return "flag"
    if setting is not None and setting.choices:
        return "choice"
    return "number" if kinds & {int, float} and str not in kinds else "text"


def _kinds(hint: Any) -> list[Any]:
    """Return the plain types in an annotation."""
    if not (inner := get_args(hint)):
        return [hint]
    return [kind for one in inner for kind in _kinds(one)]
