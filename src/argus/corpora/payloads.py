"""Documents out of records of a store: which field of a payload holds text and title."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from argus.data.corpus import TEXT_FIELDS, TITLE_FIELDS
from argus.data.fields import FieldNames
from argus.data.types import Document, RecordFields
from argus.errors import InputError
from argus.stores.protocol import Payload

NODE = "_node_content"
"""Where LlamaIndex keeps a node: JSON, with the text in it."""
OF_FRAMEWORKS = ("page_content", "document", "chunk", "chunk_text")
"""Names that LangChain, Chroma and others have for a text."""
OBJECTS = ("metadata", "cmetadata", "metadata_")
"""Fields that hold the rest as an object; what is in it counts as if it stood beside."""
SHOWN = 20
_shared = lru_cache(maxsize=1024)(RecordFields)  # records of a store mostly have the same


@dataclass(frozen=True)
class Payloads:
    """Reads documents. fields: those that are named, by dotted paths too; store: its name."""

    fields: FieldNames
    store: str

    def document(self, id_: str, payload: Payload) -> Document:
        """Return a record as a document; without a text its text is empty."""
        values, inner = opened(payload)
        title_field = self.fields.title or _usual(values, TITLE_FIELDS)
        text_field = self.fields.text or _usual(values, (*TEXT_FIELDS, *OF_FRAMEWORKS))
        text = self._text(text_field, payload, values, id_) if text_field else _node_text(values)
        used = {NODE, *_last_steps(self.fields.id, text_field, title_field)}
        return Document(
            id=self._id(id_, payload, values),
            title=self._text(title_field, payload, values, id_) if title_field else "",
            text=text,
            metadata={name: value for name, value in values.items() if name not in used},
            fields=_shared(self.fields.id or "id", title_field, inner, text_field),
        )

    def refuse_textless(self, payloads: Sequence[Payload]) -> None:
        """Raise InputError where not one of some records has a text."""
        documents = (self.document("", payload) for payload in payloads)
        if not payloads or any(document.text.strip() for document in documents):
            return
        names = list(dict.fromkeys(name for payload in payloads for name in paths(payload)))
        shown = ", ".join(names[:SHOWN]) + (" ..." if len(names) > SHOWN else "")
        usual = ", ".join((*TEXT_FIELDS, *OF_FRAMEWORKS))
        raise InputError(
            f"its records hold no text (fields: {shown or 'none'})",
            expected=f"the field {self.fields.text!r}" if self.fields.text else f"one of {usual}",
            fix="Name the field of the texts with --text-field, such as metadata.body; where they "
            "are kept elsewhere, give those as the corpus.",
            where=self.store,
        )

    def _text(self, name: str, payload: Payload, values: Payload, id_: str) -> str:
        value = _value(name, payload, values)
        if value is None or isinstance(value, str):
            return value or ""
        raise self._wrong(f"{value!r} in {name!r} is of type {type(value).__name__}", "a text", id_)

    def _id(self, id_: str, payload: Payload, values: Payload) -> str:
        if self.fields.id is None or not id_:
            return id_
        value = _value(self.fields.id, payload, values)
        if self.fields.coerce_ids and isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        if isinstance(value, str) and value:
            return value
        raise self._wrong(
            f"{value!r} in {self.fields.id!r}",
            "an id: a text, or a whole number with --coerce-ids", id_,
        )  # fmt: skip

    def _wrong(self, got: str, expected: str, id_: str) -> InputError:
        where = f"{self.store}, record {id_}"
        return InputError(got, expected=expected, fix="Name another field.", where=where)


def opened(payload: Payload) -> tuple[dict[str, Any], frozenset[str]]:
    """Return the fields of a payload, with those of its object of metadata beside the others.

    The names of these come with them, but for those that a field beside has as well.
    """
    values = dict(payload)
    names: set[str] = set()
    for name in OBJECTS:
        if isinstance(inner := values.get(name), Mapping):
            del values[name]
            own = {k for k in inner if k not in values}
            values |= {k if k in own else f"{name}.{k}": v for k, v in inner.items()}
            names |= own
    return values, frozenset(names)


def paths(payload: Payload) -> Iterator[str]:
    """Yield the name of each field, of those in objects by their dotted paths."""
    for name, value in payload.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in paths(value))
        else:
            yield name


def _value(name: str, payload: Payload, values: Payload) -> Any:
    """Return what a field holds; name: as it is, or a dotted path. None where there is nothing."""
    for there in (payload, values):
        if name in there:
            return there[name]
    value: Any = payload
    for step in name.split("."):
        value = value.get(step) if isinstance(value, Mapping) else None
    return value


def _usual(values: Payload, names: Sequence[str]) -> str | None:
    """Return the first of the usual names under which a record has a text."""
    return next((name for name in names if isinstance(values.get(name), str)), None)


def _node_text(values: Payload) -> str:
    try:
        text = json.loads(values[NODE])["text"]
    except (KeyError, TypeError, ValueError):
        return ""
    return text if isinstance(text, str) else ""


def _last_steps(*names: str | None) -> set[str]:
    """Return the names of fields, and how they are called where an object of metadata is opened."""
    named = {name for name in names if name}
    objects = tuple(f"{name}." for name in OBJECTS)
    return named | {name.partition(".")[2] for name in named if name.startswith(objects)}
