"""Declare the settings of entity audits, of document checks (exposure), and of fits of probes.

The options of `argus research audit`, `argus check`, and `research probe fit`, in this order, with
the defaults of k, of the number N of entities that compete, and of pooling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from argus.data.fields import By, ParentField
from argus.devices import Device
from argus.errors import InputError
from argus.settings import TOP_K, Ge, Option, Seed, TopK, check_settings

DEFAULT_K = 50
DEFAULT_POOL = 800
RESERVOIR_FROM = 50_000  # entities from which on competitors are sampled
RESERVOIR = 20_000

Pooling = Literal["span", "sentence"]
POOLING: Pooling = "span"


@dataclass(frozen=True, kw_only=True)
class AuditConfig:
    """Settings of an audit.

    k, pool: one or more values of k and N. reservoir: None is exact up to RESERVOIR_FROM entities
    and RESERVOIR beyond. device: where ranks are counted.

    Attributes:
        k: Results read; several by commas, the first is the headline.
        pool: Candidates N; several by commas, the first is the headline.
        pooling: span: the mention's tokens (the paper); sentence: the vector an index holds.
        reservoir: Competitors per 1,024 queries; 0: exact; default: exact up to 50,000 entities.
    """

    k: Annotated[tuple[int, ...], Ge(1)] = (DEFAULT_K,)
    pool: Annotated[tuple[int, ...], Ge(1)] = (DEFAULT_POOL,)
    pooling: Pooling = POOLING
    reservoir: Annotated[int | None, Ge(0)] = None
    device: Device = None
    seed: Seed = 0
    by: By = ()

    def __post_init__(self) -> None:
        check_settings(self)
        if max(self.k) > min(self.pool):
            got = f"k={max(self.k)} with a pool of N={min(self.pool)}"
            expected = "k <= N, since an entity ranks among N candidates"
            fix = f"Use --k up to {min(self.pool)}, or a larger --pool."
            raise InputError(got, expected=expected, fix=fix, where="--k")

    def reservoir_for(self, n: int) -> int | None:
        """Return the reservoir size for n entities. None is exact."""
        if self.reservoir == 0 or (self.reservoir is None and n <= RESERVOIR_FROM):
            return None
        return self.reservoir or RESERVOIR

    def check_pool(self, n: int, related: int) -> None:
        """Raise InputError where too few entities are neutral for N.

        n: entities with text. related: how many of them the entity with the fewest is related to.
        """
        pool = max(self.pool)
        reservoir, largest = self.reservoir_for(n), n - 1 - related
        if reservoir is not None and reservoir < n and reservoir < 2 * pool:
            got, where = f"a reservoir of {reservoir} for N={pool}", "--reservoir"
            expected = "at least twice N, so that enough neutrals are left of it for every query"
            fix = f"Use --reservoir {2 * pool} or more, or 0 for none."
        elif pool - 1 > largest:
            got, where = f"N={pool} needs {pool - 1} neutrals per query", "--pool"
            expected = (
                f"at most the {largest} that are eligible ({n} entities with text, less the query "
                "and its neighbours)"
            )
            fix = f"Use --pool {largest + 1} or less (and --k no larger)."
        else:
            return
        raise InputError(got, expected=expected, fix=fix, where=where)


@dataclass(frozen=True, kw_only=True)
class ExposureConfig:
    """How many probes a document is asked for by, and how far down a list counts.

    Attributes:
        sentences: Sentences held out per document.
        reword: Leave out the rarer half of each sentence's words: a paraphrase by rule.
        sample: Ask for so many documents, drawn at random, in the whole corpus; default: for all.
    """

    k: TopK = TOP_K
    sentences: Annotated[int, Ge(0)] = 2
    reword: bool = False
    sample: Annotated[int | None, Ge(1)] = None
    seed: Seed = 0
    parent_field: ParentField = None
    by: By = ()

    def __post_init__(self) -> None:
        check_settings(self)


FAMILIES = ("ridge", "xgboost", "mlp", "distilled")
OF_THE_PAPER = ("ridge", "xgboost", "mlp")


@dataclass(frozen=True, kw_only=True)
class ProbeConfig:
    """Settings of a fit. families: in order of preference among equals. seed: of split and fit.

    Attributes:
        full: The paper's grid (hours), or a small one (minutes).
        families: Some of ridge,xgboost,mlp (the paper's) and distilled (small, taught by large
            ones).
    """

    full: Annotated[bool, Option(("--full/--quick",))] = False
    families: tuple[str, ...] = OF_THE_PAPER
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_settings(self)
        unknown = [family for family in self.families if family not in FAMILIES]
        if unknown or not self.families or len(set(self.families)) < len(self.families):
            got, fix = ", ".join(self.families) or "none", "For example --families ridge,mlp."
            expected = f"some of {', '.join(FAMILIES)}, each once"
            raise InputError(got, expected=expected, fix=fix, where="--families")
