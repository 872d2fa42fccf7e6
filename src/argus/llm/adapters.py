"""Putting a LoRA adapter on the model that it was trained on top of, and on no other."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from argus.data.reading import read_own
from argus.data.records import parse_json, read_record
from argus.errors import InputError
from argus.extras import naming_extras
from argus.llm.weights import ADAPTER_CONFIG, ADAPTER_WEIGHTS, NOTE, base_hash

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


class BaseNote(TypedDict, total=False):
    """What an adapter was trained on top of.

    name: name of the model.
    weights: hash of its weights.
    """

    name: str
    weights: str


class AdapterNote(TypedDict, total=False):
    """What is read of the note.

    base: model that it was trained on top of.
    trained_for: hashes of the schemas that it need not be told.
    """

    base: BaseNote
    trained_for: list[str]


@naming_extras()
def need_peft() -> None:
    """Raise MissingPackage where peft is not installed, before hours of work."""
    import peft  # noqa: F401


@contextmanager
def without_peft_warnings() -> Iterator[None]:
    """Silence peft: it warns of what transformers will rename, and of weights that we check."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def read_note(folder: Path) -> AdapterNote:
    """Return what Argus noted beside an adapter or model that it made; nothing for others."""
    path = folder / NOTE
    if not path.is_file():
        return {}
    try:
        note = parse_json(read_own(path))
    except ValueError as error:
        raise InputError(
            f"broken JSON ({error})",
            expected="the file as argus scenarios distill wrote it",
            fix="Restore it, or train the adapter again.",
            where=path,
        ) from error
    return read_record(AdapterNote, note, where=path)


def attach(
    network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, base: Path, adapter: Path
) -> PeftModel:
    """Return the model with the adapter on it.

    Raises InputError where the adapter was trained on top of another model: by the hash of its
    weights where Argus noted that, by vocabulary, names and shapes for all. (peft alone would leave
    weights that it cannot place at random values, with a warning.)
    """
    need_peft()
    own = read_note(adapter).get("base", {})
    if own and own.get("weights") != base_hash(base):
        raise other_base(adapter, base, f"weights {own.get('weights')} of {own.get('name')}")
    _check_vocabulary(tokenizer, base, adapter)
    return _attached(network, base, adapter)


def other_base(adapter: Path, base: Path, trained_on: str) -> InputError:
    """Return the error for an adapter that does not belong to a model."""
    named = read_note(adapter).get("base", {}).get("name") or _named_base(adapter)
    return InputError(
        f"the adapter was not trained on top of {base}",
        expected=f"{named or 'its own base model'} ({trained_on})",
        fix=f"Give --model local:{named or 'BASE'} with it, or train an adapter for this model: "
        "argus scenarios distill --base.",
        where=adapter,
    )


def _attached(network: PreTrainedModel, base: Path, adapter: Path) -> PeftModel:
    from peft import PeftModel, get_peft_model_state_dict
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(adapter / ADAPTER_WEIGHTS, framework="pt") as file:
            stored = set(file.keys())
        with without_peft_warnings():
            model = PeftModel.from_pretrained(network, str(adapter), is_trainable=False)
    except (SafetensorError, OSError, json.JSONDecodeError, TypeError) as error:
        raise InputError(
            f"the adapter cannot be read ({_first_line(error)})",
            expected=f"{ADAPTER_CONFIG} and {ADAPTER_WEIGHTS} as peft writes them",
            fix="Copy it again, or train it again.",
            where=adapter,
        ) from error
    except (RuntimeError, ValueError, KeyError) as error:
        raise other_base(adapter, base, _first_line(error)) from error
    placed = get_peft_model_state_dict(model, save_embedding_layers=False)
    missing = sorted(placed.keys() - stored)
    left_over = sorted(name for name in stored - placed.keys() if "lora_" in name)
    if missing or left_over:
        counts = f"{len(missing)} weights of its layers are missing, {len(left_over)} fit nowhere"
        raise other_base(adapter, base, f"{counts}; first {(missing or left_over)[0]}")
    return model


def _check_vocabulary(tokenizer: PreTrainedTokenizerBase, base: Path, adapter: Path) -> None:
    path = adapter / "tokenizer.json"
    if not path.is_file():
        return
    from tokenizers import Tokenizer

    vocabulary = Tokenizer.from_file(str(path)).get_vocab()
    if vocabulary != tokenizer.get_vocab():
        raise other_base(adapter, base, f"a vocabulary of {len(vocabulary):,} other tokens")


def _named_base(adapter: Path) -> str:
    try:
        values = parse_json(read_own(adapter / ADAPTER_CONFIG))
        return str(values.get("base_model_name_or_path") or "")
    except (ValueError, OSError, AttributeError):
        return ""


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    named = next((line for line in lines if "mismatch" in line and "for" in line), None)
    return (named or (lines[0] if lines else type(error).__name__))[:200]
