"""The section on a remedy's records in a store."""

from __future__ import annotations

from pathlib import Path

from argus.remedies.writing.summary import WrittenSummary
from argus.reports.section import Section


def section(folder: Path, summary: WrittenSummary) -> Section:
    """Say what was written; what can be reached of it is told by the section of the store."""
    counts = summary["counts"]
    return Section(brief=f"{counts['records']:,} records of {summary['remedy']} written")
