"""The figure of the question-answering comparison."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.scenarios.qa.summary import ArmSummary

_GREY = "#8a93a0"


def mean_scores(arms: Sequence[ArmSummary], names: Mapping[str, str]) -> Figure:
    """Mean score per arm with its 95% interval; documents alone and oracles in grey.

    Arms without a mean are left out. names: of arms, as a person reads them.
    """
    means = [arm["mean"] for arm in arms if arm["mean"] is not None]
    arms = [arm for arm in arms if arm["mean"] is not None]
    fused = [arm["arm"].startswith("fused") for arm in arms]
    bars = {
        "type": "bar",
        "x": [names[arm["arm"]] for arm in arms],
        "y": [round(mean, 3) for mean in means],
        "width": 0.6,
        "marker": {"color": [BAND_COLOURS["high"] if own else _GREY for own in fused]},
        "error_y": {
            "type": "data",
            "symmetric": False,
            "array": [_end(arm["high"], mean) for arm, mean in zip(arms, means, strict=True)],
            "arrayminus": [_end(mean, arm["low"]) for arm, mean in zip(arms, means, strict=True)],
            "color": INK,
            "thickness": 1.5,
        },
        "customdata": [arm["questions"] for arm in arms],
        "hovertemplate": "%{x}: %{y:.1f} on %{customdata:,} questions<extra></extra>",
    }
    return framed([bars], "", "mean score, 0 to 100", {"showlegend": False}, yrange=[0, 100])


def _end(high: float | None, low: float | None) -> float:
    """Return the length of one arm of an error bar, 0 where there is no interval."""
    return 0.0 if high is None or low is None else round(high - low, 3)
