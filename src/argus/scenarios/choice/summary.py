"""The choice of component and λ in summary.json, key by key. Mean reciprocal ranks of needs."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.scenarios.figures import CellName, Mean, MeanDifference


class CellWorth(CellName):
    """A cell of the grid.

    mrr: mean reciprocal rank of needs.
    """

    mrr: float


class WithoutScenarios(TypedDict):
    """Needs whose document has no scenario, others have theirs.

    documents: documents that have no scenario.
    alone: mean reciprocal rank of their needs in documents alone.
    mrr: the same where others have scenarios.
    """

    documents: int
    alone: float
    mrr: float


class ChoiceFigures(CellName):
    """Choice by needs.

    documents: documents whose needs asked.
    needs: needs that asked.
    mrr: mean reciprocal rank with this cell.
    alone: the same of documents alone.
    usual: the same of M+E at 0.7.
    to_alone, to_usual: difference from these, each half by the best cell of the other half.
    grid: every cell with its mean reciprocal rank.
    """

    documents: int
    needs: int
    mrr: Mean
    alone: Mean
    usual: Mean
    to_alone: MeanDifference
    to_usual: MeanDifference
    without_scenarios: WithoutScenarios
    grid: list[CellWorth]


def choice_lines(choice: ChoiceFigures) -> Iterator[str]:
    """Yield the choice, its worth, and its cost to other documents."""
    yield (
        f"chosen by {choice['needs']:,} held-out needs of {choice['documents']:,} documents: "
        f"{choice['component']} at λ = {choice['lambda']:g}, mean reciprocal rank "
        f"{choice['mrr']['mean']:.3f} ({choice['mrr']['low']:.3f} to {choice['mrr']['high']:.3f}); "
        f"M+E at 0.7 {choice['usual']['mean']:.3f}, documents alone {choice['alone']['mean']:.3f}"
    )
    gain = choice["to_usual"]
    if gain["low"] is not None and gain["high"] is not None:
        yield (
            f"against M+E at 0.7 {gain['mean']:+.3f} ({gain['low']:+.3f} to {gain['high']:+.3f}), "
            "chosen on the other half of the documents"
        )
    without = choice["without_scenarios"]
    if without["documents"]:
        yield (
            f"{without['documents']:,} documents have no scenarios: for the needs of such, "
            f"{without['mrr']:.3f}, {without['alone']:.3f} by documents alone"
        )
