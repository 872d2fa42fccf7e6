"""Where a command writes is declared beside the option, for what Ctrl-C says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


def _nowhere(_options: Mapping[str, Any]) -> None:
    return None


@dataclass(frozen=True, slots=True)
class Output:
    """In an option's type: the command writes to what it names.

    default: takes all options; returns where the command writes without this one, None: nowhere.
    alone: where this option is set, the command writes there and nowhere else; a flag: nowhere.
    """

    default: Callable[[Mapping[str, Any]], object] = _nowhere
    alone: bool = False


OUTPUT, ALONE = Output(), Output(alone=True)


def places(outputs: Mapping[str, Output], options: Mapping[str, Any]) -> list[str]:
    """Return the files and folders that a command with these options writes to."""
    for name, note in outputs.items():
        if note.alone and options[name]:
            return [] if options[name] is True else [str(options[name])]
    named = (
        options[name] or note.default(options) for name, note in outputs.items() if not note.alone
    )
    return [str(place) for place in named if place is not None]


def stopped(outputs: Mapping[str, Output], options: Mapping[str, Any]) -> str:
    """Say what Ctrl-C left, and how to go on. options: of the command that was stopped."""
    homes = " and ".join(places(outputs, options))
    if not homes:
        return "stopped; nothing was being written"
    again = "the same command without --fresh" if options.get("fresh") else "the same command"
    return f"stopped; what was finished is kept in {homes}: {again} goes on from there"
