"""Fitted models: arrays that turn vectors into scores with numpy alone, and XGBoost's trees.

Fits return these very objects, so the measured model is the stored one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from argus.extras import naming_extras

Arrays = Mapping[str, npt.NDArray[Any]]
Floats = npt.NDArray[np.float64]


class Model(Protocol):
    """A fitted regression function. Its scores are not clipped."""

    family: ClassVar[str]

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the arrays that `from_arrays` builds the model from."""


@dataclass(frozen=True)
class LinearModel:
    """Ridge regression. A scaler is folded into the coefficients, (dim,)."""

    family: ClassVar[str] = "ridge"
    coefficients: Floats
    intercept: float

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        return np.asarray(vectors.astype(np.float64) @ self.coefficients + self.intercept)

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return coefficients and intercept."""
        return {"coefficients": self.coefficients, "intercept": np.array([self.intercept])}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> LinearModel:
        """Build it again. KeyError or ValueError when arrays lack or do not fit."""
        coefficients = arrays["coefficients"].astype(np.float64)
        if coefficients.ndim != 1:
            raise ValueError(f"coefficients are {coefficients.shape}")
        return cls(coefficients, float(arrays["intercept"][0]))


@dataclass(frozen=True)
class MlpModel:
    """Dense layers with rectifiers between them, on standardised inputs.

    Weights are float16: half the bytes, and RPS needs no more (networks are rounded before they are
    scored). mean, scale: of the training vectors, (dim,). weights: (width, dim), (width, width)...,
    (1, width).
    """

    family: ClassVar[str] = "mlp"
    mean: npt.NDArray[np.float32]
    scale: npt.NDArray[np.float32]
    weights: tuple[npt.NDArray[np.float16], ...]
    biases: tuple[npt.NDArray[np.float16], ...]

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        hidden = (vectors.astype(np.float32) - self.mean) / self.scale
        last = len(self.weights) - 1
        for i, (weight, bias) in enumerate(self._layers):
            hidden = hidden @ weight.T + bias
            if i < last:
                hidden = np.maximum(hidden, 0)
        return hidden[:, 0].astype(np.float64)

    @cached_property
    def _layers(self) -> list[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
        pairs = zip(self.weights, self.biases, strict=True)
        return [(w.astype(np.float32), b.astype(np.float32)) for w, b in pairs]

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return scaler and layers."""
        layers = {f"weight{i}": w for i, w in enumerate(self.weights)}
        layers |= {f"bias{i}": b for i, b in enumerate(self.biases)}
        return {"mean": self.mean, "scale": self.scale, **layers}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> MlpModel:
        """Build it again. KeyError or ValueError when arrays lack or do not fit."""
        depth = sum(name.startswith("weight") for name in arrays)
        weights = tuple(arrays[f"weight{i}"].astype(np.float16) for i in range(depth))
        biases = tuple(arrays[f"bias{i}"].astype(np.float16) for i in range(depth))
        width = len(arrays["mean"])
        for weight, bias in zip(weights, biases, strict=True):
            if weight.shape != (len(bias), width):
                raise ValueError(f"a layer is {weight.shape}, needs ({len(bias)}, {width})")
            width = len(bias)
        if width != 1:
            raise ValueError(f"the last layer gives {width} values")
        return cls(arrays["mean"], arrays["scale"], weights, biases)


@dataclass(frozen=True)
class TreeModel:
    """Gradient-boosted trees, as XGBoost's own UBJ."""

    family: ClassVar[str] = "xgboost"
    trees: bytes

    def predict(self, vectors: npt.NDArray[Any]) -> Floats:
        """Return (n,) scores of (n, dim) vectors. Raises InputError without xgboost."""
        scores = self._booster.inplace_predict(np.ascontiguousarray(vectors, np.float32))
        return np.asarray(scores, np.float64)

    @cached_property
    def _booster(self) -> Any:
        xgboost = import_xgboost()
        booster = xgboost.Booster({"nthread": 1})
        booster.load_model(bytearray(self.trees))
        return booster

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return the UBJ as bytes under one name."""
        return {"ubj": np.frombuffer(self.trees, np.uint8)}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> TreeModel:
        """Build it again. XGBoost's own error when it cannot read the trees."""
        model = cls(arrays["ubj"].tobytes())
        _ = model._booster
        return model


def standard_scale(vectors: npt.NDArray[Any]) -> Floats:
    """Return the divisor of each dimension of (n, dim) vectors, shape (dim,).

    Its standard deviation. 1 where that is under a thousandth of the largest. Encoders have dead
    dimensions (three of MiniLM's 384, at 1e-33 to 1e-9): scaled up, their rounding would be read as
    signal, and the same text in another number format would get another RPS.
    """
    spread = vectors.astype(np.float64).std(axis=0)
    return np.asarray(np.where(spread > 1e-3 * spread.max(initial=0), spread, 1.0))


@naming_extras()
def import_xgboost() -> Any:
    """Return the module `xgboost`."""
    import xgboost

    return xgboost
