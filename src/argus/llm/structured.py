"""Answers as validated objects: what is sent to ask for them, and how they are read."""

from __future__ import annotations

import copy
import json
from typing import Any

from pydantic import BaseModel, ValidationError
from typing_extensions import TypedDict

from argus.data.provenance import content_hash
from argus.llm.escapes import repair_escapes
from argus.llm.reply import without_thoughts


class UnusableAnswer(Exception):
    """An answer came, but nothing that can be used; the message says why."""


def schema_text(schema: type[BaseModel] | None) -> str:
    """Return the JSON schema as text, always the same for equal schemas; "" for none."""
    if schema is None:
        return ""
    return json.dumps(schema.model_json_schema(), sort_keys=True, ensure_ascii=False)


def schema_hash(schema: type[BaseModel]) -> str:
    """Return what tells schemas apart, in hexadecimal."""
    return content_hash(schema_text(schema)).hex()


class JsonSchema(TypedDict):
    """A JSON schema, to be kept to strictly."""

    name: str
    schema: dict[str, object]
    strict: bool


class ResponseFormat(TypedDict):
    """The field of a request that asks for answers of one schema."""

    type: str
    json_schema: JsonSchema


def response_format(schema: type[BaseModel]) -> ResponseFormat:
    """Return the `response_format` that asks an endpoint to generate only what fits `schema`."""
    strict = copy.deepcopy(schema.model_json_schema())
    _close(strict)
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in schema.__name__)[:64]
    return {
        "type": "json_schema",
        "json_schema": {"name": name, "schema": strict, "strict": True},
    }


def instruction(schema: type[BaseModel]) -> str:
    """Return what an endpoint without `response_format` is told instead."""
    return f"Answer only with one JSON object that fits this JSON schema:\n{schema_text(schema)}"


def instructed(system: str, schema: type[BaseModel]) -> str:
    """Return a system message with that instruction at its end."""
    return f"{system}\n\n{instruction(schema)}".strip()


def read_object(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the object in an answer: JSON, alone, in a ``` fence or after thoughts.

    LaTeX in it may be escaped or not.

    Raises UnusableAnswer with the first of what does not fit.
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
