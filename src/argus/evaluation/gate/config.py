"""The bounds of a gate."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated

from argus.settings import Doc, Interval, check_settings

SHARE = Interval(ge=0, le=1)


@dataclass(frozen=True, kw_only=True)
class GateBounds:
    """The bounds that are set; None is no check. All shares and measures lie in 0..1."""

    max_low_rps_share: Annotated[float | None, SHARE, Doc("Entities with RPS below 0.33.")] = None
    min_mean_rps: Annotated[float | None, SHARE, Doc("Mean RPS.")] = None
    max_at_risk_share: Annotated[
        float | None, SHARE, Doc("Entities that argus diagnose flags.")
    ] = None
    min_recall: Annotated[float | None, SHARE, Doc("Of the last system evaluated.")] = None
    recall_measure: Annotated[str, Doc("What --min-recall reads.")] = "R@10"
    min_ndcg: Annotated[float | None, SHARE, Doc("Of the last system evaluated.")] = None
    max_ndcg_drop: Annotated[float | None, SHARE, Doc("Mean loss from before to after.")] = None
    max_harmed_share: Annotated[float | None, SHARE, Doc("Queries whose nDCG fell.")] = None
    ndcg_measure: Annotated[str, Doc("What the nDCG checks read.")] = "nDCG@10"
    max_never_retrieved_share: Annotated[
        float | None, SHARE, Doc("Documents that no query brought back.")
    ] = None
    min_self_retrieval: Annotated[
        float | None, SHARE, Doc("Titles and sentences that find their document.")
    ] = None
    max_unreachable_share: Annotated[
        float | None, SHARE, Doc("Records of a store that their own vector does not find.")
    ] = None
    min_index_recall: Annotated[
        float | None, SHARE, Doc("Of a store's index, against an exact search.")
    ] = None

    tolerance: Annotated[
        float, SHARE, Doc("Loss that --against allows whatever its test says.")
    ] = 0.0

    def __post_init__(self) -> None:
        from argus.measures.measures import measure_name

        check_settings(self)
        for name in ("recall_measure", "ndcg_measure"):  # as evaluate spells them
            object.__setattr__(self, name, measure_name(getattr(self, name)))

    @property
    def checks(self) -> list[str]:
        """Names of the checks that are set."""
        names = [f.name for f in fields(self) if f.name.startswith(("min_", "max_"))]
        return [name for name in names if getattr(self, name) is not None]
