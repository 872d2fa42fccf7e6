"""What a command declares of its options, as the command line hands it to the service."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Kind = Literal["path", "text", "choice", "number", "flag"]


@dataclass(frozen=True, slots=True)
class Declared:
    """One option, or argument, of a command.

    option: "" of an argument. off: the opposite of a flag, "" where it has none. default: whether
    something holds where it is left out. written: whether the command writes to what it names.
    """

    name: str
    kind: Kind
    option: str = ""
    off: str = ""
    several: bool = False
    default: bool = False
    written: bool = False


class Commands(Protocol):
    """The commands of Argus."""

    def declared(self, words: Sequence[str]) -> Sequence[Declared]:
        """Return what a command takes, arguments in their order; InputError for an unknown one."""

    def check(self, words: Sequence[str], arguments: Sequence[str]) -> None:
        """Raise InputError for arguments that the command line would refuse to parse."""
