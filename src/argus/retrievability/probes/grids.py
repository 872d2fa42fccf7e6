"""Which hyperparameters are tried: the paper's grid of §C.1, and a small one of minutes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from argus.retrievability.probes.models import Parameters

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
    },
    "mlp": {
        "width": [256, 512, 1024],
        "depth": [1, 2, 3],
        "dropout": [0.0, 0.1, 0.2],
        "learning_rate": [1e-4, 3e-4, 1e-3],
        "batch_size": [256, 512, 1024],
    },
}
"""ARGUS §C.1: 20, 729 (2,187 with the numbers of trees) and 243 settings."""

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
}  # fmt: skip
"""Points of the full grid, trees on histograms of 64 bins. Ridge is swept whole: it is cheap.

Networks are 256 wide, so that a quick probe is half a megabyte. On FB15k-237 with MiniLM 512 and
1,024 units lower the validation RMSE by 0.001 at two to seven times the size.
"""


def settings(family: str, *, full: bool) -> list[Parameters]:
    """Return the settings to try for a family, in a fixed order."""
    if not full and family in QUICK:
        return [dict(parameters) for parameters in QUICK[family]]
    grid = FULL[family]
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
