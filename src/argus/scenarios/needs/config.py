"""Settings of a need audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from argus.data.fields import By, ParentField
from argus.errors import InputError
from argus.scenarios.cells import Components, GridConfig, Weights
from argus.scenarios.profile import COMPONENT
from argus.settings import Ge, Gt, Lt, Seed, check_settings

WEIGHTS = (0.5, 0.6, 0.7, 0.8, 0.9)  # λ of the grid, as in SPIKE Table 7.


class PoolSetting(NamedTuple):
    """In the top k of N candidates."""

    k: int
    pool: int


@dataclass(frozen=True, kw_only=True)
class NeedsConfig(GridConfig):
    """Settings of the audit. k, pool: those of RPS. k is also the depth of the whole corpus.

    Attributes:
        k: How far down a list counts as found.
        pool: N of RPS: among so many documents.
        sample: Ask for so many documents, drawn at random; default: for all.
        until_width: Draw documents until the 95% interval of the share that is found is this
            narrow.
        further: Needs that --model writes besides, of a document that only some of its needs find.
    """

    components: Components = (COMPONENT,)
    weights: Weights = WEIGHTS
    k: Annotated[int, Ge(1)] = 10
    pool: Annotated[int, Ge(1)] = 800
    sample: Annotated[int | None, Ge(1)] = None
    until_width: Annotated[float | None, Gt(0), Lt(1)] = None
    further: Annotated[int, Ge(0)] = 3
    parent_field: ParentField = None
    seed: Seed = 0
    by: By = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self)
        if self.k > self.pool:
            raise InputError(
                f"k={self.k} with a pool of N={self.pool}",
                expected="k <= N, since a document ranks among N candidates",
                fix=f"Use --k up to {self.pool}, or a larger --pool.",
                where="--k",
            )
        object.__setattr__(self, "components", tuple(dict.fromkeys(self.components)))

    @property
    def drawing(self) -> dict[str, object]:
        """The settings of every need audit, by name: how deep, sliced by what, whose needs ask."""
        names = ("k", "sample", "until_width", "further", "parent_field")
        return {name: getattr(self, name) for name in names} | {"by": list(self.by)}

    def fitting(self, n: int) -> PoolSetting:
        """Return k and N of RPS in a corpus of n documents: 5% of half of them where N is more."""
        if self.pool <= n:
            return PoolSetting(self.k, self.pool)
        pool = max(2, n // 2)
        return PoolSetting(min(self.k, max(1, pool // 20)), pool)
