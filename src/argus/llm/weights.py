"""Find and load a causal language model, with or without a LoRA adapter, and tokenize its prompts.

`find_model` -> the folder of a model, `load_base` -> model and tokenizer, `attach` -> the model
with an adapter, `prompt_tokens` -> ids of a prompt by the tokenizer's chat template. Used to answer
(`argus.llm.local`) and to fine-tune (`research scenarios distill`). An adapter goes only on the
model that it was trained on top of.
"""

from __future__ import annotations

import warnings
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.data.provenance import content_hash, file_hash
from argus.data.reading import parse_json, read_own, reading
from argus.errors import InputError
from argus.extras import naming_extras
from argus.visible import without_half_pairs

if TYPE_CHECKING:
    from peft import PeftModel
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

ADAPTER_CONFIG = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
NOTE = "distill.json"  # beside an adapter or a merged model that Argus made
_WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_BESIDES = ("config.json", "generation_config.json", NOTE)
_TOKENIZER = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json",
    "vocab.json", "merges.txt", "tokenizer.model", "chat_template.jinja",
)  # fmt: skip


def find_model(model: str) -> Path:
    """Return the folder of a model. One on the hub is fetched once, unless HF_HUB_OFFLINE is set.

    Raises InputError where there is no model, or only an adapter.
    """
    folder = Path(model)
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        expected = "a folder with a causal language model, or one on a reachable hub"
        fix, patterns = "Check the name; without network, give the folder.", (*_WEIGHTS, "*.json")
        with reading("--model", f"model {model!r} was not found", expected=expected, fix=fix):
            folder = Path(snapshot_download(model, allow_patterns=[*patterns, *_TOKENIZER]))
    if (folder / "config.json").is_file():
        return folder
    got, fix = f"{model!r} holds no config.json", "Check the path."
    expected = "a folder with a causal language model: config.json, weights, tokenizer"
    if (folder / ADAPTER_CONFIG).is_file():
        got, expected = f"{model!r} is an adapter", "the model that it was trained on top of"
        fix = f"Give --model local:BASE --adapter {model}."
    raise InputError(got, expected=expected, fix=fix, where="--model")


def find_adapter(path: Path) -> Path:
    """Return the folder of an adapter. Raises InputError where it holds none."""
    for name in (ADAPTER_CONFIG, ADAPTER_WEIGHTS):
        if not (path / name).is_file():
            expected = f"the folder of a LoRA adapter: {ADAPTER_CONFIG}, {ADAPTER_WEIGHTS}"
            fix = "Give the folder that argus research scenarios distill wrote, or leave it out."
            raise InputError(f"holds no {name}", expected=expected, fix=fix, where=path)
    return path


def base_hash(folder: Path, *besides: str) -> str:
    """Return the hash of a model's weights, by which an adapter knows its base.

    besides: names of other files that count. Of two formats of weights `transformers` takes one.
    """
    kinds = (sorted(folder.glob(pattern)) for pattern in _WEIGHTS)
    paths = [*next(filter(None, kinds), []), *(folder / name for name in besides)]
    there = (path for path in paths if path.is_file())
    return content_hash(*(part for path in there for part in (path.name, file_hash(path)))).hex()


def model_hash(folder: Path) -> str:
    """Return the hash of weights, settings and tokenizer, which decide a model's answers."""
    return base_hash(folder, *_BESIDES, *_TOKENIZER)


def adapter_hash(folder: Path) -> str:
    """Return the hash of an adapter."""
    return base_hash(folder, ADAPTER_CONFIG, NOTE)


@naming_extras()
def need_peft() -> None:
    """Raise MissingPackage where peft is not installed, before hours of work."""
    import peft  # noqa: F401


def read_note(folder: Path) -> dict[str, Any]:
    """Return the note beside an adapter or model that Argus made. It is empty for others.

    base: name of the model that it was trained on top of, and the hash of its weights.
    trained_for: hashes of the schemas that it need not be told.
    """
    path = folder / NOTE
    if not path.is_file():
        return {"base": {}, "trained_for": []}
    with reading(
        path, "broken JSON", expected="the file as argus research scenarios distill wrote it",
        fix="Restore it, or train the adapter again.",
    ):  # fmt: skip
        return {"base": {}, "trained_for": [], **parse_json(read_own(path))}


def attach(network: PreTrainedModel, base: Path, adapter: Path) -> PeftModel:
    """Return the model with the adapter on it.

    Raises InputError where the adapter was trained on top of another model: by the hash of its
    weights where Argus noted that, by names and shapes for all.
    """
    need_peft()
    from peft import PeftModel

    own = read_note(adapter)["base"]
    fix = f"Give --model local:{own.get('name', 'BASE')} with it, or train one."
    expected = "an adapter that was trained on top of this model"
    with reading(adapter, f"does not fit {base}", expected=expected, fix=fix):
        if own and own.get("weights") != base_hash(base):
            raise ValueError(f"it is of weights {own.get('weights')}")
        # peft warns of names in transformers, and of weights that are checked here
        with warnings.catch_warnings(action="ignore"):
            warnings.filterwarnings("error", "Found missing adapter keys")  # left at random values
            return PeftModel.from_pretrained(network, str(adapter), is_trainable=False)


def choose_dtype(dtype: str, device: str) -> str:
    """Return the number format of "auto" on a device: a fast one on a GPU, float32 on the CPU."""
    import torch

    if dtype != "auto":
        return dtype
    is_fast = device.startswith("cuda") and torch.cuda.is_bf16_supported()
    return "bfloat16" if is_fast else "float32"


@naming_extras()
def load_base(folder: Path, dtype: str) -> tuple[PreTrainedModel, PreTrainedTokenizerBase]:
    """Load model and tokenizer from a folder. On the CPU, ready for inference.

    Raises InputError where weights or the tokenizer are missing or broken.
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    expected = "a causal language model: config.json, *.safetensors, tokenizer.json"
    fix = "Copy the whole folder of the model, tokenizer included."
    with reading(folder, "the model cannot be loaded", expected=expected, fix=fix):
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        loaded: Any = AutoModelForCausalLM.from_pretrained(
            folder, dtype=getattr(torch, dtype), local_files_only=True, output_loading_info=True
        )
        network, report = loaded
        if missing := sorted(report["missing_keys"]):
            raise ValueError(f"weights {missing[0]!r} are missing")
    return network, tokenizer


def window_of(network: PreTrainedModel) -> int | None:
    """Return the most tokens that a model reads and writes together, None without a bound."""
    longest = getattr(network.config.get_text_config(), "max_position_embeddings", None)
    return longest if isinstance(longest, int) and longest > 0 else None


def prompt_tokens(tokenizer: PreTrainedTokenizerBase, system: str, text: str) -> list[int]:
    """Return the tokens of a prompt, up to where the answer begins.

    The tokenizer's chat template makes them. A template that refuses or drops a system message gets
    it before the user's text. Templates that let a model think first are told not to. A tokenizer
    without a template gets a plain format: "### System", "### User", "### Assistant", each on a
    line of its own with its text below.

    Special tokens of the tokenizer in a text are text ("</s>" in HTML): a zero-width space
    behind its first character keeps it from ending the message.
    """
    special = {str(t) for t in tokenizer.added_tokens_decoder.values() if t.special}

    def plain(text: str) -> str:
        text = without_half_pairs(text)
        for token in sorted(special, key=len, reverse=True):
            text = text.replace(token, f"{token[0]}\u200b{token[1:]}")
        return text

    rendered = _render(tokenizer, plain(system), plain(text))
    return list(tokenizer(rendered, add_special_tokens=False).input_ids)


def answer_tokens(
    tokenizer: PreTrainedTokenizerBase, answer: str, stops: frozenset[int]
) -> list[int]:
    """Return the tokens that a model should answer with: the text and its end.

    The end is the tokenizer's end of sequence, else one of `stops`.
    """
    tokens = tokenizer(answer, add_special_tokens=False, split_special_tokens=True).input_ids
    ends = [tokenizer.eos_token_id, *sorted(stops)]
    return [*tokens, *[token for token in ends if isinstance(token, int)][:1]]


def stop_tokens(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Return the tokens that end an answer: those of the model and of its tokenizer."""
    own = network.generation_config.eos_token_id if network.generation_config else None
    ends = own if isinstance(own, list) else [own]
    return frozenset(t for t in [*ends, tokenizer.eos_token_id] if isinstance(t, int))


def _render(tokenizer: PreTrainedTokenizerBase, system: str, text: str) -> str:
    from jinja2 import TemplateError

    if not tokenizer.chat_template:
        parts = (("System", system), ("User", text))
        blocks = "".join(f"### {name}\n{part}\n\n" for name, part in parts if part)
        first = tokenizer("").input_ids[:1]  # the token that it puts before every text
        begins = first == [tokenizer.bos_token_id] and tokenizer.bos_token is not None
        return f"{tokenizer.bos_token if begins else ''}{blocks}### Assistant\n"
    user = {"role": "user", "content": text}
    messages = [{"role": "system", "content": system}, user] if system else [user]
    with suppress(TemplateError) if system else nullcontext():
        rendered = tokenizer.apply_chat_template(
            messages, tokenize=False, enable_thinking=False, add_generation_prompt=True
        )
        if system.strip() in str(rendered):
            return str(rendered)
    return _render(tokenizer, "", f"{system}\n\n{text}")
