"""Options that name cells of the grid: components and λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from argus.errors import InputError
from argus.settings import Doc, Option

if TYPE_CHECKING:
    from argus.scenarios.profile import Component

ALL = "all"
Components = Annotated[
    list[str] | None,
    Doc("M, I, E, M+E, I+E, several with commas or again; or all."),
    Option(("--component",)),
]
Weights = Annotated[
    list[str] | None,
    Doc("What a document's own score counts; several with commas or again."),
    Option(("--lambda",)),
]


def components(texts: list[str]) -> tuple[Component, ...]:
    """Return the components of ["M+E,I"], ["M+E", "I"] or ["all"]; InputError for others."""
    from argus.scenarios.profile import Component
    from argus.scenarios.profile import component as named

    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if ALL in map(str.lower, names):
        return tuple(Component)
    return tuple(dict.fromkeys(named(name) for name in names))


def weights(texts: list[str]) -> tuple[float, ...]:
    """Parse ["0.5,0.7"] or ["0.5", "0.7"]; InputError for what is no number."""
    try:
        return tuple(float(part) for text in texts for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InputError(
            f"{', '.join(texts)!r}",
            expected="numbers from 0 to 1, separated by commas",
            fix="For example 0.5,0.7,0.9.",
            where="--lambda",
        ) from error
