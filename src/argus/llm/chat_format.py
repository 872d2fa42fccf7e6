"""How a prompt becomes tokens, and how an answer ends: what the tokenizer's chat template says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argus.errors import InputError
from argus.http_retry import without_half_pairs

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_MARK = "argus-placeholder"
_UNSEEN = "\u200b"  # zero-width space


def prompt_tokens(tokenizer: PreTrainedTokenizerBase, system: str, text: str) -> list[int]:
    """Return the tokens of a prompt, up to where the answer begins.

    The tokenizer's chat template makes them. A template that refuses or drops a system message gets
    it before the user's text. Templates that let a model think first are told not to. A tokenizer
    without a template gets a plain format: "### System", "### User", "### Assistant", each on a
    line of its own with its text below.

    What a text holds of the tokenizer's special tokens is text ("</s>" in HTML): a zero-width space
    behind its first character keeps it from ending the message.
    """
    rendered = _render(tokenizer, _plain(tokenizer, system), _plain(tokenizer, text))
    return list(tokenizer(rendered, add_special_tokens=False).input_ids)


def answer_tokens(
    tokenizer: PreTrainedTokenizerBase, answer: str, stops: frozenset[int]
) -> list[int]:
    """Return the tokens that a model should answer with: the text and what ends it.

    What ends it is the first of `stops` that the chat template puts behind an answer, else the
    tokenizer's end of sequence. Raises InputError for a tokenizer that has neither.
    """
    tokens = tokenizer(answer, add_special_tokens=False, split_special_tokens=True).input_ids
    return [*tokens, _terminator(tokenizer, stops)]


def stop_tokens(network: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> frozenset[int]:
    """Return the tokens that end an answer: those of the model and of its tokenizer."""
    own = network.generation_config.eos_token_id if network.generation_config else None
    ends = own if isinstance(own, list) else [own]
    return frozenset(t for t in [*ends, tokenizer.eos_token_id] if isinstance(t, int))


def _render(tokenizer: PreTrainedTokenizerBase, system: str, text: str) -> str:
    if not tokenizer.chat_template:
        parts = (("System", system), ("User", text))
        blocks = "".join(f"### {name}\n{part}\n\n" for name, part in parts if part)
        return f"{_beginning(tokenizer)}{blocks}### Assistant\n"
    if system and not _takes_system(tokenizer):
        system, text = "", f"{system}\n\n{text}"
    messages = [{"role": "system", "content": system}] if system else []
    messages.append({"role": "user", "content": text})
    return _applied(tokenizer, messages, add_generation_prompt=True)


def _takes_system(tokenizer: PreTrainedTokenizerBase) -> bool:
    from jinja2 import TemplateError

    messages = [{"role": "system", "content": _MARK}, {"role": "user", "content": "x"}]
    try:
        return _MARK in _applied(tokenizer, messages, add_generation_prompt=True)
    except TemplateError:
        return False


def _applied(
    tokenizer: PreTrainedTokenizerBase, messages: list[dict[str, str]], **options: Any
) -> str:
    rendered = tokenizer.apply_chat_template(
        messages, tokenize=False, enable_thinking=False, **options
    )
    assert isinstance(rendered, str)
    return rendered


def _terminator(tokenizer: PreTrainedTokenizerBase, stops: frozenset[int]) -> int:
    if tokenizer.chat_template:
        messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": _MARK}]
        _, _, behind = _applied(tokenizer, messages).rpartition(_MARK)
        tokens = tokenizer(behind, add_special_tokens=False).input_ids
        named = next((token for token in tokens if token in stops), None)
        if named is not None:
            return int(named)
    if isinstance(tokenizer.eos_token_id, int):
        return tokenizer.eos_token_id
    raise InputError(
        "the tokenizer has no token that ends an answer",
        expected="an eos_token, or a chat template that ends answers with a stop token",
        fix="Set eos_token in tokenizer_config.json.",
        where=tokenizer.name_or_path,
    )


def _beginning(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the token that the tokenizer itself puts before every text, as text."""
    first = tokenizer("").input_ids[:1]
    begins = first == [tokenizer.bos_token_id] and tokenizer.bos_token is not None
    return str(tokenizer.bos_token) if begins else ""


def _plain(tokenizer: PreTrainedTokenizerBase, text: str) -> str:
    text = without_half_pairs(text)
    special = {str(t) for t in tokenizer.added_tokens_decoder.values() if t.special}
    for token in sorted(special, key=len, reverse=True):
        text = text.replace(token, f"{token[0]}{_UNSEEN}{token[1:]}")
    return text
