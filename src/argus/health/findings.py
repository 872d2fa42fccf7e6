"""What a check-up tells: a line a check, and how to mend what is broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from argus.errors import ArgusError, InputError
from argus.health.summary import CheckRecord, HealthSummary
from argus.jobs.result import Result


class HealthState(StrEnum):
    """How a check ended. A note is worth knowing; nothing has to be mended for it."""

    GOOD = "good"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class HealthCheck:
    """One part that was tried. mend: how, where it is not good."""

    part: str
    state: HealthState
    text: str
    mend: str = ""

    @classmethod
    def of_error(
        cls, part: str, error: Exception, state: HealthState = HealthState.BAD
    ) -> HealthCheck:
        """Return what an error says of a part: what came, and how to mend it."""
        if isinstance(error, InputError):
            where = f"{error.where}: " if error.where is not None else ""
            return cls(part, state, f"{where}{error.got}; expected {error.expected}", error.fix)
        if isinstance(error, ArgusError | ImportError):
            text, _, mend = str(error).partition(": pip install ")
            return cls(part, state, text, f"pip install {mend}" if mend else "")
        return cls(part, state, f"{type(error).__name__}: {error}")

    def record(self) -> CheckRecord:
        """Return it as JSON."""
        return {
            "part": self.part, "state": str(self.state), "text": self.text, "mend": self.mend,
        }  # fmt: skip

    def lines(self) -> Iterator[str]:
        """Yield the check in words, and below it how to mend it."""
        yield f"{MARKS[self.state]} {self.part}: {self.text}"
        if self.mend:
            yield f"     -> {self.mend}"


MARKS = {HealthState.GOOD: "ok  ", HealthState.NOTE: "note", HealthState.BAD: "BAD "}


@dataclass(frozen=True, repr=False)
class HealthResult(Result):
    """What a check-up tells."""

    checks: tuple[HealthCheck, ...]

    @property
    def bad(self) -> int:
        """How many parts have to be mended."""
        return count(self.checks, HealthState.BAD)

    @property
    def exit_code(self) -> int:
        """0 where nothing has to be mended, else 2."""
        return 2 if self.bad else 0

    @property
    def summary(self) -> HealthSummary:
        """The checks as JSON."""
        return {
            "checks": [check.record() for check in self.checks],
            "good": count(self.checks, HealthState.GOOD),
            "notes": count(self.checks, HealthState.NOTE),
            "bad": self.bad,
        }

    def headline(self) -> Iterator[str]:
        """Yield every check, and whether a job can run."""
        for check in self.checks:
            yield from check.lines()
        if self.bad:
            yield f"{self.bad} to mend"
        else:
            yield "nothing to mend"


def count(checks: Sequence[HealthCheck], state: HealthState) -> int:
    """Return how many checks ended so."""
    return sum(check.state is state for check in checks)
