"""Reading the body of a chat completion, whatever a server puts there."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from argus.http_retry import without_half_pairs

MOST_TOKENS = 10**9  # a count beyond it is no count


@dataclass(frozen=True, slots=True)
class Reply:
    """What one answered request gave: a text, or the reason why it is not one."""

    text: str = ""
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None


def read_reply(body: str, *, max_tokens: int) -> Reply:
    """Return the answer in the body of a response with status 200; never raises."""
    try:
        data = json.loads(body)
        usage = data.get("usage") if isinstance(data, dict) else None
        counts = {"tokens_in": _count(usage, "prompt_tokens")}
        counts["tokens_out"] = _count(usage, "completion_tokens")
        text, reason = _content(data, max_tokens)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        return Reply(
            reason=f"the answer is no chat completion ({type(error).__name__}: "
            f"{str(error)[:100]}); it begins {body[:120]!r}"
        )
    return Reply(text, reason, **counts)


def _content(data: Any, max_tokens: int) -> tuple[str, str]:
    """Return the text, or "" and why there is none; raises on a wrong shape."""
    if data.get("error"):
        return "", f"the endpoint answered with an error: {json.dumps(data['error'])[:300]}"
    choice = data["choices"][0]
    message, finish = choice["message"], choice.get("finish_reason")
    if finish == "length":
        return "", f"the answer was cut off (finish_reason length; max_tokens {max_tokens})"
    if finish == "content_filter":
        return "", "the answer was withheld (finish_reason content_filter)"
    if message.get("refusal"):
        return "", f"the model refused: {str(message['refusal'])[:300]}"
    content = message.get("content")
    if content is None or content == "":
        return "", f"the answer is empty (finish_reason {str(finish)[:40]})"
    if not isinstance(content, str):
        raise TypeError(f"content is {type(content).__name__}, not text")
    if not content.strip():
        return "", f"the answer is blank (finish_reason {str(finish)[:40]})"
    return without_half_pairs(content), ""


def _count(usage: Any, name: str) -> int | None:
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else None
