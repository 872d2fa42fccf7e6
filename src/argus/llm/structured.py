"""Read a model's answers: a chat completion's body, validated objects, LaTeX in JSON.

Requests for objects are built here, too, with their JSON schema.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from argus.data.provenance import content_hash
from argus.http_retry import without_half_pairs

MAX_TOKENS = 10**9  # a count beyond it is no count
WHOLE = frozenset({"stop", "stop_sequence", "eos", "eos_token", "end_turn"})
"""Finish reasons of an answer that ended by itself."""
CUT_OFF = frozenset({"length", "max_tokens", "model_length"})


COMMANDS = (
    "nabla natural neg neq newcommand newline ngeq ngtr nleftarrow nLeftarrow nleq notin not norm "
    "nrightarrow nRightarrow nsubseteq rangle rbrace rbrack rceil renewcommand rfloor rho right "
    "rightarrow rightharpoonup rightleftharpoons rm root rtimes rvert rVert tan tanh tau tbinom "
    "text textbf textcolor textit textmd textrm textsc textsf textstyle textsubscript "
    "textsuperscript texttt textup tfrac therefore theta thickapprox thicksim tilde times tiny to "
    "top triangle triangleleft triangleq triangleright twoheadrightarrow"
)
"""LaTeX that begins like the escapes of newline, carriage return and tab. Left out are commands
whose rest is a common first word of lines (`ne`, `ni`, `nu`, `nless`, `nexists`, `trace`): there a
line break before a word is far likelier. Between dollar signs those of IN_MATH count, too."""
IN_MATH = "ne ni nu nless nexists"


def _but_for_commands(letter: str) -> str:
    rests = "|".join(name[1:] for name in COMMANDS.split() if name[0] == letter)
    return rf"{letter}(?!(?:{rests})(?![A-Za-z]))"


_VALID = "|".join(
    (r'["\\/]', "u[0-9a-fA-F]{4}", "[bf](?![A-Za-z])", *map(_but_for_commands, "nrt"))
)
_ESCAPE = re.compile(rf"\\({_VALID}|)")
_MATH = re.compile(r"\$[^$\"\n]{1,200}\$")
_WORDLIKE = re.compile(rf"(?<!\\)\\({IN_MATH.replace(' ', '|')})(?![A-Za-z])")


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request: a text, or the reason why there is none.

    unanswered: there was no answer at all.
    """

    text: str = ""
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    unanswered: bool = False


def read_reply(body: str, *, max_tokens: int) -> Reply:
    """Return the answer in the body of a response with status 200. Never raises."""
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
    """Return the text after a model's thoughts, which some servers leave in the answer."""
    return text.rpartition("</think>")[2].strip()


def _content(data: Any, tokens_out: int | None, max_tokens: int) -> tuple[str, str]:
    """Return the text, or "" and the reason. Raises on a wrong shape."""
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
    """Return the reason why an answer is not whole, "" where it is.

    Servers have many names for an answer that was cut off, and few for a whole one.
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
    return value if type(value) is int and 0 <= value <= MAX_TOKENS else None


class UnusableAnswer(Exception):
    """An answer that cannot be used. The message has the reason."""


def schema_text(schema: type[BaseModel]) -> str:
    """Return the JSON schema as text, always the same for equal schemas."""
    return json.dumps(schema.model_json_schema(), sort_keys=True, ensure_ascii=False)


def schema_hash(schema: type[BaseModel]) -> str:
    """Return the hash of a schema, in hexadecimal."""
    return content_hash(schema_text(schema)).hex()


def response_format(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the `response_format` that restricts an endpoint to answers that fit `schema`."""
    strict = copy.deepcopy(schema.model_json_schema())
    _close(strict)
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in schema.__name__)[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


def instruction(schema: type[BaseModel]) -> str:
    """Return the words for an endpoint without `response_format`."""
    return f"Answer only with one JSON object that fits this JSON schema:\n{schema_text(schema)}"


def instructed(system: str, schema: type[BaseModel]) -> str:
    """Return a system message with that instruction at its end."""
    return f"{system}\n\n{instruction(schema)}".strip()


def read_object(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the object in an answer: JSON, alone, in a ``` fence or after thoughts.

    LaTeX in it may be escaped or not.

    Raises UnusableAnswer with the first field that does not fit.
    """
    try:
        return schema.model_validate_json(repair_escapes(_unfenced(without_thoughts(text))))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        more = f" and {error.error_count() - 1} more" if error.error_count() > 1 else ""
        raise UnusableAnswer(
            f"the answer does not fit {schema.__name__}: {place}: {first['msg']}{more}; "
            f"it begins {text[:120]!r}"
        ) from error


def _unfenced(text: str) -> str:
    start, end = text.find("```"), text.rfind("```")
    stripped = text.strip()
    if stripped.startswith(("{", "[")) or start < 0 or end == start:
        return stripped
    inner = text[start + 3 : end]
    return inner.strip().removeprefix("json").removeprefix("JSON").strip()


def _close(node: Any) -> None:
    """Make every object of a schema strict: all properties required, no others (in place)."""
    if isinstance(node, list):
        for item in node:
            _close(item)
    elif isinstance(node, dict):
        if node.get("type") == "object" and isinstance(node.get("properties"), dict):
            node["additionalProperties"] = False
            node["required"] = list(node["properties"])
        for value in node.values():
            _close(value)


def repair_escapes(text: str) -> str:
    r"""Return JSON with a second backslash where a single one stands before LaTeX.

    `\alpha` and `\(` are no escapes of JSON and would not parse. `\frac` would be a form feed and
    "rac", `\times` a tab and "imes". A backslash is doubled where JSON knows no such escape, before
    `b` and `f` with a letter after them (nobody writes backspaces and form feeds), and before `n`,
    `r`, `t` where exactly one of COMMANDS stands (between dollars: or of IN_MATH).

    Intended escapes stay, except ambiguous ones: a backspace or form feed before a letter, and a
    line break or tab before a word that makes one of COMMANDS with it (a tab and "an"), come back
    as LaTeX.
    """
    if "\\" not in text:
        return text
    doubled = _MATH.sub(lambda math: _WORDLIKE.sub(r"\\\\\1", math[0]), text)
    return _ESCAPE.sub(lambda escape: f"\\{escape[1]}" if escape[1] else r"\\", doubled)
