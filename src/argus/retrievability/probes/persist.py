"""A probe on disk, without pickle: `probe.json`, and its numbers in files that hold only numbers.

`model.safetensors`, or `model.ubj` of XGBoost, and `domain.safetensors`. probe.json has their
SHA-256 and the format's version, and is written last: a folder that has it is whole.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import TypedDict

from argus.data.provenance import file_hash
from argus.data.reading import parse_json, read_own, read_record
from argus.data.writing import write_whole
from argus.errors import InputError, Location
from argus.retrievability.probes.domain import ProbeDomain
from argus.retrievability.probes.models import (
    LinearModel,
    MlpModel,
    Model,
    Parameters,
    TreeModel,
)
from argus.retrievability.probes.probe import Probe
from argus.retrievability.probes.summary import FitMetrics, Training

FORMAT = 1
HEADER, DOMAIN = "probe.json", "domain.safetensors"
MODEL_FILES = {
    "ridge": "model.safetensors", "mlp": "model.safetensors", "xgboost": "model.ubj"
}  # fmt: skip
_KINDS: dict[str, type[LinearModel | MlpModel | TreeModel]] = {
    kind.family: kind for kind in (LinearModel, MlpModel, TreeModel)
}


class DomainFacts(TypedDict):
    """The region in which the probe speaks. Its numbers are in a file of their own."""

    threshold: float
    components: int
    unit: str


class Header(TypedDict):
    """Contents of probe.json."""

    format: int
    family: str
    fingerprint: str
    pooling: str
    dim: int
    k: int
    pool: int
    parameters: Parameters
    training: Training
    metrics: FitMetrics
    domain: DomainFacts
    files: dict[str, str]
    """SHA-256 of the other files, by name."""


def save_probe(probe: Probe, folder: Path) -> Path:
    """Write `probe` into `folder`, made if missing. Return the folder."""
    from safetensors.numpy import save

    folder.mkdir(parents=True, exist_ok=True)
    (folder / HEADER).unlink(missing_ok=True)  # until the new one is whole there is none
    model = folder / MODEL_FILES[probe.family]
    for old in set(MODEL_FILES.values()) - {model.name}:
        (folder / old).unlink(missing_ok=True)
    arrays = {name: np.ascontiguousarray(a) for name, a in probe.model.arrays().items()}
    write_whole(model, arrays["ubj"].tobytes() if probe.family == "xgboost" else save(arrays))
    domain = {name: np.ascontiguousarray(a) for name, a in probe.domain.arrays().items()}
    write_whole(folder / DOMAIN, save(domain))
    header: Header = {
        "format": FORMAT,
        "family": probe.family,
        "fingerprint": probe.fingerprint,
        "pooling": probe.pooling,
        "dim": probe.dim,
        "k": probe.k,
        "pool": probe.pool,
        "parameters": probe.parameters,
        "training": probe.training,
        "metrics": probe.metrics,
        "domain": {
            "threshold": probe.domain.threshold,
            "components": len(probe.domain.variances),
            "unit": "nats per dimension",
        },
        "files": {path.name: file_hash(path) for path in (model, folder / DOMAIN)},
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

    Raises InputError when there is none, when it is of another format version, and when a file is
    missing or changed.
    """
    path = probe_file(folder)
    folder, header = path.parent, _header(path)
    name = MODEL_FILES[header["family"]]
    for file in (name, DOMAIN):
        path = folder / file
        if not path.is_file() or file_hash(path) != header["files"].get(file):
            raise _damaged(path, "is missing" if not path.is_file() else "is not as written")
    try:
        arrays = (
            {"ubj": np.frombuffer((folder / name).read_bytes(), np.uint8)}
            if name.endswith(".ubj")
            else _tensors(folder / name)
        )
        model: Model = _KINDS[header["family"]].from_arrays(arrays)
        domain = ProbeDomain.from_arrays(_tensors(folder / DOMAIN))
        _check_dim(model, domain, header["dim"])
    except (KeyError, ValueError, IndexError) as error:
        raise _damaged(folder / HEADER, f"does not fit its weights ({error})") from error
    return Probe(
        model, domain, header["fingerprint"], header["pooling"], header["dim"],
        header["k"], header["pool"], header["parameters"], header["training"], header["metrics"],
    )  # fmt: skip


def _header(path: Path) -> Header:
    if not path.is_file():
        raise InputError(
            "no probe.json in it",
            expected="a folder that argus research probe fit wrote",
            fix="Check --probe, or leave it out for the probe that ships with the encoder.",
            where=path.parent,
        )
    try:
        facts = dict(parse_json(read_own(path)))
    except (ValueError, TypeError) as error:
        raise _damaged(path, f"is not JSON ({error})") from error
    if facts.get("format") != FORMAT:
        raise InputError(
            f"format version {facts.get('format')!r}",
            expected=f"{FORMAT}, which this version of Argus reads",
            fix="Fit it again: argus research probe fit --audit DIR.",
            where=path,
        )
    try:
        header = read_record(Header, facts, where=path)
    except InputError as error:
        raise _damaged(error.where or path, error.got) from error
    if header["family"] not in MODEL_FILES:
        raise _damaged(path, f"family {header['family']!r} is none of {', '.join(MODEL_FILES)}")
    return header


def _check_dim(model: Model, domain: ProbeDomain, dim: int) -> None:
    widths = [len(domain.mean)]
    if isinstance(model, LinearModel):
        widths.append(len(model.coefficients))
    if isinstance(model, MlpModel):
        widths.append(len(model.mean))
    if set(widths) != {dim}:
        raise ValueError(f"dim {dim}, but weights of {widths}")


def _tensors(path: Path) -> dict[str, npt.NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    try:
        return dict(load_file(path))
    except SafetensorError as error:
        raise ValueError(str(error)) from error


def _damaged(where: Location | Path | str, what: str) -> InputError:
    return InputError(
        what,
        expected="the probe as argus research probe fit wrote it",
        fix="Copy it again, or fit it again: argus research probe fit --audit DIR.",
        where=where,
    )
