"""Try the settings of every family, choose by validation RMSE. Trials are kept as they finish."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.data.reading import parse_json
from argus.data.types import FloatArray
from argus.data.writing import write_whole
from argus.progress import progress
from argus.retrievability.probes.config import ProbeConfig
from argus.retrievability.probes.estimators import FAMILIES, ProbeRegressor
from argus.retrievability.probes.models import Parameters
from argus.retrievability.probes.split import TRAIN, VALIDATION

_RIDGE: Mapping[str, Sequence[float | bool]] = {
    "alpha": [10.0**e for e in range(-6, 4)],
    "standardize": [False, True],
}
FULL: Mapping[str, Mapping[str, Sequence[float | bool]]] = {
    "ridge": _RIDGE,
    "xgboost": {
        # 300, 600 and 1,000 trees are prefixes of one run, of which early stopping takes the best.
        "n_estimators": [1000],
        "max_depth": [4, 6, 8],
        "learning_rate": [0.03, 0.05, 0.1],
        "subsample": [0.7, 0.9, 1.0],
        "colsample_bytree": [0.7, 0.9, 1.0],
        "min_child_weight": [1, 5, 10],
        "reg_lambda": [0, 1, 10],
        # §C.1 names no number of bins: the trees of 64 err as those of 256, at half their time.
        "max_bin": [64],
    },
    "mlp": {
        "width": [256, 512, 1024],
        "depth": [1, 2, 3],
        "dropout": [0.0, 0.1, 0.2],
        "learning_rate": [1e-4, 3e-4, 1e-3],
        "batch_size": [256, 512, 1024],
    },
    "distilled": {"width": [256], "depth": [2], "dropout": [0.0, 0.05, 0.1]},
}
"""ARGUS §C.1: 20, 729 (2,187 with the numbers of trees) and 243 settings. `distilled` is ours."""

QUICK: dict[str, list[Parameters]] = {
    "xgboost": [
        {"n_estimators": 300, "max_depth": 4, "learning_rate": 0.1, "subsample": 0.7,
         "colsample_bytree": 0.7, "min_child_weight": 5, "reg_lambda": 1, "max_bin": 64},
        {"n_estimators": 300, "max_depth": 6, "learning_rate": 0.05, "subsample": 0.7,
         "colsample_bytree": 0.7, "min_child_weight": 10, "reg_lambda": 10, "max_bin": 64},
    ],
    "mlp": [
        {"width": 256, "depth": 1, "dropout": 0.2, "learning_rate": 1e-3, "batch_size": 512},
        {"width": 256, "depth": 2, "dropout": 0.1, "learning_rate": 1e-3, "batch_size": 512},
        {"width": 256, "depth": 2, "dropout": 0.2, "learning_rate": 3e-4, "batch_size": 256},
        {"width": 256, "depth": 2, "dropout": 0.2, "learning_rate": 1e-3, "batch_size": 512},
        {"width": 256, "depth": 2, "dropout": 0.2, "learning_rate": 1e-3, "batch_size": 1024},
    ],
    "distilled": [{"width": 256, "depth": 2, "dropout": 0.05}],
}  # fmt: skip
"""Points of the full grid, trees on histograms of 64 bins. Ridge is swept whole: it is cheap.

Networks are 256 wide, so that a quick probe is half a megabyte. On FB15k-237 with MiniLM 512 and
1,024 units lower the validation RMSE by 0.001 at two to seven times the size.
"""


def settings(family: str, *, full: bool) -> list[Parameters]:
    """Return the settings to try for a family, in a fixed order."""
    if not full and family in QUICK:
        return [dict(parameters) for parameters in QUICK[family]]
    axes = FULL[family]
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


@dataclass(frozen=True)
class Labelled:
    """Entities with vector, label and split, ordered by id (batches of the MLP go by row)."""

    vectors: FloatArray
    """Shape (n, dim)."""
    labels: npt.NDArray[np.float64]
    """RPS, shape (n,)."""
    split: npt.NDArray[np.str_]
    """"train", "validation" or "test", shape (n,)."""

    def part(self, name: str) -> tuple[FloatArray, npt.NDArray[np.float64]]:
        """Return vectors and labels of one split."""
        rows = self.split == name
        return self.vectors[rows], self.labels[rows]


@dataclass(frozen=True)
class Trial:
    """One setting, fitted on the training split and scored on the validation split."""

    key: str
    """Hash of training and validation data, family, parameters and seed."""
    family: str
    parameters: Parameters
    validation_rmse: float
    iterations: int
    """Epochs or trees of the best model."""
    seconds: float
    """Processor time, all threads together."""


@dataclass(frozen=True)
class Sweep:
    """All trials, and of each family the estimator with the lowest validation RMSE."""

    trials: list[Trial]
    best: dict[str, tuple[Trial, ProbeRegressor]]

    @property
    def winner(self) -> str:
        """The family with the lowest validation RMSE. Ties go to the one asked for first."""
        return min(self.best, key=lambda family: self.best[family][0].validation_rmse)


def sweep(data: Labelled, config: ProbeConfig, ledger: Path) -> Sweep:
    """Fit every setting that `config` names. Reads only the training and the validation split.

    ledger: JSON lines, one per finished trial. Those of the same data and seed are not repeated, so
    a killed sweep loses the trial it was in. Settings are tried in the order of their hashes, which
    is none: the time left is told well, and a part of a grid is a random draw of it.
    """
    earlier, best = _read(ledger), _Best()
    origin, families, seed = _origin(data), config.families, config.seed
    grid = {
        content_hash(origin, family, json.dumps(p, sort_keys=True), str(seed)).hex(): (family, p)
        for family in families
        for p in settings(family, full=config.full)
    }
    trials: dict[str, Trial] = {}
    with progress("fitting probes", len(grid)) as advance:
        for key in sorted(grid):
            trial, estimator = earlier.get(key), None
            if trial is None:
                trial, estimator = _fit(data, *grid[key], seed, key)
                _append(ledger, trial)
            best.offer(trial, estimator)
            trials[key] = trial
            advance(1)
    winners = {family: best.fitted(data, family, seed) for family in families}
    return Sweep([trials[key] for key in grid], winners)


class _Best:
    """The best trial of each family so far, with its estimator when this run fitted it."""

    def __init__(self) -> None:
        self._best: dict[str, tuple[Trial, ProbeRegressor | None]] = {}

    def offer(self, trial: Trial, estimator: ProbeRegressor | None) -> None:
        best = self._best.get(trial.family)
        if best is None or trial.validation_rmse < best[0].validation_rmse:
            self._best[trial.family] = (trial, estimator)

    def fitted(self, data: Labelled, family: str, seed: int) -> tuple[Trial, ProbeRegressor]:
        """Return the best of a family, fitted again when an earlier run tried it."""
        trial, estimator = self._best[family]
        if estimator is None:
            _, estimator = _fit(data, family, trial.parameters, seed, trial.key)
        return trial, estimator


def _fit(
    data: Labelled, family: str, parameters: Parameters, seed: int, key: str
) -> tuple[Trial, ProbeRegressor]:
    start = time.process_time()
    estimator = FAMILIES[family](**parameters)
    if "seed" in estimator.get_params():
        estimator.set_params(seed=seed)
    validation = data.part(VALIDATION)
    estimator.fit(*data.part(TRAIN), validation=validation)
    rmse = float(np.sqrt(np.mean((estimator.predict(validation[0]) - validation[1]) ** 2)))
    seconds = round(time.process_time() - start, 3)
    return Trial(key, family, parameters, rmse, estimator.n_iter_, seconds), estimator


def _origin(data: Labelled) -> bytes:
    """Return a hash of the data that trials are fitted and scored on."""
    arrays = (np.ascontiguousarray(a).data for n in (TRAIN, VALIDATION) for a in data.part(n))
    return content_hash(*arrays)


def _read(ledger: Path) -> dict[str, Trial]:
    """Return finished trials by key. A line that a kill cut off is dropped from the file."""
    if not ledger.is_file():
        return {}
    lines = ledger.read_text(encoding="utf-8", errors="replace").splitlines()
    trials = list(_whole(lines))
    if len(trials) < len(lines):
        write_whole(ledger, "".join(map(_line, trials)))
    return {trial.key: trial for trial in trials}


def _whole(lines: Iterable[str]) -> Iterable[Trial]:
    for line in lines:
        try:
            yield Trial(**parse_json(line))
        except (ValueError, TypeError):
            continue


def _line(trial: Trial) -> str:
    return json.dumps(asdict(trial)) + "\n"


def _append(ledger: Path, trial: Trial) -> None:
    ledger.parent.mkdir(parents=True, exist_ok=True)
    with ledger.open("a", encoding="utf-8") as file:
        file.write(_line(trial))
