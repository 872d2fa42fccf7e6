"""Write `argus` commands as text to copy, with the options of the run that they follow.

A result ends with the next command. `command`: words -> a shell line. `note` holds the options of a
run for its manifest. `carry` gives those of them that another command takes, by its name, and
`words_of` the same of options that were recorded. options.json lists what each command takes.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from types import MappingProxyType

from typing_extensions import TypedDict

Options = Mapping[str, Mapping[str, object]]
"""Options that were given, by the heading of their help and their name."""


class Invocation(TypedDict):
    """The start of a run, as far as a command that follows it has to know.

    options: those that name input and questions, by heading and name.
    directory: folder in which it ran.
    out: its folder of results.
    """

    options: dict[str, dict[str, object]]
    directory: str
    out: str


_OPTIONS: ContextVar[Options] = ContextVar("options", default=MappingProxyType({}))
# Options of every command by heading, so that a command need not be loaded to print another.
DECLARED = Path(__file__).with_name("options.json")


def command(*words: object) -> str:
    """Return a command of Argus as it would be typed."""
    return shlex.join(["argus", *map(str, words)])


@contextmanager
def note(options: Options) -> Iterator[None]:
    """Note these options in manifests written meanwhile (`invocation_of`)."""
    token = _OPTIONS.set(options)
    try:
        yield
    finally:
        _OPTIONS.reset(token)


def invocation_of(out: Path) -> Invocation:
    """Return the note in a manifest about the run that writes a folder of results."""
    options = {heading: dict(some) for heading, some in _OPTIONS.get().items()}
    return {"options": options, "directory": str(Path.cwd()), "out": os.path.abspath(out)}  # noqa: PTH100


def carry(name: str) -> list[str]:
    """Return the options of this run, as words, that a command after it takes."""
    return words_of(_OPTIONS.get(), name)


@cache
def takes(name: str) -> Mapping[str, str]:
    """Return the options that a command takes, such as "--corpus" of "index build".

    With the heading of those that say how something is read or asked, "" for the others.
    """
    headings: dict[str, list[str]] = json.loads(DECLARED.read_bytes())[name]
    return {option: heading for heading, options in headings.items() for option in options}


def words_of(options: Options, name: str) -> list[str]:
    """Return the words of those options that a command takes."""
    taken = takes(name)
    words: list[str] = []
    for values_of in options.values():
        for option, value in values_of.items():
            if option in taken:
                values = value if isinstance(value, list) else [value]
                words += [w for v in values for w in ([option] if v is True else [option, str(v)])]
    return words
