"""Modes of search, and settings of weights and scores."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields, replace
from enum import StrEnum
from typing import Annotated, Any

from argus.errors import InputError
from argus.settings import Doc, Ge, Le, Lt, Option, check_settings, settings_of

_PANEL = "Scoring"
PUBLISHED_UNIGRAMS = 5_000


class Mode(StrEnum):
    """SEAL writes n-grams of bodies and titles, MINDER pseudo-queries, too."""

    SEAL = "seal"
    MINDER = "minder"


@dataclass(frozen=True, kw_only=True)
class Scoring:
    """Settings of key weights and passage scores. The defaults are the published ones.

    Published means: in force when SEAL's search is run with its own options (MINDER's for the
    last two). Raises InputError for a value out of range.
    """

    smoothing: Annotated[
        float, Ge(0), Doc("Added to an n-gram's occurrences."), Option(panel=_PANEL)
    ] = 5.0
    """The smoothing s, also added to the corpus' tokens (SEAL: 5)."""
    exponent: Annotated[
        float,
        Ge(0),
        Le(100),
        Doc("Of a weight: above 1, few strong n-grams count more than many weak ones."),
        Option(panel=_PANEL),
    ] = 2.0
    """alpha of eq. 3 (SEAL: 2)."""
    repetition_penalty: Annotated[
        float,
        Ge(0),
        Le(1),
        Doc("How much an n-gram loses whose tokens stronger ones hold; 0: nothing."),
        Option(("--repetition-penalty", "--coverage-weight"), panel=_PANEL),
    ] = 0.8
    """beta, the coverage weight of eq. 3: a key whose share r of distinct tokens is in stronger
    keys of the passage counts 1 - beta * r (SEAL: 0.8)."""
    length_penalty: Annotated[
        float,
        Ge(0),
        Lt(1),
        Doc("Above 0, long n-grams lose less; below 1."),
        Option(panel=_PANEL),
    ] = 0.0
    """A log-probability of n tokens is multiplied by (1 - length_penalty) ** (n - 1) (SEAL: 0)."""
    max_occurrences: Annotated[
        int,
        Ge(1),
        Doc("An n-gram that comes more often brings no passage in."),
        Option(panel=_PANEL),
    ] = 1_500
    """A more frequent key counts only in passages found by others (SEAL: 1,500)."""
    full_documents: Annotated[
        int, Ge(1), Doc("Passages that are read in full."), Option(("--documents",), panel=_PANEL)
    ] = 1_500
    """A ranking holds no more (SEAL: 1,500)."""

    unigrams: Annotated[
        int | None,
        Ge(0),
        Doc("So many single tokens count, too; 0: none."),
        Option(panel=_PANEL, default="5,000; with a model from scratch 0"),
    ] = None
    """The most probable ones, where no key covers them (SEAL: 5,000). See `for_model`."""
    shortest: Annotated[
        int,
        Ge(1),
        Doc("Tokens of the shortest n-gram that counts; shorter ones weigh nothing."),
        Option(panel=_PANEL),
    ] = 1
    """Length of keys. `unigrams` decides on single tokens (SEAL: 1)."""

    query_bonus: Annotated[
        float,
        Ge(0),
        Doc("MINDER's: added to the log-probability of a pseudo-query."),
        Option(panel=_PANEL),
    ] = 14.0
    """A pseudo-query is a key that begins with ` ||` (MINDER: 14). With 0, the ceiling does not
    count either."""
    query_ceiling: Annotated[float, Le(0)] = -1.0
    """Largest log-probability with the bonus (MINDER: -1)."""

    def __post_init__(self) -> None:
        check_settings(self)
        check_numbers(self)

    @property
    def identity(self) -> dict[str, float | bool | str | None]:
        """All that decides a score. Later settings appear where they are set."""
        plain = {**asdict(self), "unigrams": self.most_unigrams}
        if self.shortest == 1:
            del plain["shortest"]
        return plain

    @property
    def most_unigrams(self) -> int:
        """Single tokens that count. The published number by default."""
        return PUBLISHED_UNIGRAMS if self.unigrams is None else self.unigrams

    def for_model(self, *, scratch: bool) -> Scoring:
        """Return a copy with defaults filled in: as published, or without single tokens.

        scratch: for a model that was trained from scratch, of which single tokens were found to
        outvote its n-grams (docs/results.md, "Single tokens").
        """
        if self.unigrams is not None:
            return self
        return replace(self, unigrams=0 if scratch else PUBLISHED_UNIGRAMS)


def check_numbers(config: Any) -> None:
    """Check that whole numbers of a config are whole and the others finite, none a truth value.

    The default of a field gives its type. Raises InputError, whose `where` is the option, or
    the field where there is none.
    """
    declared = {setting.name: setting for setting in settings_of(type(config))}
    options = {name: setting.where for name, setting in declared.items()}
    for f in fields(config):
        value, kind = getattr(config, f.name), type(f.default)
        if f.name in declared and declared[f.name].optional:
            if value is None:
                continue
            kind = declared[f.name].kind
        kinds = {int: (int,), float: (int, float)}.get(kind)
        if kinds is None:
            continue
        if isinstance(value, bool) or not isinstance(value, kinds) or not math.isfinite(value):
            raise InputError(
                f"{value!r}",
                expected="a whole number" if kind is int else "a finite number",
                fix=f"Leave it out for {f.default}.",
                where=options.get(f.name, f.name),
            )
