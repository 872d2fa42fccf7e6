"""Loading a causal language model, its tokenizer and an adapter; no weight may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.devices import check_device
from argus.errors import InputError
from argus.extras import naming_extras
from argus.llm.adapters import attach, read_note
from argus.llm.chat_format import stop_tokens
from argus.llm.local_config import LocalConfig
from argus.llm.weights import find_adapter, find_model

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True)
class LocalModel:
    """A model that can be asked.

    window: tokens of prompt and answer together; None where the model names no bound. stops: tokens
    that end an answer. trained_for: hashes (`schema_hash`) of the JSON schemas that it need not be
    told of.
    """

    network: Any
    tokenizer: PreTrainedTokenizerBase
    device: str
    dtype: str
    window: int | None
    stops: frozenset[int]
    trained_for: frozenset[str] = frozenset()


def load_local(config: LocalConfig) -> LocalModel:
    """Load what a configuration names, adapter included. Raises InputError where that fails."""
    folder, device = find_model(config.model), check_device(config.device)
    adapter = find_adapter(config.adapter) if config.adapter else None
    dtype = choose_dtype(config.dtype, device)
    network, tokenizer = load_base(folder, dtype)
    stops = stop_tokens(network, tokenizer)
    window = window_of(network)
    schemas = frozenset(read_note(adapter or folder).get("trained_for", ()))
    model: Any = attach(network, tokenizer, folder, adapter) if adapter else network
    model.to(device).eval()
    return LocalModel(model, tokenizer, device, dtype, window, stops, schemas)


def choose_dtype(dtype: str, device: str) -> str:
    """Return what "auto" means on a device: what it computes fast in, float32 on the CPU."""
    import torch

    if dtype != "auto":
        return dtype
    if not device.startswith("cuda"):
        return "float32"
    return "bfloat16" if torch.cuda.is_bf16_supported() else "float16"


@naming_extras()
def load_base(folder: Path, dtype: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load model and tokenizer from a folder; on the CPU, ready for inference.

    Raises InputError where weights or the tokenizer are missing or broken.
    """
    import torch
    from safetensors import SafetensorError
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    failures = (OSError, ValueError, KeyError, RuntimeError, SafetensorError)
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except failures as error:
        raise _unusable(folder, "tokenizer", error) from error
    try:
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=getattr(torch, dtype),
            local_files_only=True,
            output_loading_info=True,
        )
    except failures as error:
        raise _unusable(folder, "model", error) from error
    network, report = loaded
    if missing := sorted(report["missing_keys"]):
        raise _unusable(folder, "model", f"weights {missing[0]!r} are missing")
    _check_vocabulary(network, tokenizer, folder)
    return network, tokenizer


def window_of(network: PreTrainedModel) -> int | None:
    """Return how many tokens a model reads and writes at most."""
    longest = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    return longest if isinstance(longest, int) and longest > 0 else None


def _check_vocabulary(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, folder: Path
) -> None:
    embeddings: Any = network.get_input_embeddings()
    rows = int(embeddings.num_embeddings)
    highest = max(tokenizer.get_vocab().values(), default=-1)
    if highest >= rows:
        raise _unusable(
            folder, "tokenizer", f"it has the token {highest}, the model only {rows} embeddings"
        )


def _unusable(folder: Path, what: str, error: Exception | str) -> InputError:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = (lines[0] if lines else type(error).__name__)[:200].rstrip(":")
    return InputError(
        f"the {what} cannot be loaded ({reason})",
        expected="a causal language model with its tokenizer: config.json, *.safetensors, "
        "tokenizer.json",
        fix="Copy the whole folder of the model, tokenizer included.",
        where=folder,
    )
