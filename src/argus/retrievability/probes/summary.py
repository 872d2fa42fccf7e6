"""Sections of a fit and a prediction in summary.json, and of a fitted probe in its probe.json."""

from __future__ import annotations

from collections.abc import Iterator

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.retrievability.probes.metrics import LabelFigures, Measure, MeasureFigures
from argus.retrievability.probes.models import Parameters
from argus.retrievability.rps import BandCounts


class SplitCounts(TypedDict):
    """Entities per split.

    train, validation, test: entities of this split.
    """

    train: int
    validation: int
    test: int


class FitCounts(SplitCounts):
    """Entities per split, and those of the test split of which the probe says nothing.

    abstained_on_test: entities of the test split of which the probe says nothing.
    """

    abstained_on_test: int


class FamilyRow(TypedDict):
    """A row of ARGUS Table 3: a baseline, or the best of a family.

    family: baseline or family of the probe.
    parameters: its best parameters.
    validation_rmse: RMSE on the validation entities.
    test: its measures on the test entities.
    """

    family: str
    parameters: Parameters
    validation_rmse: float
    test: MeasureFigures


class DomainFigures(TypedDict):
    """The region of the probe: the largest score that is inside, and the share that is.

    threshold: largest score of an entity that is inside.
    quantile: share of the validation entities that is inside.
    """

    threshold: float
    quantile: float


class ProbeSummary(TypedDict):
    """The figures of a fit.

    parameters: its parameters.
    iterations: steps that fitting took.
    trials: settings that were tried.
    grid: grid of settings: full or quick.
    table: baselines, and the best of each family (ARGUS Table 3).
    test: measures on the test entities.
    test_in_domain: the same over those inside its region. None without any.
    """

    k: int
    pool: int
    pooling: str
    family: str
    parameters: Parameters
    iterations: int
    trials: int
    grid: str
    entities: FitCounts
    table: list[FamilyRow]
    test: MeasureFigures
    test_in_domain: MeasureFigures | None
    domain: DomainFigures
    labels: LabelFigures


class TrainingFile(TypedDict):
    """A file that the audit read, by its name alone.

    file: name of the file.
    sha256: SHA-256 of its bytes.
    """

    file: str
    sha256: str


class Training(TypedDict, total=False):
    """Training data of a probe, as far as it is known. No path of the machine.

    mean_rps: mean RPS of the entities.
    inputs: files that the audit read.
    relations: where relations came from.
    """

    seed: int
    entities: SplitCounts
    mean_rps: float
    inputs: dict[str, TrainingFile]
    relations: str


class FitMetrics(TypedDict, total=False):
    """How well a probe does on entities that it was not fitted on, as far as it is known.

    validation_rmse: RMSE on the validation entities.
    test: measures on the test entities.
    """

    validation_rmse: float
    test: MeasureFigures


class ProbeFacts(TypedDict):
    """Facts about a prediction's probe.

    test: measures on its test entities. None for a probe that tells none.
    threshold: domain score above which it abstains.
    """

    family: str
    test: MeasureFigures | None
    threshold: float


PredictedCounts = TypedDict(
    "PredictedCounts",
    {"total": int, "predicted": int, "abstained": int, "failed": int, "not applicable": int},
)
"""Entities by outcome.

predicted: entities that have a prediction.
abstained: entities unlike the training data of the probe.
"""


class PredictionSummary(OfStore):
    """The figures of a prediction.

    tau: threshold τ of a risk.
    below_tau: entities with a prediction below it.
    mean_rps: mean predicted RPS. None where none was predicted.
    """

    k: int
    pool: int
    pooling: str
    probe: ProbeFacts
    entities: PredictedCounts
    bands: BandCounts
    tau: float
    below_tau: int
    mean_rps: float | None


COLUMNS: dict[Measure, str] = {
    "rmse": "RMSE", "mae": "MAE", "pearson": "Pearson", "spearman": "Spearman",
    "macro_f1": "macro-F1", "macro_recall": "macro-R", "macro_precision": "macro-P",
    "weighted_precision": "weigh.-P", "weighted_f1": "weigh.-F1", "accuracy": "accuracy",
}  # fmt: skip
"""The measures of ARGUS Tables 1 and 3 and how they are headed."""


def fit_headline(summary: ProbeSummary) -> Iterator[str]:
    """Yield the table of the fit, which family was chosen, and the spread of its labels."""
    yield f"{'':<9}" + "".join(f"{heading:>10}" for heading in COLUMNS.values())
    for row in summary["table"]:
        cells = (row["test"][name] for name in COLUMNS)
        text = "".join(f"{'–' if cell is None else format(cell, '.3f'):>10}" for cell in cells)
        yield f"{row['family']:<9}{text}"
    counts, labels = summary["entities"], summary["labels"]
    yield (
        f"chosen by validation RMSE: {summary['family']} of {summary['trials']} settings; measured "
        f"on {counts['test']:,} entities that none of them saw, {counts['abstained_on_test']:,} of "
        "them beyond its region"
    )
    sampling = labels["sampling_rmse"]
    moved = ""
    if sampling is not None:
        moved = (
            f"; drawing other related entities (median {labels['related_median']:.0f}) would move "
            f"them by {sampling:.3f} RMSE"
        )
    yield f"for reference: labels have a standard deviation of {labels['std']:.3f}{moved}"


def prediction_headline(summary: PredictionSummary) -> Iterator[str]:
    """Yield the mean prediction, how many entities are hard to reach, and the counts."""
    counts = summary["entities"]
    if summary["mean_rps"] is not None:
        yield (
            f"predicted RPS at k={summary['k']}, N={summary['pool']}: mean "
            f"{summary['mean_rps']:.3f}; {summary['below_tau']:,} of {counts['predicted']:,} "
            f"entities below {summary['tau']} (hard to reach)"
        )
    yield (
        f"entities: {counts['predicted']:,} predicted, {counts['abstained']:,} abstained (unlike "
        f"the training entities), {counts['failed']:,} failed, {counts['not applicable']:,} not "
        "applicable"
    )
