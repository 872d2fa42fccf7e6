"""The figures' part of summary.json."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.retrievability.rps import Curve, GroupFigures


class PanelFigures(TypedDict):
    """One panel of Figures 2 and 6: a retriever's entities at one N.

    entities: entities that are scored at this N.
    mean_rps: mean RPS at this N.
    groups: bands or thirds of the entities.
    method: how they were projected; see `argus.retrievability.geometry.Projection`.
    accuracy: share of held-out entities whose group LDA names right.
    majority: share of the commonest group; None without LDA.
    shrinkage: of LDA's covariances (Ledoit-Wolf), 0 for none to 1; None without LDA.
    """

    pool: int
    entities: int
    mean_rps: float
    groups: GroupFigures
    method: str
    accuracy: float | None
    majority: float | None
    shrinkage: float | None


class RetrieverFigures(TypedDict):
    """One retriever.

    name: name of the retriever.
    folder: folder of its audit.
    encoder: fingerprint of its encoder.
    entities: entities that its audit scored.
    mean_rps: mean RPS at k and the last N (Figure 1).
    low, high: its 95% Wilson interval over entities.
    over_pool: mean RPS over N.
    over_k: mean RPS over k.
    """

    name: str
    folder: str
    encoder: str
    pooling: str
    entities: int
    mean_rps: float
    low: float
    high: float
    over_pool: Curve
    over_k: Curve
    panels: list[PanelFigures]


class FiguresSummary(TypedDict):
    """Several retrievers, side by side.

    pools: sizes N of the panels.
    groups: what entities are grouped by: bands or terciles.
    shared: entities that all audits scored.
    """

    k: int
    pools: list[int]
    groups: str
    shared: int
    retrievers: list[RetrieverFigures]


def same_entities(summary: FiguresSummary) -> bool:
    """Return whether all audits scored the same entities."""
    return all(one["entities"] == summary["shared"] for one in summary["retrievers"])


def headline(summary: FiguresSummary) -> Iterator[str]:
    """Yield a line for each retriever, and whether they measured the same entities."""
    k, pool = summary["k"], summary["pools"][-1]
    width = max(len(one["name"]) for one in summary["retrievers"])
    yield f"RPS at k={k}, N={pool}; groups: {summary['groups']}"
    for one in summary["retrievers"]:
        yield f"{one['name']:<{width}}  mean {one['mean_rps']:.3f}; {_panels(one['panels'])}"
    if not same_entities(summary):
        yield (
            f"the audits are of different entities ({summary['shared']:,} are in all): compare "
            "with care"
        )


def _panels(panels: list[PanelFigures]) -> str:
    first, last = panels[0], panels[-1]
    shares = [f"{p['groups']['counts']['low'] / p['entities']:.1%}" for p in (first, last)]
    low = f"low {shares[0]} at N={first['pool']}, {shares[1]} at N={last['pool']}"
    if last["accuracy"] is None or last["majority"] is None:
        return f"{low}; {last['method']}"
    return (
        f"{low}; LDA names the group of {last['accuracy']:.1%} held out "
        f"(the commonest: {last['majority']:.1%}; shrinkage {last['shrinkage']:.2f})"
    )
