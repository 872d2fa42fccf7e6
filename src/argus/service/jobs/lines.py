"""A command as it would be typed, taken apart into what a request says."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from argus.errors import InputError
from argus.service.jobs.allowed import STARTABLE
from argus.service.jobs.declared import Commands, Declared
from argus.service.jobs.summary import JobRequest, Value

NAME = "argus"


def may_start(line: str) -> bool:
    """Return whether a typed command is one of those that a request may start, and one alone.

    A word in capitals stands for what a person has to say, such as MODEL.
    """
    words = _words(line)
    return bool(_command(words)) and not any(word.isalpha() and word.isupper() for word in words)


def as_request(line: str, commands: Commands) -> JobRequest:
    """Return the request of a typed command; its options are checked as those of any request.

    Raises InputError for one that may not be started, and for an option that it has not.
    """
    words = _words(line)
    command = _command(words)
    if not command:
        raise InputError(
            repr(line), expected=f"argus and one of {', '.join(STARTABLE)}",
            fix="Run it at a prompt.", where="command",
        )  # fmt: skip
    declared = commands.declared(command.split())
    options = options_of(words[1 + len(command.split()) :], declared)
    return JobRequest(command=command, options=options)


def options_of(
    words: Sequence[str], declared: Sequence[Declared]
) -> dict[str, Value | list[Value]]:
    """Return the options that typed words set; InputError for one that there is not."""
    options: dict[str, Value | list[Value]] = {}
    for one, value in _values(words, declared):
        if one.several:
            earlier = options.setdefault(one.name, [])
            assert isinstance(earlier, list)
            earlier.append(value)
        else:
            options[one.name] = value
    return options


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _command(words: Sequence[str]) -> str:
    """Return the command that words begin with, the longest; "" where it may not be started."""
    if words[:1] != [NAME] or {"&&", "|", ";", ">"} & set(words):
        return ""
    for n in (3, 2):
        if (command := " ".join(words[1:n])) in STARTABLE:
            return command
    return ""


def _values(words: Sequence[str], declared: Sequence[Declared]) -> Iterator[tuple[Declared, Value]]:
    """Yield options and arguments with their values."""
    arguments = [one for one in declared if not one.option]
    rest, alone = list(words), False
    while rest:
        word = rest.pop(0)
        if word == "--" and not alone:
            alone = True
        elif word.startswith("--") and not alone:
            yield _option(word, rest, declared)
        elif arguments:
            yield (arguments[0] if arguments[0].several else arguments.pop(0)), word
        else:
            raise InputError(
                repr(word), expected="no further argument", fix="Leave it out.", where="command"
            )


def _option(word: str, rest: list[str], declared: Sequence[Declared]) -> tuple[Declared, Value]:
    name, equals, value = word.partition("=")
    for one in declared:
        if one.kind == "flag" and word in (one.option, one.off):
            return one, word == one.option
        if one.option == name and one.kind != "flag" and (equals or rest):
            return one, value if equals else rest.pop(0)
    raise InputError(
        word, expected="an option of the command, with its value", fix="Leave it out.",
        where="command",
    )  # fmt: skip
