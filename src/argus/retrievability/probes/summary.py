"""What a fit and a prediction say in summary.json, and a fitted probe in its probe.json."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.retrievability.probes.metrics import LabelFigures, MeasureFigures
from argus.retrievability.probes.models import Parameters
from argus.retrievability.rps import BandCounts


class SplitCounts(TypedDict):
    """Entities per split."""

    train: int
    validation: int
    test: int


class FitCounts(SplitCounts):
    """Entities per split, and those of the test split of which the probe says nothing."""

    abstained_on_test: int


class FamilyRow(TypedDict):
    """A row of ARGUS Table 3: a baseline, or the best of a family."""

    family: str
    parameters: Parameters
    validation_rmse: float
    test: MeasureFigures


class DomainFigures(TypedDict):
    """Where the probe speaks: the largest score that is inside, and the share that is."""

    threshold: float
    quantile: float


class ProbeSummary(TypedDict):
    """The figures of a fit."""

    k: int
    pool: int
    pooling: str
    family: str
    parameters: Parameters
    iterations: int
    trials: int
    grid: str
    """full or quick."""
    entities: FitCounts
    table: list[FamilyRow]
    test: MeasureFigures
    test_in_domain: MeasureFigures | None
    domain: DomainFigures
    labels: LabelFigures


class TrainingFile(TypedDict):
    """A file that the audit read, by its name alone."""

    file: str
    sha256: str


class Training(TypedDict, total=False):
    """What a probe was fitted on, as far as it is known; no path of the machine."""

    seed: int
    entities: SplitCounts
    mean_rps: float
    inputs: dict[str, TrainingFile]
    relations: str


class FitMetrics(TypedDict, total=False):
    """How well a probe does on entities that it was not fitted on, as far as it is known."""

    validation_rmse: float
    test: MeasureFigures


class ProbeFacts(TypedDict):
    """What a prediction says of its probe. test: None for a probe that tells no measures."""

    family: str
    test: MeasureFigures | None
    threshold: float


PredictedCounts = TypedDict(
    "PredictedCounts",
    {"total": int, "predicted": int, "abstained": int, "failed": int, "not applicable": int},
)
"""Entities by what became of them."""


class PredictionSummary(TypedDict):
    """The figures of a prediction."""

    k: int
    pool: int
    pooling: str
    probe: ProbeFacts
    entities: PredictedCounts
    bands: BandCounts
    tau: float
    below_tau: int
    mean_rps: float | None
