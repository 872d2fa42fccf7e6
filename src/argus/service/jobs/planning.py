"""From a request to the command that is run: what may be started, with which options."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.errors import InputError
from argus.indexes.spec import parse_index_spec
from argus.service.jobs.allowed import OF_THE_SERVICE, PLACES, STARTABLE, may_set
from argus.service.jobs.declared import Commands, Declared
from argus.service.jobs.summary import LONGEST, JobRequest, Value
from argus.service.workplace import BESIDE, SERVED, STATE, Workplace

CONFIG = "config"


@dataclass(frozen=True)
class Planned:
    """A command that may be run. writes: folders that it alone may write while it runs."""

    words: tuple[str, ...]
    arguments: tuple[str, ...]
    writes: tuple[Path, ...]

    @property
    def line(self) -> str:
        """The command as it would be typed."""
        return command_line(self.words, self.arguments)


def command_line(words: Sequence[str], arguments: Sequence[str]) -> str:
    """Return a command as it would be typed."""
    return shlex.join(("argus", *words, *arguments))


def plan_job(
    request: JobRequest, workplace: Workplace, commands: Commands, wrote: Collection[str] = ()
) -> Planned:
    """Return the command of a request.

    wrote: paths that jobs wrote before. Raises InputError for a command that may not be started, an
    option that it has not or that is set on the command line alone, a value that it would refuse, a
    path outside the folders, and a file to write that is somebody else's.
    """
    words = tuple(request.command.split())
    check_startable(" ".join(words))
    declared = commands.declared(words)
    values = _by_name(request.options, declared, " ".join(words))
    _check_homes(values, declared)
    named: list[str] = []
    alone: list[str] = []
    writes: list[Path] = []
    for one in declared:
        if (value := values.get(one.name)) is None:
            continue
        several = value if isinstance(value, list) else [value]
        whole = [_whole(one, v, workplace) for v in several]
        if one.written and one.kind != "flag":
            writes += [_folder(one, text) for text in whole]
            _check_files(one, writes, workplace, wrote)
        (named if one.option else alone).extend(_as_typed(one, whole))
    arguments = (*named, *(("--", *alone) if alone else ()))
    if workplace.config is not None and any(one.name == CONFIG for one in declared):
        arguments = (f"--{CONFIG}={workplace.config.resolve()}", *arguments)
    commands.check(words, arguments)
    return Planned(words, arguments, tuple(dict.fromkeys(writes)))


def check_startable(command: str) -> None:
    """Raise InputError for a command that a request may not start."""
    if command not in STARTABLE:
        raise InputError(
            repr(command), expected=f"one of {', '.join(STARTABLE)}",
            fix="Run other commands at a prompt.", where="command",
        )  # fmt: skip


def _by_name(
    options: Mapping[str, Value | list[Value]], declared: Sequence[Declared], command: str
) -> dict[str, Value | list[Value]]:
    """Return the options by the names they are declared under."""
    names = {one.name: one for one in declared}
    values: dict[str, Value | list[Value]] = {}
    for key, value in options.items():
        name = key.replace("-", "_")
        one = names.get(name) or names.get(f"{name}_")
        if one is None:
            raise InputError(
                f"{command} has no such option",
                expected=f"one of {', '.join(names)}", fix="Leave it out.", where=key,
            )  # fmt: skip
        if not may_set(command, one):
            raise InputError(
                "is set where the service is started, never by a request",
                expected="a command without it",
                fix="Name it in the file of `argus serve --config`, or run this at a prompt.",
                where=key,
            )
        if isinstance(value, list) and not one.several:
            raise InputError("several values", expected="one", fix="Give one.", where=key)
        values[one.name] = value
    return values


def _check_homes(values: Mapping[str, Value | list[Value]], declared: Sequence[Declared]) -> None:
    """Raise InputError where results would go to a default place, which is no folder served."""
    for one in declared:
        if one.written and one.kind == "path" and one.default and values.get(one.name) is None:
            raise InputError(
                "not said", expected="a folder inside those that the service was started over",
                fix="Name one.", where=one.name,
            )  # fmt: skip


def _check_files(
    one: Declared, writes: Sequence[Path], workplace: Workplace, wrote: Collection[str]
) -> None:
    """Raise InputError for a file that a job would write in place of what is not a job's."""
    served = {file: name for name, file in workplace.inputs.items()}
    for file in (path for path in writes if path.is_file()):
        if file in served or str(file) not in wrote:
            what = f"what is served ({served[file]})" if file in served else "there already"
            raise InputError(
                f"{file} is {what}", expected="a file that a job of this service made, or none yet",
                fix="Name another file: what is there would be lost.", where=one.name,
            )  # fmt: skip


def _whole(one: Declared, value: Value, workplace: Workplace) -> str:
    """Return one value as it goes on the command line."""
    if one.kind == "flag":
        return _flag(one, value)
    if isinstance(value, bool) or value is None:
        raise InputError(
            repr(value), expected="a text or a number", fix="Correct it.", where=one.name
        )
    text = str(value)
    if not text or len(text) > LONGEST or "\0" in text:
        raise InputError(
            f"a value of {len(text):,} characters",
            expected=f"from 1 to {LONGEST:,}, none of them null", fix="Correct it.", where=one.name,
        )  # fmt: skip
    if one.name == "corpus" and text == SERVED:
        return referred(one, text, workplace)
    if is_of_the_service(one) and (text == SERVED or text.startswith(BESIDE)):
        return referred(one, text, workplace)
    if one.name != "index" and is_of_the_service(one):
        raise InputError(
            "is named where the service is started, never by a request", expected=SERVED,
            fix="Start the service with it.", where=one.name,
        )  # fmt: skip
    if one.kind == "path" or one.name in PLACES:
        return _inside(one, text, workplace)
    return text


def is_of_the_service(one: Declared) -> bool:
    """Return whether an option names what the service was started over."""
    return one.name == "index" or (one.name in OF_THE_SERVICE and one.kind == "text")


def _folder(one: Declared, text: str) -> Path:
    return parse_index_spec(text).path if one.name == "index" else Path(text)


def referred(one: Declared, reference: str, workplace: Workplace) -> str:
    """Return what a reference, such as "served", stands for in a command line.

    Raises InputError where the service was started without it.
    """
    name = workplace.named(reference, one.name)
    if name is None:
        raise InputError(
            f"{reference!r}, and the service was started without one",
            expected=f"--{one.name if reference == SERVED else 'beside'} of argus serve",
            fix="Start it with one.", where=one.name,
        )  # fmt: skip
    if one.name != "index":
        return name
    spec = parse_index_spec(name)
    if one.written:  # read, it may lie elsewhere: who started the service named it
        return _inside(one, str(spec.path), workplace)
    state = "" if spec.as_of is None else f"@{spec.as_of}"
    return f"{spec.path.resolve()}{state}"


def _inside(one: Declared, text: str, workplace: Workplace) -> str:
    """Return a path, links followed, which lies in a folder of the workplace."""
    spec = parse_index_spec(text) if one.name == "index" else None
    path, state = (Path(text), None) if spec is None else (spec.path, spec.as_of)
    try:
        real = path.resolve()
        inside = workplace.contains(path)
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError(
            str(error), expected="a path", fix="Correct it.", where=one.name
        ) from error
    if not inside:
        raise InputError(
            f"{text!r} lies outside the folders that the service was started over",
            expected=f"a path in {', '.join(map(str, workplace.folders))}",
            fix="Start the service over that folder, too.",
            where=one.name,
        )
    if STATE in real.parts:
        raise InputError(
            f"{text!r} is where the service keeps its own state",
            expected="another path",
            fix="Name a file or folder beside it.",
            where=one.name,
        )
    return str(real) if state is None else f"{real}@{state}"


def _flag(one: Declared, value: Value) -> str:
    if not isinstance(value, bool):
        raise InputError(repr(value), expected="true or false", fix="Correct it.", where=one.name)
    return one.option if value else one.off


def _as_typed(one: Declared, values: Sequence[str]) -> Iterator[str]:
    """Yield words of a command line; a value is part of its option's word, whatever it holds."""
    for value in values:
        if one.kind == "flag":
            yield from [value] if value else []
        else:
            yield f"{one.option}={value}" if one.option else value
