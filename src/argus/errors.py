"""Define the errors that a person can act on: what is wrong, what was expected, how to mend it.

Every error that a user's input can cause derives from `ArgusError`. The command line prints its
text and exits 2. Anything else that escapes is a bug.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.visible import visible_line


class ArgusError(Exception):
    """Base of all errors raised for bad input, configuration or a broken environment."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process as it is, whatever the constructor of its class wants."""
        return _again, (type(self), self.args), vars(self)


@dataclass(frozen=True, slots=True)
class Location:
    """A place in the input: file, 1-based line (or row), field."""

    file: Path | str
    line: int | None = None
    field: str | None = None

    def __str__(self) -> str:
        parts = [str(self.file)]
        if self.line is not None:
            parts.append(f"line {self.line}")
        if self.field is not None:
            parts.append(f"field {self.field!r}")
        return ", ".join(parts)


class InputError(ArgusError):
    """Something in a file, an option or an argument is not as expected.

    `got`, `expected` and `fix` become one message: "WHERE: GOT; expected EXPECTED. FIX".
    """

    def __init__(
        self, got: str, *, expected: str, fix: str, where: Location | Path | str | None = None
    ) -> None:
        self.where, self.got, self.expected, self.fix = where, got, expected, fix
        prefix = f"{visible_line(str(where))}: " if where is not None else ""
        super().__init__(f"{prefix}{got}; expected {expected}. {fix}")


class IndexMissing(InputError):
    """A folder is no index of Argus, or is not there."""


class NotWritten(InputError, OSError):
    """A file or folder takes no more: a full disk, a quota, no right to write, a disk that is gone.

    Earlier files are whole. With space, the same command goes on.
    """

    def __init__(self, path: Path | str, error: BaseException) -> None:
        reason = error.strerror if isinstance(error, OSError) else ""
        reason = reason or next(iter(str(error).splitlines()), type(error).__name__)[:200]
        super().__init__(
            f"cannot be written ({reason})",
            expected="a place that can be written, with room",
            fix="What was written so far is whole: mend that, and run the same command again.",
            where=str(path),
        )
        self.errno = error.errno if isinstance(error, OSError) else None
        self.strerror, self.filename = reason, str(path)

    def __str__(self) -> str:
        return str(self.args[0])


class NothingMeasured(ArgusError):
    """There is nothing to measure. what: the thing that is missing. why: where to look."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"Nothing can be measured: no {what}. {why}")


class StoreUnreachable(ArgusError):
    """A vector store does not answer, or refuses to."""


class NothingToMend(ArgusError):
    """A remedy that would change nothing by itself."""


class EncodingError(ArgusError):
    """An encoder could not embed a batch. `retryable` is False when trying again cannot help."""

    def __init__(self, message: str, *, retryable: bool = True) -> None:
        self.retryable = retryable
        super().__init__(message)


class EndpointRefusal(EncodingError):
    """An endpoint refuses this text as it would any other: nothing is tried again or left out."""

    def __init__(self, message: str) -> None:
        super().__init__(message, retryable=False)


class EncoderMismatch(ArgusError):
    """Vectors of two different encoders were about to be mixed."""

    def __init__(self, where: Path, *, stored: str, given: str) -> None:
        self.stored, self.given = stored, given
        super().__init__(
            f"{where} holds vectors of another encoder; two encoders are never mixed."
            f"\n  stored: {stored}\n  given:  {given}\n"
            "Use the stored encoder, give another --out (or --cache), or start over with --fresh."
        )


def unnamed(got: str, where: Path | str | None = None) -> InputError:
    """Return the error of a path that is empty, which would be the current folder."""
    return InputError(
        got,
        expected="the name of a file or folder",
        fix="Name one (. is the current folder), or leave it out. Where it comes from a variable "
        "of the shell, that is not set.",
        where=where,
    )


def first_line(error: BaseException) -> str:
    """Return the first line of an exception's text."""
    return next(iter(str(error).strip().splitlines()), "no message")[:200]


def _again(kind: type[ArgusError], args: tuple[Any, ...]) -> ArgusError:
    """Return an error of these arguments, without its constructor, which made them."""
    error = kind.__new__(kind, *args)
    error.args = args  # which OSError leaves to its constructor
    return error
