"""A fitted probe: predicted RPS for the vectors of one encoder, and silence beyond its region."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray
from argus.errors import EncoderMismatch, InputError
from argus.retrievability.probes.domain import ProbeDomain
from argus.retrievability.probes.models import Floats, Model, Parameters
from argus.retrievability.probes.summary import FitMetrics, Training

PREDICTED, ABSTAINED = "predicted", "abstained"


@dataclass(frozen=True)
class Prediction:
    """Predictions of a probe for n vectors."""

    rps: Floats
    """Predicted RPS, shape (n,). NaN where the probe abstains."""
    domain_score: Floats
    """Nats per dimension, shape (n,). Higher is further from the training data."""
    in_domain: npt.NDArray[np.bool_]
    """Shape (n,)."""

    @property
    def states(self) -> npt.NDArray[np.str_]:
        """Return "predicted" or "abstained" per vector."""
        return np.where(self.in_domain, PREDICTED, ABSTAINED)


@dataclass(frozen=True)
class Probe:
    """A model of RPS_{k,N} over the vectors of one encoder, pooled in one way."""

    model: Model
    domain: ProbeDomain
    fingerprint: str
    """Fingerprint of the encoder whose vectors it was fitted on."""
    pooling: str
    """"span" or "sentence", as in an audit."""
    dim: int
    k: int
    pool: int
    parameters: Parameters = field(default_factory=dict)
    training: Training = field(default_factory=Training)
    """Facts of the fit: entities per split, seed, where the audit's data came from."""
    metrics: FitMetrics = field(default_factory=FitMetrics)
    """Measures on the validation and test splits."""

    @property
    def family(self) -> str:
        """ridge, xgboost or mlp."""
        return self.model.family

    def estimate(self, vectors: FloatArray) -> Floats:
        """Return RPS in [0, 1] for (n, dim) vectors wherever they lie: no abstention."""
        self._check_shape(vectors)
        return np.clip(self.model.predict(vectors), 0, 1)

    def predict(self, vectors: FloatArray) -> Prediction:
        """Predict the RPS of (n, dim) vectors. Abstain where they are unlike the training vectors.

        Raises InputError for another dimension and for values that are not finite.
        """
        self._check_shape(vectors)
        if not len(vectors):
            return Prediction(np.zeros(0), np.zeros(0), np.zeros(0, bool))
        scores = self.domain.scores(vectors)
        inside = self.domain.inside(scores)
        return Prediction(np.where(inside, self.estimate(vectors), np.nan), scores, inside)

    def check_vectors_of(self, fingerprint: str, pooling: str, *, where: Path) -> None:
        """Refuse vectors of another encoder (EncoderMismatch) or pooling (InputError).

        The number format may differ: an encoder in bfloat16 gives the vectors it gives in float32
        at a cosine above 0.999, which moves a predicted RPS less than its error.
        """
        if not same_encoder(self.fingerprint, fingerprint):
            raise ProbeMismatch(where, stored=self.fingerprint, given=fingerprint)
        if self.pooling != pooling:
            raise InputError(
                f"a probe of {self.pooling}-pooled vectors, given {pooling}-pooled ones",
                expected="the pooling that it was fitted on; the two lie differently",
                fix=f"Pool by {self.pooling}, or fit a probe on an audit with --pooling {pooling}.",
                where=where,
            )

    def _check_shape(self, vectors: FloatArray) -> None:
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            raise InputError(
                f"vectors of shape {vectors.shape}",
                expected=f"(n, {self.dim}), as the probe was fitted on",
                fix="Give vectors of its encoder.",
            )
        if not np.isfinite(vectors).all():
            raise InputError(
                "vectors with values that are not finite",
                expected="unit vectors",
                fix="Leave out the texts that could not be encoded.",
            )


class ProbeMismatch(EncoderMismatch):
    """A probe was about to judge the vectors of an encoder that it does not know."""

    def __init__(self, where: Path, *, stored: str, given: str) -> None:
        self.stored, self.given = stored, given
        super(EncoderMismatch, self).__init__(
            f"{where} is a probe of another encoder; what it says of other vectors means nothing."
            f"\n  probe: {stored}\n  given: {given}\n"
            "(precision and query prompt may differ, nothing else.) Use the probe's encoder, or "
            "fit a probe for yours: argus research audit --encoder NAME --out DIR, then argus "
            "research probe fit "
            "--audit DIR."
        )


def same_encoder(one: str, other: str) -> bool:
    """Return whether two fingerprints name one encoder of mentions.

    In whatever number format it runs, and whatever it puts before queries, which no mention is.
    """
    return _of_mentions(one) == _of_mentions(other)


_NO_MATTER = re.compile(r""" precision=\w+| query_prompt=(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


def _of_mentions(fingerprint: str) -> str:
    return _NO_MATTER.sub("", fingerprint)
