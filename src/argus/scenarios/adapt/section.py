"""The correction's section: its sources, and the result on held-out needs."""

from __future__ import annotations

from pathlib import Path

from argus.reports.section import Section
from argus.scenarios.adapt.summary import AdaptSummary


def section(folder: Path, adapt: AdaptSummary) -> Section:
    """Build it from the summary alone."""
    if not adapt["prescribed"]:
        return Section(brief="no correction: held-out needs do not improve")
    held = adapt["learnt"]["held_out"]
    return Section(
        brief=f"held-out needs, mean reciprocal rank: {held['mean_before']:.3f} → "
        f"{held['mean_after']:.3f}"
    )
