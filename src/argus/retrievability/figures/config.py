"""What the figures show."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from argus.errors import InputError
from argus.retrievability.rps import Grouping
from argus.settings import Doc, Ge, Seed, check_settings


@dataclass(frozen=True, kw_only=True)
class FigureConfig:
    """What the figures show. k, pools: None takes them of the first audit.

    pools: by default an eighth, a quarter, a half and all of its N, as far as they are at least k.
    """

    k: Annotated[int | None, Ge(1), Doc("Results read; default: the first audit's.")] = None
    pools: Annotated[
        tuple[int, ...],
        Doc(
            "Candidates N, one panel each, the last for figures at one N; by commas. Default: "
            "the first audit's, an eighth, a quarter and a half of it."
        ),
    ] = ()
    groups: Annotated[
        Grouping,
        Doc("bands: RPS below 0.33, below 0.66, above; terciles: thirds of the entities."),
    ] = "bands"
    shown: Annotated[int, Ge(1), Doc("Entities drawn in one panel, at most.")] = 1500
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        if any(pool < 1 for pool in self.pools):
            raise InputError(
                ",".join(map(str, self.pools)), expected="candidates N, each at least 1",
                fix="For example --pools 100,200,400,800.", where="--pools",
            )  # fmt: skip

    def settle(self, k: int, pool: int) -> tuple[int, list[int]]:
        """Return k, and the values of N from small to large; k, pool: of the first audit.

        Raises InputError for N below k.
        """
        k = self.k or k
        halves = (pool // 8, pool // 4, pool // 2, pool)
        pools = sorted(set(self.pools or (n for n in halves if n >= k)))
        if not pools or pools[0] < k:
            raise InputError(
                f"k={k} with N={pools[0] if pools else pool}",
                expected="k <= N, since an entity ranks among N candidates",
                fix=f"Use --k up to {pools[0] if pools else pool}, or larger --pools.",
                where="--k",
            )
        return k, pools
