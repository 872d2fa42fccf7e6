"""What an audit measures."""

from __future__ import annotations

from dataclasses import dataclass

from argus.errors import InputError
from argus.retrievability import rps

POOLINGS = ("span", "sentence")


RESERVOIR_FROM = 50_000


RESERVOIR = 20_000


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """What an audit measures.

    k, pool: one or more values of k and N; the first of each is the headline. pooling: "span"
    pools the mention's token vectors (the paper), "sentence" takes the vector that the index
    holds. reservoir: neutrals per 1,024 queries; None is exact up to RESERVOIR_FROM entities and
    RESERVOIR beyond, 0 is exact always. device: where ranks are counted; None takes a GPU when
    there is one.
    """

    k: tuple[int, ...] = (rps.DEFAULT_K,)
    pool: tuple[int, ...] = (rps.DEFAULT_POOL,)
    pooling: str = "span"
    reservoir: int | None = None
    device: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, values in (("--k", self.k), ("--pool", self.pool)):
            if not values or min(values) < 1:
                raise InputError(
                    f"{values}", expected="whole numbers from 1", fix="For example 50.", where=name
                )
        if max(self.k) > min(self.pool):
            raise InputError(
                f"k={max(self.k)} with a pool of N={min(self.pool)}",
                expected="k <= N, since an entity ranks among N candidates",
                fix=f"Use --k up to {min(self.pool)}, or a larger --pool.",
                where="--k",
            )
        if self.pooling not in POOLINGS:
            raise InputError(
                f"{self.pooling!r}",
                expected="span or sentence",
                fix="Leave it out for span.",
                where="--pooling",
            )

    def reservoir_for(self, n: int) -> int | None:
        """Return the reservoir size for n entities; None is exact."""
        if self.reservoir == 0 or (self.reservoir is None and n <= RESERVOIR_FROM):
            return None
        return self.reservoir or RESERVOIR

    def check_pool(self, n: int, related: int) -> None:
        """Raise InputError where too few entities are neutral for N.

        n: entities with text. related: how many of them the entity with the fewest is related to.
        """
        most = max(self.pool)
        reservoir, largest = self.reservoir_for(n), n - 1 - related
        if reservoir is not None and reservoir < n and reservoir < 2 * most:
            raise InputError(
                f"a reservoir of {reservoir} for N={most}",
                expected="at least twice N, so that enough neutrals are left of it for every query",
                fix=f"Use --reservoir {2 * most} or more, or 0 for none.",
                where="--reservoir",
            )
        if most - 1 > largest:
            raise InputError(
                f"N={most} needs {most - 1} neutrals per query",
                expected=(
                    f"at most the {largest} that are eligible ({n} entities with text, less the "
                    "query and its neighbours)"
                ),
                fix=f"Use --pool {largest + 1} or less (and --k no larger).",
                where="--pool",
            )
