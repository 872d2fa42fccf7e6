"""Reading the body of a chat completion, whatever a server puts there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from argus.http_retry import without_half_pairs

MOST_TOKENS = 10**9  # a count beyond it is no count
WHOLE = frozenset({"stop", "stop_sequence", "eos", "eos_token", "end_turn"})
"""Finish reasons of an answer that ended by itself."""
CUT_OFF = frozenset({"length", "max_tokens", "model_length"})


@dataclass(frozen=True, slots=True)
class Reply:
    """What one answered request gave: a text, or the reason why it is not one.

    unanswered: there was no answer at all.
    """

    text: str = ""
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    unanswered: bool = False


def read_reply(body: str, *, max_tokens: int) -> Reply:
    """Return the answer in the body of a response with status 200; never raises."""
    try:
        data = json.loads(body)
        usage = data.get("usage") if isinstance(data, dict) else None
        tokens_in, tokens_out = (_count(usage, f"{x}_tokens") for x in ("prompt", "completion"))
        text, reason = _content(data, tokens_out, max_tokens)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        return Reply(
            reason=f"the answer is no chat completion ({type(error).__name__}: "
            f"{str(error)[:100]}); it begins {body[:120]!r}"
        )
    return Reply(text, reason, tokens_in, tokens_out)


def without_thoughts(text: str) -> str:
    """Return what follows a model's thoughts, which some servers leave in the answer."""
    return text.rpartition("</think>")[2].strip()


def _content(data: Any, tokens_out: int | None, max_tokens: int) -> tuple[str, str]:
    """Return the text, or "" and why there is none; raises on a wrong shape."""
    if data.get("error"):
        return "", f"the endpoint answered with an error: {json.dumps(data['error'])[:300]}"
    choice = data["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    if message.get("refusal"):
        return "", f"the model refused: {str(message['refusal'])[:300]}"
    broken = _why_broken_off(finish, tokens_out, max_tokens)
    if broken:
        return "", broken
    content = message.get("content")
    if content is None or content == "":
        return "", f"the answer is empty (finish_reason {str(finish)[:40]})"
    if not isinstance(content, str):
        raise TypeError(f"content is {type(content).__name__}, not text")
    if not content.strip():
        return "", f"the answer is blank (finish_reason {str(finish)[:40]})"
    return without_half_pairs(content), ""


def _why_broken_off(finish: Any, tokens_out: int | None, max_tokens: int) -> str:
    """Return why an answer is not a whole one, "" where it is.

    Servers have many names for an answer that was cut off, and more to come; few for a whole one.
    """
    named = f"finish_reason {str(finish)[:40]}"
    if finish is None:
        if tokens_out is None or tokens_out < max_tokens:
            return ""
        return f"the answer was cut off ({named}, {tokens_out} tokens; max_tokens {max_tokens})"
    name = str(finish).lower()
    if name in WHOLE:
        return ""
    if name in CUT_OFF:
        return f"the answer was cut off ({named}; max_tokens {max_tokens})"
    if name == "content_filter":
        return f"the answer was withheld ({named})"
    return f"the answer did not come to its end ({named})"


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None
