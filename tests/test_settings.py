"""Settings: what a config's field declares, and how it is checked."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

import pytest

from argus.errors import InputError
from argus.settings import Choices, Doc, Ge, Gt, Interval, Lt, Option, check_settings

Order = StrEnum("Order", ["UP", "DOWN"])


@dataclass(frozen=True, kw_only=True)
class Config:
    """A config with a setting of every kind."""

    k: Annotated[tuple[int, ...], Ge(1), Doc("Results.")] = (10,)
    weight: Annotated[float, Interval(ge=0, le=1), Doc("Of a score."), Option(("--lambda",))] = 0.7
    rate: Annotated[float | None, Gt(0), Lt(1), Doc("Of learning.")] = None
    order: Annotated[Order, Doc("Which way.")] = Order.UP
    way: Annotated[Literal["a", "b"], Doc("One of two.")] = "a"
    dtype: Annotated[str, Choices(("x", "y")), Doc("What is computed in.")] = "x"
    waits_s: Annotated[float, Gt(0)] = 1.0

    def __post_init__(self) -> None:
        check_settings(self)


@pytest.mark.parametrize(
    ("values", "where", "expected"),
    [
        ({"k": ()}, "--k", "a whole number from 1"),
        ({"weight": 1.5}, "--lambda", "a number from 0 to 1"),
        ({"weight": math.nan}, "--lambda", "a number from 0 to 1"),
        ({"rate": 0.0}, "--rate", "a number above 0, below 1"),
        ({"way": "c"}, "--way", "one of a, b"),
        ({"dtype": "z"}, "--dtype", "one of x, y"),
        ({"order": "left"}, "--order", "one of up, down"),
        ({"k": (5, 0)}, "--k", "a whole number from 1"),
        ({"k": (1.5,)}, "--k", "a whole number from 1"),
        ({"k": (2**63,)}, "--k", f"at most {2**63 - 1}"),
        ({"rate": 10**400}, "--rate", f"at most {2**63 - 1}"),
        ({"waits_s": math.inf}, "waits_s", "a number above 0"),
    ],
)
def test_a_value_out_of_bounds_names_option_and_bound(values, where, expected):
    with pytest.raises(InputError) as refused:
        Config(**values)
    assert (refused.value.where, refused.value.expected) == (where, expected)
