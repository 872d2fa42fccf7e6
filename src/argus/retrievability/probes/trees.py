"""Training of the XGBoost probe: trees on histograms, stopped early on the validation RMSE.

Settings of a sweep differ in how trees grow, not in their data: the binned copy of the
vectors is made once and kept until other data come. Trees are those that XGBRegressor grows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.provenance import content_hash
from argus.retrievability.probes.models import Floats, TreeModel, import_xgboost

PATIENCE = 20
"""Rounds without a better validation RMSE after which boosting stops. §C.1 names no number."""
_KEPT: dict[bytes, tuple[Any, Any]] = {}
"""The matrices of the last data, by their sources."""


def train_trees(
    vectors: Floats,
    labels: Floats,
    validation: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    *,
    n_estimators: int,
    max_bin: int,
    seed: int,
    jobs: int,
    growth: Mapping[str, float],
) -> tuple[TreeModel, int]:
    """Return the trees up to the round with the lowest validation RMSE, and their number.

    growth: XGBoost's own parameters, such as max_depth. Fewer rounds give the first trees of more.
    """
    xgboost = import_xgboost()
    rows, held = _matrices((vectors, labels), validation, max_bin, jobs)
    settings = {**growth, "tree_method": "hist", "max_bin": max_bin, "seed": seed, "nthread": jobs}
    booster = xgboost.train(
        settings, rows, n_estimators, evals=[(held, "validation")],
        early_stopping_rounds=PATIENCE, verbose_eval=False,
    )  # fmt: skip
    best = int(booster.best_iteration) + 1
    return TreeModel(bytes(booster[:best].save_raw("ubj"))), best


def _matrices(
    train: tuple[Floats, Floats],
    validation: tuple[npt.NDArray[Any], npt.NDArray[Any]],
    max_bin: int,
    jobs: int,
) -> tuple[Any, Any]:
    """Return both splits in bins of the training vectors."""
    xgboost = import_xgboost()
    x, y = np.ascontiguousarray(train[0], np.float32), np.ascontiguousarray(train[1])
    held_x = np.ascontiguousarray(validation[0], np.float32)
    held_y = np.ascontiguousarray(validation[1])
    key = content_hash(*(a.data for a in (x, y, held_x, held_y)), f"{x.shape} {max_bin}")
    if key not in _KEPT:
        binned = {"max_bin": max_bin, "nthread": jobs}
        rows = xgboost.QuantileDMatrix(x, y, **binned)
        _KEPT.clear()
        _KEPT[key] = rows, xgboost.QuantileDMatrix(held_x, held_y, ref=rows, **binned)
    return _KEPT[key]
