"""What a check says of a folder of results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from argus.visible import visible_line


class Verdict(StrEnum):
    """What became of a check."""

    PASS = "pass"
    FAIL = "fail"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Outcome:
    """What one check says of one folder. bound: None where there was nothing to compare with."""

    check: str
    folder: str
    verdict: Verdict
    bound: float | None
    value: float | None
    detail: str

    @property
    def sign(self) -> str:
        """Whether the bound is a ceiling, a floor, or a baseline."""
        names = {"max": "at most", "min": "at least"}
        return names.get(self.check.partition("_")[0], "was")

    @property
    def option(self) -> str:
        """The option that set the check."""
        return "--" + self.check.replace("_", "-")

    @property
    def line(self) -> str:
        """One line for a person."""
        value, bound = self.shown
        compared = f"{value}, {self.sign} {bound}; " if self.bound is not None else ""
        finding = f"{self.option}: {compared}{self.detail} [{self.folder}]"
        return f"{self.verdict.upper():<12} {visible_line(finding)}"

    @property
    def shown(self) -> tuple[str, str]:
        """Value and bound as a person reads them."""
        value = "–" if self.value is None else f"{self.value:.4f}"
        bound = "–" if self.bound is None else f"{self.bound:.4g}"
        return value, bound
