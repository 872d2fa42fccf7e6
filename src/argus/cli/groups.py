"""Build the command groups of `argus`. A command is declared as an entry, imported when it runs.

`Entry` names a command, the job behind it and an example. `lazy_group` makes a typer group of
entries, `Command` shows a short or a full help and checks words. `main` and the modules of the
groups (`tune`, `authority`, `research`) declare their entries. `signatures` makes the options.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pkgutil import resolve_name
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from argus.cli.config import refuse_empty, refuse_second_config

# The paragraphs of a docstring from which on it speaks of parameters and errors.
PYTHON = re.compile(r"(\w+(, \w+)*: |Raises |Args:)")
HELP = {"help_option_names": ["-h", "--help"]}
HELP_ALL, MAX_OPTIONS = "--help-all", 12  # options that `--help` shows


class Command(TyperCommand):
    """A command with a short and a full help, which checks its words before they become values."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show its own options: the first twelve, or all of them for `--help-all`."""
        options: list[Any] = [p for p in self.params if p.param_type_name == "option"]
        own = [o for o in options if o.rich_help_panel is None]
        first = sorted(own, key=lambda option: not option.required)[:MAX_OPTIONS]
        rest = [] if ctx.meta.get(HELP_ALL) else [o for o in options if o not in first]
        if rest:
            self.epilog = f"{len(rest)} more options: {ctx.command_path} {HELP_ALL}"
        for option in rest:
            option.hidden = True
        super().format_help(ctx, formatter)
        for option in rest:
            option.hidden = False

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """See `click.Command.parse_args`."""
        if HELP_ALL in args:
            ctx.meta[HELP_ALL] = True
            args = ["--help"]
        parser: Any = self.make_parser(ctx)
        words, _, order = parser.parse_args(args=list(args))
        if not ctx.resilient_parsing and not words.get("help"):  # to complete, or to be told
            for parameter in order:
                refuse_empty(words.get(parameter.name), parameter)
            refuse_second_config(order)
        return super().parse_args(ctx, args)


class Group(typer.Typer):
    """A group of commands.

    first: the command that is meant where the group is given none of its own, as in
    `argus traffic LOG` for `argus traffic audit LOG`. entries: its commands, where each is loaded
    when it runs.
    """

    def __init__(
        self, help: str, *, first: str | None = None, entries: tuple[Entry, ...] = ()
    ) -> None:
        super().__init__(
            cls=lazy_group(entries, first) if entries else TyperGroup,
            help=help,
            no_args_is_help=True,
            add_completion=False,
            context_settings=HELP,
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A command, or a group of them, in the list of all: known before it is loaded.

    home: module and function of a job, of which the command is made, such as
    "argus.suite.job:run_suite". Or a module in this folder, with a function or a group. panel: the
    heading under which help lists it. example, then, show, estimate (its home): of a job, for
    `argus.cli.signatures.command_of`.
    """

    name: str
    home: str
    help: str
    panel: str | None = None
    example: str = ""
    then: str | Callable[[Any, Mapping[str, Any]], object] = ""
    show: Callable[[Any, bool], object] | None = None
    estimate: str = ""

    @cache  # noqa: B019, the entries are constants
    def load(self) -> Any:
        """Return the command that typer makes of it, once. Its help opens with the example."""
        is_job = self.home.startswith("argus.")
        command = resolve_name(self.home if is_job else f"argus.cli.{self.home}")
        if isinstance(command, Group):
            group: Any = typer.main.get_group(command)
            group.name = self.name
            return group
        if is_job:
            from argus.cli.signatures import command_of

            cost = resolve_name(self.estimate) if self.estimate else None
            command = command_of(command, self.then, self.show, cost)
        command.example = self.example
        paragraphs = (inspect.getdoc(command) or "").split("\n\n")
        shown = takewhile(lambda text: not PYTHON.match(text), paragraphs)
        help = "\n\n".join([f"Example: {self.example}", *(" ".join(p.split()) for p in shown)])
        alone = typer.Typer(add_completion=False, context_settings=HELP)
        alone.command(self.name, help=help, short_help=self.help, cls=Command)(command)
        return typer.main.get_command(alone)

    def listed(self) -> TyperCommand:
        """Return its line in a list of commands."""
        return TyperCommand(self.name, help=self.help, rich_help_panel=self.panel)


class Loaded(Mapping[str, Any]):
    """Commands by name, each loaded when it is first asked for."""

    def __init__(self, entries: tuple[Entry, ...]) -> None:
        self.entries = {entry.name: entry for entry in entries}

    def __getitem__(self, name: str) -> Any:
        return self.entries[name].load()

    def __contains__(self, name: object) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def lazy_group(entries: tuple[Entry, ...], first: str | None = None) -> type[TyperGroup]:
    """Return the class of a group that loads, of all its commands, the one that is run."""

    class LazyGroup(TyperGroup):
        def __init__(self, **options: Any) -> None:
            super().__init__(**options)
            self.commands: Any = Loaded(entries)

        def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
            own = {*self.commands, *HELP["help_option_names"]}
            is_named = first is None or not args or args[0] in own
            return super().parse_args(ctx, args if is_named else [str(first), *args])

        def list_commands(self, ctx: Any) -> list[str]:
            return list(self.commands)

        def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
            entry = self.commands.entries.get(cmd_name)
            return None if entry is None else entry.listed()

        def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
            name, listed, rest = super().resolve_command(ctx, args)
            return name, None if listed is None else self.commands[name], rest

    return LazyGroup
