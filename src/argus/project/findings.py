"""What `argus init` tells: what was tried, what was written, what is next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import TypedDict

from argus.health.job import Checked, CheckRecord


class ProjectSummary(TypedDict):
    """What was written, what was tried, and the command to go on with."""

    file: str
    checks: list[CheckRecord]
    bad: int
    next: str


@dataclass(frozen=True, repr=False)
class ProjectResult(Checked):
    """A project that was begun; its file is written whatever the checks say."""

    file: Path
    next: str
    """The command to go on with."""

    @property
    def summary(self) -> ProjectSummary:
        """The same as JSON."""
        return {
            "file": str(self.file),
            "checks": [check.record() for check in self.checks],
            "bad": self.bad,
            "next": self.next,
        }

    def headline(self) -> Iterator[str]:
        """Yield what was tried, the file, and the next command."""
        for check in self.checks:
            yield from check.lines()
        yield f"written: {self.file}"
        yield f"next: {self.next}"
