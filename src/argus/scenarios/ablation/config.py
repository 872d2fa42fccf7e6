"""Settings of an ablation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from argus.data.fields import By
from argus.errors import InputError
from argus.measures import RESAMPLES, Resamples
from argus.scenarios.cells import GridConfig
from argus.scenarios.profile import Component
from argus.settings import Ge, Lt, Option, Seed, check_settings

LEAST_DEPTH = 100
DOCUMENTS: Final = "documents alone"  # systems of a row of the summary
SCENARIOS: Final = "scenarios"
PLACEBO: Final = "placebo"


@dataclass(frozen=True, kw_only=True)
class AblateConfig(GridConfig):
    """The grid, and how its cells are compared.

    placebos: exchanges of the profiles that the placebo is the mean of.

    Attributes:
        measures: May be given again; cells are judged by the first. Default: nDCG@10, R@10.
        tune_share: Share of the queries to choose a cell on, told on the rest; 0: not at all.
        placebos: Random exchanges of profiles; 0: no placebo.
    """

    measures: Annotated[tuple[str, ...], Option(("--measure",), repeated=True)] = (
        "nDCG@10",
        "R@10",
    )
    tune_share: Annotated[float, Ge(0), Lt(1)] = 0.5
    placebos: Annotated[int, Ge(0)] = 5
    resamples: Resamples = RESAMPLES
    seed: Seed = 0
    by: By = ()

    def __post_init__(self) -> None:
        from argus.measures.measures import measure_name, parse_measure

        super().__post_init__()
        check_settings(self)
        if not self.measures:
            raise InputError(
                "no measure", expected="at least one", fix="For example nDCG@10.", where="--measure"
            )
        for name in self.measures:
            parse_measure(name)
        names = tuple(dict.fromkeys(map(measure_name, self.measures)))
        components = tuple(c for c in Component if c in self.components)
        object.__setattr__(self, "measures", names)
        object.__setattr__(self, "components", components)

    @property
    def depth(self) -> int:
        """Results kept per question: as many as any measure reads, and 100 at least."""
        from argus.measures.measures import cutoff

        return max(LEAST_DEPTH, *(cutoff(name) or 0 for name in self.measures))
