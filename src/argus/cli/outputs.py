"""Where a command writes is declared beside the option, for what Ctrl-C says."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.artifacts import MARKER, ArtifactFolder
from argus.errors import InputError

BEGINNING = 2**16
"""Bytes of a file that are looked at for its marks."""
STEERING = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
"""What no name of a file to write may hold: the table of an index cannot, and lists are cut."""


def _nowhere(_options: Mapping[str, Any]) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Output:
    """In an option's type: the command writes to what it names.

    default: takes all options; returns where the command writes without this one, None: nowhere.
    alone: where this option is set, the command writes there and nowhere else; a flag: nowhere.
    marks: of a file that is written at once, what one that Argus wrote has in its beginning.
    """

    default: Callable[[Mapping[str, Any]], object] = _nowhere
    alone: bool = False
    marks: tuple[str, ...] = ()

    def wrote(self, file: Path) -> bool:
        """Return whether a file may be Argus's own: it has all marks, or is empty."""
        with file.open("rb") as opened:
            beginning = opened.read(BEGINNING)
        return not beginning or all(mark.encode() in beginning for mark in self.marks)


OUTPUT, ALONE = Output(), Output(alone=True)


def places(outputs: Mapping[str, Output], options: Mapping[str, Any]) -> list[str]:
    """Return the files and folders that a command with these options writes to as it goes."""
    for name, note in outputs.items():
        if note.alone and options[name]:
            return [] if options[name] is True else [str(options[name])]
    named = (
        options[name] or note.default(options)
        for name, note in outputs.items()
        if not (note.alone or note.marks)
    )
    return [str(place) for place in named if place is not None]


def check_outputs(outputs: Mapping[str, Output], options: Mapping[str, Any]) -> None:
    """Raise InputError for a name of control characters, and for a file that is to stay.

    That is one that another option names, that holds results, or that Argus did not write.
    """
    for name, output in outputs.items():
        for place in _texts(options.get(name)):
            _check_name(name, place)
            file = Path(os.path.realpath(place))
            if file.is_dir():
                continue
            rivals = options if file.exists() else outputs
            for other in rivals:
                named = map(os.path.realpath, _texts(options.get(other)))
                if other != name and str(file) in named:
                    raise _taken(name, file, f"is what {_option(other)} names, too")
            if file.is_file() and _is_result(file):
                raise _taken(name, file, "holds results of Argus")
            if file.is_file() and not output.wrote(file):
                raise _taken(name, file, "is there, and is not what this option writes")


def _check_name(name: str, place: str) -> None:
    """Refuse to write to a name that holds control characters."""
    if STEERING.search(place):
        raise InputError(
            f"{place!a} holds control characters",
            expected="the name of a file or folder",
            fix="Give another name.",
            where=_option(name),
        )


def _is_result(file: Path) -> bool:
    """Whether a file is one of a folder of results, an index, a store of vectors or a past run."""
    home = file.parent
    indexes = (i for i in file.parents if (i / MARKER).is_file() and (i / "index.json").is_file())
    return (
        file.name in {MARKER, *ArtifactFolder(home).recorded()}
        or any(indexes)
        or (home / "store.json").is_file()
        or (home.parent.name == "history" and (home / "run.json").is_file())
    )


def check_characters(options: Mapping[str, Any]) -> None:
    """Raise InputError for a text or path of other than UTF-8, or with a NUL: no file has it."""
    for name, value in options.items():
        for text in _texts(value):
            if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
                raise InputError(
                    f"{text!a} is not UTF-8 without NUL",
                    expected="text, or the name of a file, in UTF-8",
                    fix="Give it in UTF-8, or rename what it names.",
                    where=_option(name),
                )


def _taken(name: str, file: Path, what: str) -> InputError:
    return InputError(
        f"{file} {what}",
        expected="a place of its own",
        fix="Name another file: what is there would be lost.",
        where=_option(name),
    )


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts and paths of an option, which may take several."""
    for one in value if isinstance(value, list | tuple) else (value,):
        if isinstance(one, str | Path):
            yield str(one)


def stopped(outputs: Mapping[str, Output], options: Mapping[str, Any]) -> str:
    """Say what Ctrl-C left, and how to go on. options: of the command that was stopped."""
    homes = " and ".join(places(outputs, options))
    if not homes:
        return "stopped; nothing was being written"
    again = "the same command without --fresh" if options.get("fresh") else "the same command"
    return f"stopped; what was finished is kept in {homes}: {again} goes on from there"
