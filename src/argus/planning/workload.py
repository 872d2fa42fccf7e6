"""What is planned: an audit of so many entities, and what it begins with."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, replace
from typing import Annotated, Any

from argus.errors import InputError
from argus.settings import Doc, Interval, Option, Setting, check_settings, settings_of

GB = 10**9
MOST = 10**15
"""Numbers that no job reaches."""
EXAMPLE = "1e6"
"""Entities that `argus plan` takes where none are given."""
STATED: float = 80
"""Statements and links per entity: 56 of an item and 28 of a lead, in real pieces of the dumps."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """An audit. neighbours, words: means.

    reservoir: competitors per 1,024 queries, 0 for all, None as `argus audit` chooses. Of dumps,
    options give the bytes in GB. stated: all of these are joined. machines: of the hardware.
    """

    entities: Annotated[int, Interval(ge=2, lt=MOST), Doc("How many, as in 7e6.")]
    dim: Annotated[int, Interval(ge=1, lt=MOST), Doc("Of a vector.")] = 384
    neighbours: Annotated[float, Interval(ge=0, lt=MOST), Doc("Related entities per entity.")] = 20
    words: Annotated[float, Interval(ge=1, lt=MOST), Doc("Of a paragraph.")] = 80
    parameters: Annotated[
        int | None,
        Interval(ge=1, lt=MOST),
        Doc("Of the encoder's layers, as in 568e6; default: of the one that was measured."),
    ] = None
    reservoir: Annotated[
        int | None, Interval(ge=0, lt=MOST), Doc("As of argus audit; 0: exact.")
    ] = None
    wikipedia_bytes: Annotated[
        int,
        Interval(ge=0, lt=MOST),
        Doc("Compressed dump to be read, in GB."),
        Option(("--wikipedia-gb",)),
    ] = 0
    wikidata_bytes: Annotated[
        int,
        Interval(ge=0, lt=MOST),
        Doc("Compressed dump to be read, in GB."),
        Option(("--wikidata-gb",)),
    ] = 0
    stated: Annotated[
        float, Interval(ge=0, lt=MOST), Doc("Statements and links that the dumps hold per entity.")
    ] = STATED
    machines: Annotated[
        int, Interval(ge=1, lt=MOST), Doc("That share the work (--engine ray).")
    ] = 1

    def __post_init__(self) -> None:
        check_settings(self)

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings as options give them: counts as in 7e6, dumps in GB."""
        return tuple(_as_given(setting) for setting in settings_of(cls))

    @classmethod
    def from_options(cls, **values: Any) -> Workload:  # each as its field, or its option, says
        """Return the workload of counts in words and dumps in GB."""
        for setting in settings_of(cls):
            value = values.get(setting.name)
            if setting.name in _COUNTS and value is not None:
                values[setting.name] = _count(value, setting.where)
            elif setting.name in _DUMPS and value is not None:
                values[setting.name] = _whole(value * GB, setting.where)
        return cls(**values)

    @property
    def candidates(self) -> int:
        """What every query is ranked among."""
        from argus.planning.bounds import reservoir_of

        reservoir = reservoir_of(self.reservoir, self.entities)
        return self.entities if reservoir is None else min(self.entities, reservoir)

    @property
    def pairs(self) -> float:
        """Related pairs (x, t)."""
        return self.entities * min(self.neighbours, self.entities - 1)


_COUNTS = frozenset(("entities", "parameters"))
_DUMPS = frozenset(("wikipedia_bytes", "wikidata_bytes"))


def _as_given(setting: Setting) -> Setting:
    if setting.name in _DUMPS:
        return replace(setting, kind=float)
    if setting.name not in _COUNTS:
        return setting
    default = EXAMPLE if setting.default is MISSING else setting.default
    return replace(setting, kind=str, default=default, least=None, below=None)


def _count(text: str, option: str) -> int:
    """Return a number of things, as in 7e6. Raises InputError for what is none."""
    try:
        return _whole(float(text), option)
    except ValueError:
        raise _no_number(text, option) from None


def _whole(value: float, option: str) -> int:
    try:
        return int(value)
    except (ValueError, OverflowError):  # nan, inf
        raise _no_number(f"{value:g}", option) from None


def _no_number(got: str, option: str) -> InputError:
    return InputError(repr(got), expected="a number", fix="For example 7e6.", where=option)
