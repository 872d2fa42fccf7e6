"""Define a fitted RPS predictor (probe) for one encoder, save it, load it, and predict with it.

`Probe.predict`: vectors -> scores from 0 to 1, and no score (abstained) for vectors unlike those of
its training (`ProbeDomain`). Used by `research probe predict` and `research diagnose`. On disk it
is `probe.json` and files that hold only numbers, without pickle: `model.safetensors`, or
`model.ubj` of XGBoost, and `domain.safetensors`. probe.json has their SHA-256, and is written last:
a folder that has it is whole. Probes that come with Argus lie under `defaults/`, one folder per
encoder and pooling.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.provenance import file_hash
from argus.data.reading import parse_json, read_own, reading
from argus.data.types import FloatArray
from argus.data.writing import write_whole
from argus.errors import InputError
from argus.retrievability.config import POOLING
from argus.retrievability.probes.models import (
    Arrays,
    Floats,
    LinearModel,
    MlpModel,
    Model,
    TreeModel,
)

PREDICTED, ABSTAINED = "predicted", "abstained"
HEADER, DOMAIN = "probe.json", "domain.safetensors"
WEIGHTS, TREES = "model.safetensors", "model.ubj"
DEFAULTS = Path(__file__).parent / "defaults"
KINDS: dict[str, type[LinearModel | MlpModel | TreeModel]] = {
    kind.family: kind for kind in (LinearModel, MlpModel, TreeModel)
}
FIELDS = ("fingerprint", "pooling", "dim", "k", "pool", "parameters", "training", "metrics")
WRITTEN = "the probe as argus research probe fit wrote it"
AGAIN = "Copy it again, or fit it again: argus research probe fit --audit DIR."


@dataclass(frozen=True)
class Prediction:
    """Predictions of a probe for n vectors, arrays of shape (n,).

    rps: predicted RPS, NaN where the probe abstains. domain_score: nats per dimension, higher is
    further from the training data.
    """

    rps: Floats
    domain_score: Floats
    in_domain: npt.NDArray[np.bool_]

    @property
    def states(self) -> npt.NDArray[np.str_]:
        """Return "predicted" or "abstained" per vector."""
        return np.where(self.in_domain, PREDICTED, ABSTAINED)


@dataclass(frozen=True)
class Probe:
    """A model of RPS_{k,N} over the vectors of one encoder, pooled in one way.

    fingerprint: of the encoder whose vectors it was fitted on. pooling: as in an audit.
    parameters: of the fit. training: its seed, entities per split, and where the audit's data came
    from, by names of files alone. metrics: validation_rmse, and test as `data.measure` has it.
    """

    model: Model
    domain: ProbeDomain
    fingerprint: str
    pooling: str
    dim: int
    k: int
    pool: int
    parameters: dict[str, Any] = field(default_factory=dict)
    training: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, Any] = field(default_factory=dict)

    @property
    def family(self) -> str:
        """ridge, xgboost or mlp."""
        return self.model.family

    def estimate(self, vectors: FloatArray) -> Floats:
        """Return RPS in [0, 1] for (n, dim) vectors wherever they lie: no abstention."""
        return np.clip(self.model.predict(vectors), 0, 1)

    def predict(self, vectors: FloatArray) -> Prediction:
        """Predict the RPS of (n, dim) vectors. Abstain where they are unlike the training vectors.

        Raises InputError for another dimension.
        """
        if vectors.ndim != 2 or vectors.shape[1] != self.dim:
            expected = f"(n, {self.dim}), as the probe was fitted on"
            fix = "Give vectors of its encoder."
            raise InputError(f"vectors of shape {vectors.shape}", expected=expected, fix=fix)
        if not len(vectors):
            return Prediction(np.zeros(0), np.zeros(0), np.zeros(0, bool))
        scores = self.domain.scores(vectors)
        inside = self.domain.inside(scores)
        return Prediction(np.where(inside, self.estimate(vectors), np.nan), scores, inside)

    def check_vectors_of(self, fingerprint: str, pooling: str, *, where: Path) -> None:
        """Refuse vectors of another encoder or pooling (InputError).

        The number format may differ: an encoder in bfloat16 gives the vectors it gives in float32
        at a cosine above 0.999, which moves a predicted RPS less than its error.
        """
        if not same_encoder(self.fingerprint, fingerprint):
            raise InputError(
                f"a probe of {self.fingerprint}, given vectors of {fingerprint}",
                expected="the probe's encoder (precision and query prompt may differ)",
                fix="Use it, or fit one for yours: argus research audit --encoder NAME --out DIR, "
                "then argus research probe fit --audit DIR.", where=where,
            )  # fmt: skip
        if self.pooling != pooling:
            raise InputError(
                f"a probe of {self.pooling}-pooled vectors, given {pooling}-pooled ones",
                expected="the pooling that it was fitted on; the two lie differently",
                fix=f"Pool by {self.pooling}, or fit a probe on an audit with --pooling {pooling}.",
                where=where,
            )


_NO_MATTER = re.compile(r""" precision=\w+| query_prompt=(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")


def same_encoder(one: str, other: str) -> bool:
    """Return whether two fingerprints name one encoder of mentions.

    In whatever number format it runs, and whatever it puts before queries, which no mention is.
    """
    return _NO_MATTER.sub("", one) == _NO_MATTER.sub("", other)


def save_probe(probe: Probe, folder: Path) -> Path:
    """Write `probe` into `folder`, made if missing. Return the folder."""
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    (folder / HEADER).unlink(missing_ok=True)  # until the new one is whole there is none
    name, other = (TREES, WEIGHTS) if probe.family == "xgboost" else (WEIGHTS, TREES)
    (folder / other).unlink(missing_ok=True)
    weights, domain = (
        {key: np.ascontiguousarray(a) for key, a in part.arrays().items()}
        for part in (probe.model, probe.domain)
    )
    write_whole(folder / name, weights["ubj"].tobytes() if name == TREES else save(weights))
    write_whole(folder / DOMAIN, save(domain))
    header = {
        "family": probe.family,
        **{key: getattr(probe, key) for key in FIELDS},
        "files": {file: file_hash(folder / file) for file in (name, DOMAIN)},
    }
    text = json.dumps(header, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    write_whole(folder / HEADER, text)
    return folder


def probe_file(folder: Path) -> Path:
    """Return the probe.json that `load_probe` reads. It has the hashes of the other files."""
    nested = folder / "probe" / HEADER
    return nested if nested.is_file() and not (folder / HEADER).is_file() else folder / HEADER


def load_probe(folder: Path) -> Probe:
    """Read a probe from `folder`, or from `folder/probe` where a fit left it.

    Raises InputError when there is none, and when a file is
    missing or changed.
    """
    from safetensors.numpy import load_file

    path = probe_file(folder)
    folder = path.parent
    if not path.is_file():
        expected = "a folder that argus research probe fit wrote"
        fix = "Check --probe, or leave it out for the probe that ships with the encoder."
        raise InputError("no probe.json in it", expected=expected, fix=fix, where=folder)
    with reading(path, "is damaged", expected=WRITTEN, fix=AGAIN):
        header = dict(parse_json(read_own(path)))
        family = header["family"]
        if family not in KINDS:
            raise ValueError(f"family {family!r} is none of {', '.join(KINDS)}")
        numbers = folder / (TREES if family == "xgboost" else WEIGHTS)
        for file in (numbers, folder / DOMAIN):
            if not file.is_file() or file_hash(file) != header["files"].get(file.name):
                got = "is not as written" if file.is_file() else "is missing"
                raise InputError(got, expected=WRITTEN, fix=AGAIN, where=file)
        if family == "xgboost":
            arrays = {"ubj": np.frombuffer(numbers.read_bytes(), np.uint8)}
        else:
            arrays = load_file(numbers)
        model: Model = KINDS[family].from_arrays(arrays)
        domain = ProbeDomain.from_arrays(load_file(folder / DOMAIN))
    return Probe(model, domain, **{name: header[name] for name in FIELDS})


def load_default(encoder_fingerprint: str, pooling: str = POOLING) -> Probe:
    """Return the shipped probe for an encoder and a pooling.

    Raises InputError, which says how to fit one, where none ships.
    """
    known = []
    for header in sorted(DEFAULTS.glob(f"*/*/{HEADER}")):
        facts = json.loads(header.read_text(encoding="utf-8"))
        if same_encoder(facts["fingerprint"], encoder_fingerprint) and facts["pooling"] == pooling:
            return load_probe(header.parent)
        known.append(f"{facts['fingerprint'].split(' ')[0]} ({facts['pooling']} pooling)")
    raise InputError(
        f"no probe ships for {encoder_fingerprint} with {pooling} pooling",
        expected=f"one of {'; '.join(known)}",
        fix=(
            f"Fit your own: argus research audit --encoder NAME --pooling {pooling} --out DIR, "
            "then argus research probe fit --audit DIR, and give --probe DIR."
        ),
        where="--probe",
    )


# Most directions kept. On MiniLM mentions 64 let through 38% of spans in source code, 256 3%.
COMPONENTS = 256
QUANTILE = 0.99  # share of validation entities that are inside


@dataclass(frozen=True)
class ProbeDomain:
    """A Gaussian of q principal directions and one variance for all others.

    mean: (dim,). components: (q, dim), orthonormal rows but for rounding; the threshold is set on
    the rounded. variances: along each direction, (q,). noise: variance in every other direction.
    threshold: largest score that is inside.
    """

    mean: FloatArray
    components: npt.NDArray[np.float16]
    variances: FloatArray
    noise: float
    threshold: float

    def scores(self, vectors: npt.NDArray[np.floating]) -> Floats:
        """Return (n,) scores of (n, dim) vectors."""
        dim, q = len(self.mean), len(self.variances)
        centred = vectors.astype(np.float64) - self.mean
        along = centred @ self.components.T.astype(np.float64)  # (n, q)
        variances = self.variances.astype(np.float64)
        rest = np.maximum((centred**2).sum(axis=1) - (along**2).sum(axis=1), 0)
        distance = (along**2 / variances).sum(axis=1) + rest / self.noise
        volume = np.log(variances).sum() + (dim - q) * np.log(self.noise) + dim * np.log(2 * np.pi)
        return np.asarray((distance + volume) / (2 * dim))

    def inside(self, scores: Floats) -> npt.NDArray[np.bool_]:
        """Return which scores are within the threshold."""
        return np.asarray(scores <= self.threshold)

    def arrays(self) -> dict[str, npt.NDArray[np.floating]]:
        """Return the arrays that `from_arrays` builds it from."""
        return {
            "mean": self.mean,
            "components": self.components,
            "variances": self.variances,
            "scalars": np.array([self.noise, self.threshold]),
        }

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> ProbeDomain:
        """Build it again."""
        mean, variances = (arrays[name].astype(np.float32) for name in ("mean", "variances"))
        components = arrays["components"].astype(np.float16)
        return cls(mean, components, variances, *map(float, arrays["scalars"]))


def fit_domain(train: FloatArray, validation: FloatArray) -> ProbeDomain:
    """Fit the density on `train` (n, dim) and put the threshold at QUANTILE of `validation`."""
    from scipy.linalg import eigh

    n, dim = train.shape
    q = max(1, min(COMPONENTS, 2 * dim // 3, n // 8))  # few entities tell few directions
    mean = train.astype(np.float64).mean(axis=0)
    centred = train - mean
    covariance = centred.T @ centred / max(n - 1, 1)  # (dim, dim)
    largest, directions = eigh(covariance, subset_by_index=[dim - q, dim - 1])
    noise = (np.trace(covariance) - largest.sum()) / max(dim - q, 1)
    floor = 1e-12  # vectors that do not vary leave no variance to divide by
    domain = ProbeDomain(
        mean.astype(np.float32),
        directions[:, ::-1].T.astype(np.float16),
        np.maximum(largest[::-1], floor).astype(np.float32),
        max(float(noise), floor),
        np.inf,
    )
    return replace(domain, threshold=float(np.quantile(domain.scores(validation), QUANTILE)))
