"""Cells of the grid, components x λ, and the settings that name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final

from argus.errors import InputError
from argus.indexes.blend import check_weight
from argus.scenarios.openings import Form, FormSetting
from argus.scenarios.profile import Component, component
from argus.settings import Doc, Option, Setting, settings_of

WEIGHTS = tuple(i / 10 for i in range(11))  # λ of the grid. SPIKE Table 7 has 0.5 to 0.9
ALL = "all"
AUTO: Final = "auto"  # in the place of a component or of λ: chosen by held-out needs
Components = Annotated[
    tuple[Component, ...],
    Doc("M, I, E, M+E, I+E, several with commas or again; or all."),
    Option(("--component",), repeated=True),
]
Weights = Annotated[
    tuple[float, ...],
    Doc("What a document's own score counts; several with commas or again."),
    Option(("--lambda",), repeated=True),
]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the grid."""

    component: Component
    weight: float  # λ

    def __str__(self) -> str:
        return f"{self.component} at λ = {self.weight:g}"


@dataclass(frozen=True, kw_only=True)
class GridConfig:
    """Which cells a grid has."""

    components: Components = tuple(Component)
    weights: Weights = WEIGHTS
    form: FormSetting = Form.WRITTEN

    def __post_init__(self) -> None:
        for weight in self.weights:
            check_weight(weight)
        if not self.components or not self.weights:
            raise InputError(
                f"a grid of {len(self.components)} components and {len(self.weights)} λ",
                expected="at least one of each",
                fix="Leave out --component and --lambda for all of them.",
                where="--lambda" if self.components else "--component",
            )
        object.__setattr__(self, "form", Form(self.form))
        object.__setattr__(self, "weights", tuple(sorted(set(map(float, self.weights)))))

    @property
    def cells(self) -> list[Cell]:
        """The grid, by component and λ."""
        return [Cell(c, weight) for c in self.components for weight in self.weights]

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return its settings, lists unset unless given. Text of the grid may be several."""
        settings = []
        for setting in settings_of(cls):
            if setting.name in _PARSED:
                setting = replace(setting, kind=str, choices=())
            settings.append(replace(setting, default=None) if setting.repeated else setting)
        return tuple(settings)

    @classmethod
    def from_options(cls, **options: Any) -> Any:
        """Return the grid that the texts name. Where they name none, the default."""
        settings = {name: value for name, value in options.items() if value is not None}
        return cls(**{n: _PARSED[n](v) if n in _PARSED else v for n, v in settings.items()})


def components(texts: Iterable[str]) -> tuple[Component, ...]:
    """Return the components of ["M+E,I"], ["M+E", "I"] or ["all"]. InputError for others."""
    names = [name.strip() for text in texts for name in text.split(",") if name.strip()]
    if ALL in map(str.lower, names):
        return tuple(Component)
    return tuple(dict.fromkeys(component(name) for name in names))


def weights(texts: Sequence[str]) -> tuple[float, ...]:
    """Parse ["0.5,0.7"] or ["0.5", "0.7"]. InputError for anything but numbers."""
    try:
        return tuple(float(part) for text in texts for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InputError(
            f"{', '.join(texts)!r}",
            expected="numbers from 0 to 1, separated by commas",
            fix="For example 0.5,0.7,0.9.",
            where="--lambda",
        ) from error


_PARSED: dict[str, Any] = {"components": components, "weights": weights}
