"""The commands of Argus as the service starts them: their declarations, and a check of words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, get_args

from typer.main import get_command

from argus.cli.groups import Loaded
from argus.errors import InputError
from argus.service.jobs.planning import Declared, Kind
from argus.settings import Setting


class ArgusCommands:
    """See `argus.service.jobs.planning.Commands`."""

    def declared(self, words: Sequence[str]) -> Sequence[Declared]:
        """Return a command's parameters, arguments in order. InputError for an unknown command."""
        return _declared(tuple(words))

    def check(self, words: Sequence[str], arguments: Sequence[str]) -> None:
        """Raise InputError for arguments that the command line would refuse to parse."""
        command = _command(words)
        try:
            with command.make_context(words[-1], list(arguments), parent=_groups(words)):
                pass
        except Exception as error:
            if not hasattr(error, "format_message"):  # of typer, whose click is its own
                raise
            raise InputError(
                str(error.format_message()).rstrip("."),
                expected="options as the command line takes them",
                fix=f"See argus {' '.join(words)} --help.",
                where=" ".join(words),
            ) from error


def options_of_all() -> dict[str, dict[str, list[str]]]:
    """Return the options of every command by heading, as `argus.commands.DECLARED` has them."""
    from argus.cli.main import COMMANDS

    found: dict[str, dict[str, list[str]]] = {}

    def visit(commands: Mapping[str, Any], above: str) -> None:
        for name in commands:
            command = commands[name]
            if inside := getattr(command, "commands", {}):
                visit(inside, f"{above}{name} ")
                continue
            headings = getattr(command.callback, "headings", {})
            options = found[above + name] = {}
            for option in (option for one in command.params for option in one.opts):
                options.setdefault(headings.get(option, ""), []).append(option)

    visit(Loaded(COMMANDS), "")
    return found


def _groups(words: Sequence[str]) -> Any:
    """Return the context of the groups that a command is in, by which a file of options is read."""
    from argus.cli.main import app

    command = get_command(app)
    context = command.context_class(command, info_name="argus")
    for word in words[:-1]:
        group = command.get_command(context, word)  # type: ignore[attr-defined]
        context = group.context_class(group, info_name=word, parent=context)
        command = group
    return context


def _command(words: Sequence[str]) -> Any:
    from argus.cli.main import COMMANDS

    command: Any = None
    inside: Mapping[str, Any] = Loaded(COMMANDS)
    for word in words:
        if word not in inside:
            raise InputError(
                repr(" ".join(words)), expected="a command of Argus", fix="See argus --help.",
                where="command",
            )  # fmt: skip
        command = inside[word]
        inside = getattr(command, "commands", {})
    return command


@cache
def _declared(words: tuple[str, ...]) -> tuple[Declared, ...]:
    command = _command(words)
    settings: Mapping[str, Setting] = getattr(command.callback, "settings", {})
    outputs = getattr(command.callback, "outputs", {})
    hints = command.callback.__annotations__
    options = []
    for parameter in command.params:
        name = parameter.name
        options.append(
            Declared(
                name,
                _kind(hints[name], settings.get(name)),
                parameter.opts[0] if parameter.param_type_name == "option" else "",
                next(iter(parameter.secondary_opts), ""),
                bool(parameter.multiple or parameter.nargs == -1),
                parameter.default is not None,
                name in outputs,
            )
        )
    return tuple(options)


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
