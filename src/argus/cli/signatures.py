"""Turn a Python function into a command: each parameter, and each field of a config, is an option.

`command_of`: a job -> a function for typer that reads the options, checks the paths (`places`),
runs the job and prints its result (`output`). `with_blocks` gives the same options to a function
that is written as a command itself. `argus.settings` says how one field is declared. `groups` calls
it.
"""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import MISSING, dataclass, is_dataclass
from enum import Enum
from pathlib import Path
from pkgutil import resolve_name
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import typer

from argus import commands
from argus.cli import output
from argus.cli.config import read_config
from argus.cli.output import INTERRUPTED
from argus.cli.places import (
    check_asking,
    check_characters,
    check_inputs,
    check_outputs,
    inputs_of,
    stopped,
    with_columns,
    with_stores,
)
from argus.data.fields import QrelsFields, QrelsName
from argus.errors import InputError
from argus.jobs import options as o
from argus.settings import (
    INDEX,
    Options,
    Setting,
    Without,
    Writes,
    docs_of,
    nested,
    notes_of,
    setting_of,
    settings_of,
)
from argus.stores.spec import StoreConfig

R = TypeVar("R")
# Headings of options that say how something is read and asked: a command that follows needs it.
READ = ("Input", "Retriever", "Store", "Encoder", "Log")
# Options of the same kind that commands declare themselves.
ALONE = {"encoder": "Encoder", "limit": "Input", "id_field": "Input"}
UNSET: Any = object()  # an option that was not given: the config's default holds
FILE = inspect.Parameter(  # taken by every command, and read by the callback
    "config",
    inspect.Parameter.KEYWORD_ONLY,
    default=None,
    annotation=Annotated[
        Path | None,
        typer.Option(
            "--config", help="TOML file with these options.", callback=read_config, is_eager=True
        ),
    ],
)


def command_of(
    job: Callable[..., Any],
    then: str | Callable[[Any, Mapping[str, Any]], object] = "",
    show: Callable[[Any, bool], object] | None = None,
    estimate: Callable[..., Any] | None = None,
) -> Callable[..., None]:
    """Return the command of a job: its parameters that have help, and its configs, are the options.

    The help is the job's docstring up to what it says of parameters and errors. then: the
    command that comes next, with {NAME} for an option's value, or a function that returns it from
    the job's result and the options. show: prints the result in place of
    its headline, as JSON or not. estimate: tells what the job would cost, from those of its
    parameters that it takes, for the option --estimate. An option that was not given is left to the
    job's default.
    """
    names = inspect.unwrap(job).__globals__
    takes = inspect.signature(job).parameters
    hints: dict[str, Any] = {}
    docs = docs_of(job)
    for name, parameter in takes.items():
        try:
            hint = eval(parameter.annotation, names)
        except NameError:  # a type for the checker alone is nothing that a command line could give
            continue
        if setting_of(name, hint, text=docs.get(name)) is not None or _block(hint) is not None:
            hints[name] = hint

    def command(*, json: bool, **values: Any) -> None:
        given = {
            name: value
            for name, value in values.items()
            if value is not None or takes[name].default is inspect.Parameter.empty
        }
        if estimate is not None and given.pop("estimate"):
            wanted = inspect.signature(estimate).parameters
            cost = estimate(**{name: value for name, value in given.items() if name in wanted})
            return output.print_estimate(cost, json)
        result = job(**given)
        if show is not None:
            show(result, json)
        else:
            words = {name: shlex.quote(str(value)) for name, value in given.items()}
            step = then.format_map(words) if isinstance(then, str) else then(result, given)
            output.show(result, as_json=json, then=f"Next: {step}" if step else "")
        if code := getattr(result, "exit_code", 0):
            raise typer.Exit(code)

    command.__doc__ = job.__doc__
    command.__name__ = job.__name__
    flags = {"json": o.AsJson} | ({"estimate": o.Estimate} if estimate else {})
    only = inspect.Parameter.KEYWORD_ONLY
    parameters = [takes[name] for name in hints]
    parameters += [inspect.Parameter(name, only, default=False) for name in flags]
    command.__annotations__ = hints | flags
    vars(command)["__signature__"] = inspect.Signature(parameters)
    return with_blocks(command)


@dataclass(frozen=True, slots=True)
class Block:
    """A config that a command takes. optional: None where none of its settings is given.

    A config may say itself how it is made of options. `from_options(**values)` is for options of
    which one follows from another. `declared_settings()` is for a config without fields for them.
    """

    config: type
    optional: bool = False
    without: tuple[str, ...] = ()

    @property
    def settings(self) -> tuple[Setting, ...]:
        """Its own settings, without those of configs inside it."""
        declare: Any = getattr(self.config, "declared_settings", None)
        settings = settings_of(self.config) if declare is None else declare()
        return tuple(setting for setting in settings if setting.name not in self.without)

    @property
    def inner(self) -> dict[str, Block]:
        """The configs inside it that have settings, by field."""
        if not is_dataclass(self.config):
            return {}
        blocks = {n: Block(c, o, self.without) for n, (c, o) in nested(self.config).items()}
        return {n: b for n, b in blocks.items() if n not in self.without and list(b.all_settings())}

    def all_settings(self) -> Iterator[tuple[Setting, bool]]:
        """Yield every setting in it, and whether it is unset unless given."""
        for setting in self.settings:
            yield setting, self.optional
        for block in self.inner.values():
            for setting, unset in block.all_settings():
                yield setting, unset or self.optional

    def make(self, options: dict[str, Any]) -> Any:
        """Return the config of the options given. None where it may be, and no option is given."""
        given = (_value(setting, options[setting.key]) for setting, _ in self.all_settings())
        if self.optional and all(value is UNSET or value is None for value in given):
            return None
        values = {s.name: _value(s, options[s.key]) for s in self.settings}
        values |= {name: block.make(options) for name, block in self.inner.items()}
        values = {name: value for name, value in values.items() if value is not UNSET}
        make: Any = getattr(self.config, "from_options", self.config)
        return make(**values)


def with_blocks(command: Callable[..., R]) -> Callable[..., R]:
    """Let a command take configs: every setting of one becomes an option of the command.

    Two configs of a command may share a setting, such as `device`. It is one option then, and has
    to be declared alike in both. A config that may be None is None where no option of it is given.
    """
    options = _Options(command)
    blocks, own, hints = options.blocks, options.own, options.hints
    declared = dict(hints)
    for block in blocks.values():
        declared |= get_type_hints(block.config, include_extras=True)
    inputs, written = inputs_of(declared), notes_of(declared, Writes)
    outputs = {own[name].key if name in own else name: at for name, at in written.items()}
    # a corpus may be a store: then there are options for opening it, too
    stores = Block(StoreConfig) if any(note != INDEX for note in inputs.values()) else None
    shared = stores is not None and not options.add(stores, command.__name__)
    judged = notes_of(declared, QrelsName)
    columns = Block(QrelsFields)
    if judged:
        options.add(columns, command.__name__)

    @functools.wraps(command)
    def run(**values: Any) -> R:
        configs = {name: block.make(values) for name, block in blocks.items()}
        alone = {name: _own_value(setting, values[setting.key]) for name, setting in own.items()}
        plain = {name: values[name] for name in values if name in hints and name not in own}
        try:
            check_characters(values)
            check_outputs(outputs, values)
            whole: Mapping[str, Any] = plain | alone | configs
            if judged:
                whole = with_columns(judged, whole, columns.make(values))
            if stores is not None:
                whole = with_stores(inputs, whole, stores.make(values), alone=not shared)
            check_asking(whole)
            check_inputs(inputs, whole)
            with commands.note(options.describe(values)):
                return command(**whole)
        except KeyboardInterrupt:
            typer.echo(f"\nargus: {stopped(outputs, values)}", err=True)
            raise typer.Exit(INTERRUPTED) from None

    run.__annotations__ = {p.name: p.annotation for p in options.parameters.values()}
    vars(run)["__signature__"] = inspect.Signature(list(options.parameters.values()))
    vars(run)["outputs"] = outputs  # by option, and the settings, for the service
    vars(run)["settings"] = options.settings
    vars(run)["headings"] = dict(options.headings.values())  # of each such option its heading
    return run


class _Options:
    """The declarations of a command's signature. TypeError where two settings of one name differ.

    own: settings of the command alone, by parameter. shared: those of blocks by key, and whether
    one is unset unless given.
    """

    def __init__(self, command: Callable[..., Any]) -> None:
        self.hints = get_type_hints(command, include_extras=True)
        self.blocks = {n: block for n, hint in self.hints.items() if (block := _block(hint))}
        self.own: dict[str, Setting] = {}
        self.shared: dict[str, tuple[Setting, bool]] = {}
        self.parameters: dict[str, inspect.Parameter] = {}
        docs = docs_of(command)
        for name, parameter in inspect.signature(command).parameters.items():
            if name in self.blocks:
                self.add(self.blocks[name], command.__name__)
                continue
            default = MISSING if parameter.default is parameter.empty else parameter.default
            own = setting_of(name, self.hints[name], default, docs.get(name))
            if own is not None:
                self.own[name] = own
                self.parameters[own.key] = _parameter(own, unset=False)
            else:  # typer is told by hand
                self.parameters[name] = parameter.replace(
                    annotation=self.hints[name], kind=parameter.KEYWORD_ONLY
                )
        self.parameters[FILE.name] = FILE

    @property
    def settings(self) -> dict[str, Setting]:
        """All settings, by the name of the option."""
        return {s.key: s for s in self.own.values()} | {k: s for k, (s, _) in self.shared.items()}

    @property
    def headings(self) -> dict[str, tuple[str, str]]:
        """The options that say how something is read or asked, with their heading, by key."""
        headings = {}
        for key, setting in self.settings.items():
            heading = ALONE.get(key) or (setting.option.panel if setting.owner else None)
            if heading in READ:
                headings[key] = setting.where, heading
        return headings

    def describe(self, values: Mapping[str, Any]) -> commands.Options:
        """Return the values that were given, by heading and option."""
        options: dict[str, dict[str, object]] = {heading: {} for heading in READ}
        for key, (option, heading) in self.headings.items():
            value = values[key]
            if value and value != self.parameters[key].default:
                is_one = isinstance(value, list) and len(value) == 1
                options[heading][option] = value[0] if is_one else value
        return options

    def add(self, block: Block, command: str) -> bool:
        """Add the options of a block. Return whether all are new.

        Raises TypeError where two settings of one name differ.
        """
        there = len(self.shared)
        settings = list(block.all_settings())
        for setting, unset in settings:
            if self.shared.setdefault(setting.key, (setting, unset)) != (setting, unset):
                raise TypeError(f"{command}: two options are called {setting.where}")
            self.parameters[setting.key] = _parameter(setting, unset=unset)
        return len(self.shared) == there + len(settings)


def _block(hint: Any) -> Block | None:
    """Return the block that a parameter's type stands for, if it is a config."""
    notes = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    without = tuple(name for note in notes if isinstance(note, Without) for name in note)
    made = next((one for one in notes if isinstance(one, Options)), None)
    if made is not None:
        return Block(made.config, made.optional, without)
    bare = get_args(hint)[0] if notes else hint
    kinds = [k for k in get_args(bare) or (bare,) if k is not NoneType]
    if len(kinds) != 1 or not isinstance(kinds[0], type):
        return None
    if is_dataclass(kinds[0]) or hasattr(kinds[0], "declared_settings"):
        return Block(kinds[0], without=without)
    return None


def _parameter(setting: Setting, *, unset: bool) -> inspect.Parameter:
    """Return the parameter that typer makes an option of. unset: there is no default but None."""
    kind: Any = str if issubclass(setting.kind, Enum) else setting.kind
    if setting.many:
        kind = list[kind] if setting.repeated else str
    default = None if unset else _shown(setting)
    if default is MISSING and setting.optional:
        default = None
    if unset or setting.optional or default is None:
        kind = kind | None
    bounded = setting.kind in (int, float) and (setting.repeated or not setting.many)
    declare: Any = typer.Option
    spelling: tuple[str, ...] = setting.spelling
    more: dict[str, Any] = {}
    if setting.option.argument:
        declare, spelling, more = typer.Argument, (), {"metavar": setting.option.argument}
    info = declare(
        *spelling,
        **more,
        help=setting.text,
        min=setting.least if bounded else None,
        max=setting.most if bounded else None,
        rich_help_panel=setting.option.panel,
        show_default=True if setting.option.default is None else setting.option.default or False,
    )
    return inspect.Parameter(
        setting.key,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if default is MISSING else default,
        annotation=Annotated[kind, info],
    )


def _own_value(setting: Setting, option: Any) -> Any:
    """Return a command's value of an option of its own."""
    value = _value(setting, option)
    if value is UNSET:  # an optional value may lack a default
        return None if setting.default is MISSING else setting.default
    setting.check(value)
    if setting.option.opened_by and value is not None:
        return resolve_name(setting.option.opened_by)(value)
    return value


def _shown(setting: Setting) -> Any:
    """Return a setting's default as a person would give it."""
    value = setting.default
    if isinstance(value, tuple | list):
        if setting.repeated:
            return list(value) or None
        return ",".join(str(one.value if isinstance(one, Enum) else one) for one in value) or None
    return value.value if isinstance(value, Enum) else value


def _value(setting: Setting, option: Any) -> Any:
    """Turn a value of the command line into the config's."""
    if option is None:
        return None if setting.default is None else UNSET
    if not setting.many:
        return _one(setting, option, option)
    parts = option if setting.repeated else [part.strip() for part in option.split(",")]
    if setting.kind is str:
        parts = [part for part in parts if part]
    return (setting.container or tuple)(_one(setting, part, option) for part in parts)


def _one(setting: Setting, value: Any, option: Any) -> Any:
    """Return one value as the setting's kind. option: all that was given, for the error."""
    try:
        return setting.kind(value) if isinstance(value, str) else value
    except ValueError as error:
        several = ", separated by commas" if setting.many else ""
        kind = "whole numbers" if setting.kind is int else "numbers"
        shown = None if setting.default is MISSING else _shown(setting)
        example = next(iter(setting.choices), None) if shown is None else shown
        raise InputError(
            repr(option),
            expected=f"one of {', '.join(setting.choices)}" if setting.choices else kind + several,
            fix="Correct it, or leave it out." if example is None else f"For example {example}.",
            where=setting.where,
        ) from error
