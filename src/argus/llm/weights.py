"""Folders of models and adapters: where they are, and what tells one from another."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from argus.data.parts import file_hash
from argus.data.provenance import content_hash
from argus.errors import InputError

ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
NOTE = "distill.json"
"""What Argus notes beside an adapter or a merged model that it made."""
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_BESIDES = ("config.json", "generation_config.json", NOTE)
_TOKENIZER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "chat_template.jinja",
)


def find_model(model: str) -> Path:
    """Return the folder of a model; one on the hub is fetched once, unless HF_HUB_OFFLINE is set.

    Raises InputError where there is none, or an adapter alone.
    """
    path = Path(model)
    folder = path if path.is_dir() else _from_hub(model)
    if not (folder / "config.json").is_file():
        raise _no_model(model, folder)
    return folder


def find_adapter(path: Path) -> Path:
    """Return the folder of an adapter; InputError where it holds none."""
    missing = [n for n in (ADAPTER_CONFIG, ADAPTER_WEIGHTS) if not (path / n).is_file()]
    if missing:
        raise InputError(
            f"holds no {' and no '.join(missing)}" if path.is_dir() else "no such folder",
            expected=f"the folder of a LoRA adapter: {ADAPTER_CONFIG}, {ADAPTER_WEIGHTS}",
            fix="Give the adapter folder that argus scenarios distill wrote, or leave it out.",
            where=path,
        )
    return path


def base_hash(folder: Path) -> str:
    """Return the hash of a model's weights alone: what an adapter was trained on top of."""
    return _hash(_first_kind(folder))


def model_hash(folder: Path) -> str:
    """Return the hash of all that decides a model's answers: weights, settings, tokenizer."""
    names = (*_BESIDES, *_TOKENIZER)
    return _hash([*_first_kind(folder), *(folder / name for name in names)])


def adapter_hash(folder: Path) -> str:
    """Return the hash of an adapter."""
    return _hash(folder / name for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS, NOTE))


def _first_kind(folder: Path) -> list[Path]:
    """Return the files of weights, as `transformers` chooses between two formats."""
    kinds = (sorted(folder.glob(pattern)) for pattern in _WEIGHTS)
    return next((paths for paths in kinds if paths), [])


def _hash(paths: Iterable[Path]) -> str:
    parts: list[str] = []
    for path in paths:
        if path.is_file():
            status = path.stat()
            parts += [path.name, _file_hash(path.resolve(), status.st_size, status.st_mtime_ns)]
    return content_hash(*parts).hex()


@lru_cache(maxsize=256)
def _file_hash(path: Path, _size: int, _changed_ns: int) -> str:
    """Return the hash of a file, read once while it stays as it is: weights have gigabytes."""
    return file_hash(path)


def _from_hub(model: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    patterns = [*_WEIGHTS, "*.json", *_TOKENIZER]
    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    problem: Exception | None = None
    for local_only in (True,) if offline else (True, False):
        try:
            folder = Path(
                snapshot_download(model, allow_patterns=patterns, local_files_only=local_only)
            )
            if not local_only or (folder / "config.json").is_file():
                return folder
        except (OSError, ValueError, HFValidationError) as error:
            problem = error
    reason = str(problem or "").strip().splitlines()
    raise InputError(
        f"model {model!r} could not be found" + (f" ({reason[0][:200]})" if reason else ""),
        expected="a folder with a causal language model, or one on a reachable hub",
        fix="Check the name; without network, give the folder.",
        where="--model",
    ) from problem


def _no_model(model: str, folder: Path) -> InputError:
    if (folder / ADAPTER_CONFIG).is_file():
        return InputError(
            f"{model!r} is an adapter",
            expected="the model that it was trained on top of",
            fix=f"Give --model local:BASE --adapter {model}.",
            where="--model",
        )
    return InputError(
        f"{model!r} holds no config.json",
        expected="a folder with a causal language model: config.json, weights, tokenizer",
        fix="Check the path.",
        where="--model",
    )
