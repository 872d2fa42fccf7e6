"""What a column or key holds, read from where it is declared.

A text stands under its field as a string, or in the docstring of the record, schema or function
that declares the table: "low, high: 95% interval." What has neither takes the first sentence of the
record that its type names, else the text that all keys of its name share (`COMMON`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from argus.cli.reference.common import COMMON
from argus.cli.reference.made import first_paragraph
from argus.cli.reference.source import Name, defined, string_of


class Field(NamedTuple):
    """A column or a key: its name, its type as it is written, and what it holds."""

    name: str
    kind: str
    text: str


def fields_of(record: Name) -> Iterator[Field]:
    """Yield the fields of a record, a class or `TypedDict("Name", {...})`, in their order."""
    declared = list(_declared(record.node))
    clauses = clauses_of(record.doc, {name for name, _, _ in declared})
    for name, kind, own in declared:
        text = own or clauses.get(name) or _of_type(kind, record.module) or COMMON.get(name, "")
        shown = re.sub(r"^Required\[(.*)\]$", r"\1", ast.unparse(kind))
        yield Field(name, shown, " ".join(text.split()))


def _declared(node: ast.stmt) -> Iterator[tuple[str, ast.expr, str]]:
    """Yield name, type and the string below of each field."""
    if isinstance(node, ast.ClassDef):
        for one, after in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(one, ast.AnnAssign):
                yield ast.unparse(one.target), one.annotation, string_of(after)
    elif is_record(node):
        types = next(one for one in ast.walk(node) if isinstance(one, ast.Dict))
        for key, kind in zip(types.keys, types.values, strict=True):
            if isinstance(key, ast.Constant):
                yield str(key.value), kind, ""


def columns_of_schema(schema: Mapping[str, str], doc: str) -> Iterator[Field]:
    """Yield the columns of a schema: column to type. doc: the string below it."""
    clauses = clauses_of(doc, schema)
    for name, kind in schema.items():
        yield Field(name, kind, clauses.get(name) or COMMON.get(name, ""))


def columns_of_function(node: ast.FunctionDef | ast.AsyncFunctionDef, doc: str) -> Iterator[Field]:
    """Yield the columns that a function makes: the keys of its largest dictionary."""
    shown = [one for one in ast.walk(node) if isinstance(one, ast.Dict)]
    largest = max(shown, key=lambda one: len(one.keys))
    pairs = zip(largest.keys, largest.values, strict=True)
    types = {str(key.value): _arrow(value) for key, value in pairs if isinstance(key, ast.Constant)}
    return columns_of_schema(types, doc)


def _arrow(value: ast.expr) -> str:
    """Return the type of Arrow that an expression names; empty where it names none."""
    for node in ast.walk(value):
        names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
        if isinstance(node, ast.Call) and names == {"pa"}:
            return str(_made(node)).replace("item: ", "")
    return ""


def _made(node: ast.expr) -> Any:
    """Return the type that nested calls of Arrow make, such as `pa.list_(pa.string())`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return getattr(pa, node.func.attr)(*map(_made, node.args))
    if isinstance(node, ast.List):
        return [_made(one) for one in node.elts]
    if isinstance(node, ast.Tuple):
        return tuple(map(_made, node.elts))
    return ast.literal_eval(node)


def clauses_of(doc: str, names: Collection[str]) -> dict[str, str]:
    """Return what a docstring says of each name that it explains: "name, name: text."."""
    texts: dict[str, str] = {}
    for paragraph in _paragraphs(doc):
        starts = list(_starts(paragraph, names))
        ends = [*(match.start() for match in starts), len(paragraph)][1:]
        for match, end in zip(starts, ends, strict=True):
            text = _sentence(paragraph[match.end() : end])
            texts |= dict.fromkeys(match["names"].split(", "), text)
    return texts


def about_of(doc: str, names: Collection[str]) -> str:
    """Return the first paragraph of a docstring without what it says of these names."""
    paragraph = first_paragraph(doc)
    first = next(_starts(paragraph, names), None)
    return paragraph if first is None else paragraph[: first.start("names")].strip()


def _paragraphs(doc: str) -> Iterator[str]:
    for paragraph in re.split(r"\n\s*\n", doc.strip()):
        yield " ".join(paragraph.split())


def _starts(paragraph: str, names: Collection[str]) -> Iterator[re.Match[str]]:
    """Yield where a clause begins: at names of fields before a colon."""
    one = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    return re.finditer(rf"(?:^|[.;:] )(?P<names>(?:{one})(?:, (?:{one}))*): ", paragraph)


def _sentence(text: str) -> str:
    text = text.strip().rstrip(";").strip()
    text = text[:1].upper() + text[1:] if text[:1].isascii() else text
    return text if text.endswith((".", "?", "!")) else f"{text}."


def _of_type(kind: ast.expr, module: str) -> str:
    """Return the first sentence on the record that a type names; nothing for another type."""
    for node in ast.walk(kind):
        if isinstance(node, ast.Name) and (record := _record(node.id, module)):
            return first_sentence(record.doc)
    return ""


def records_in(record: Name) -> Iterator[Name]:
    """Yield the records that a record extends, and those that its fields hold."""
    node = record.node
    kinds: list[ast.AST] = [kind for _, kind, _ in _declared(node)]
    kinds += node.bases if isinstance(node, ast.ClassDef) else []
    for name in (one for kind in kinds for one in ast.walk(kind)):
        if isinstance(name, ast.Name) and (inner := _record(name.id, record.module)):
            yield inner


def _record(name: str, module: str) -> Name | None:
    """Return the record that a name in a module means; None where it means something else."""
    try:
        one = defined(module, name)
    except LookupError:
        return None
    return one if is_record(one.node) else None


def is_record(node: ast.stmt) -> bool:
    """Return whether a statement declares what becomes JSON as it is; a dataclass never does."""
    if isinstance(node, ast.ClassDef):
        return not any("dataclass" in ast.unparse(one) for one in node.decorator_list)
    return isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("TypedDict(")


def first_sentence(doc: str) -> str:
    """Return the first sentence of a docstring."""
    return re.split(r"(?<=[.!?]) ", first_paragraph(doc))[0]
