"""The pages of what jobs write: every file, the columns of tables, and the keys of summary.json.

All is read from where it is declared: columns from the schema, record or function that a table is
made by, keys from the records in the modules called `summary`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from itertools import groupby
from typing import Any, NamedTuple

from argus.cli.reference.made import cell, page, parts
from argus.cli.reference.source import SOURCE, Definition, Name, defined, named, tree
from argus.cli.reference.tables import FILES, TABLES
from argus.cli.reference.texts import (
    Field,
    about_of,
    columns_of_function,
    columns_of_schema,
    fields_of,
    first_sentence,
    is_record,
    records_in,
)

HEAD = "| {} | type | what it holds |\n|---|---|---|\n"
COLUMN, KEY = HEAD.format("column"), HEAD.format("key")
ABOUT_TABLES = (
    "Columns of the tables that jobs write, as NAME.parquet and mostly as NAME.csv. Where several "
    "jobs write a table of one name, the job stands behind it.\n\n"
)
SUMMARIES = (
    "Keys of `summary.json`, by the record that declares them. `argus.data.records` checks a "
    "summary against them when it is read back.\n\n"
)


class Columns(NamedTuple):
    """What a row of a table is, and its columns."""

    about: str
    fields: list[Field]


def file_pages() -> dict[str, str]:
    """Return the pages of tables, a page of summaries per room, and the list of all files."""
    texts: dict[str, str] = {}
    places: dict[str, str] = {}
    for name, title, part in _numbered("tables", "Tables", map(_table, sorted(TABLES))):
        texts[f"{name}.md"] = page(title, ABOUT_TABLES + "\n".join(part))
        places |= {entry.split("\n")[0].removeprefix("## "): f"{name}.md" for entry in part}
    rooms = [(room, list(group)) for room, group in groupby(summaries(), key=lambda one: one.room)]
    for room, records in [*rooms, ("shared records", list(shared()))]:
        file = f"summary-{room.replace(' ', '-')}"
        for name, title, part in _numbered(file, f"summary.json: {room}", map(_summary, records)):
            texts[f"{name}.md"] = page(title, SUMMARIES + "\n".join(part))
    return {"overview.md": page("What a job writes", _overview(texts, places))} | texts


def _overview(texts: dict[str, str], places: dict[str, str]) -> str:
    """Return every file with what it holds, and the pages of columns and keys.

    places: the page of each table.
    """
    rows = [f"| `{name}` | {text} |\n" for name, text in FILES.items()]
    for name, place in places.items():
        files = ", ".join(
            f"[`{file}.parquet`]({place}#{_anchor(name)}){f' ({job}' if job else ''}"
            for file, _, job in (one.partition(" (") for one in name.split(", "))
        )
        rows.append(f"| {files} | {first_sentence(columns_of(name).about)} |\n")
    pages_ = "".join(
        f"* [{text.partition('# ')[2].partition(chr(10))[0]}]({name})\n"
        for name, text in texts.items()
    )
    about = (
        "Results, in `--out`. Exit codes: [commands](../../commands.md). What a kill leaves: "
        "[reliability](../../reliability.md).\n\n"
    )
    return f"{about}| file | holds |\n|---|---|\n{''.join(rows)}\n## Columns and keys\n\n{pages_}"


def _anchor(heading: str) -> str:
    """Return where a heading is linked to, as mkdocs names it."""
    return re.sub(r"[^\w\- ]", "", heading).lower().replace(" ", "-")


def _numbered(
    name: str, title: str, entries: Iterable[str]
) -> Iterator[tuple[str, str, list[str]]]:
    for i, part in enumerate(parts(entries)):
        more = f" ({i + 1})" if i else ""
        yield f"{name}-{i + 1}" if i else name, f"{title}{more}", part


def _table(name: str) -> str:
    about, fields = columns_of(name)
    return _section(name, about, COLUMN, fields, f"argus.{TABLES[name]}")


def columns_of(table: str) -> Columns:
    """Return what a table in TABLES holds."""
    module, name = TABLES[table].split(":")
    place = _placed(module, name)
    if isinstance(place.node, ast.ClassDef):
        fields = list(_of_class(place))
    elif isinstance(place.node, ast.FunctionDef | ast.AsyncFunctionDef):
        fields = list(columns_of_function(place.node, place.doc))
    else:
        schema: Any = getattr(import_module(f"argus.{module}"), name)
        types = schema if isinstance(schema, dict) else dict(
            zip(schema.names, schema.types, strict=True)
        )  # fmt: skip
        fields = list(columns_of_schema({k: _type(v) for k, v in types.items()}, place.doc))
    about = about_of(place.doc, {field.name for field in fields}).removeprefix("Return ")
    return Columns(about[:1].upper() + about[1:], fields)


def _placed(module: str, name: str) -> Name:
    """Return what a table is declared by; a method by its class and name."""
    owner, _, method = name.partition(".")
    place = defined(module, owner)
    if not method:
        return place
    assert isinstance(place.node, ast.ClassDef)
    for node in place.node.body:
        if isinstance(node, ast.FunctionDef) and node.name == method:
            return Name(method, place.module, node, ast.get_docstring(node) or "")
    raise LookupError(f"{name} is not in argus.{module}")


def _of_class(place: Name) -> Iterator[Field]:
    """Yield the fields of a record, those of the records that it extends first."""
    assert isinstance(place.node, ast.ClassDef)
    for base in place.node.bases:
        if isinstance(base, ast.Name) and base.id != "TypedDict":
            yield from _of_class(defined(place.module, base.id))
    yield from fields_of(place)


def _type(kind: object) -> str:
    kind = kind[0] if isinstance(kind, tuple) else kind
    return str(kind).replace("item: ", "").replace("element: ", "")


def summaries() -> Iterator[Name]:
    """Yield the records in modules called `summary`, a module after the other."""
    modules = (path.relative_to(SOURCE).with_suffix("") for path in SOURCE.rglob("summary.py"))
    for module in sorted(".".join(path.parts) for path in modules):
        body = tree(module).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            if isinstance(node, Definition) and is_record(node):
                record = named(node, after, module)
                if list(fields_of(record)):
                    yield record


def shared() -> Iterator[Name]:
    """Yield the records that summaries are made of and that are declared elsewhere, by name."""
    known = {(record.module, record.name): record for record in summaries()}
    more: dict[tuple[str, str], Name] = {}
    waiting = list(known.values())
    while waiting:
        for record in records_in(waiting.pop()):
            key = record.module, record.name
            if key not in known and key not in more:
                more[key] = record
                waiting.append(record)
    named_ = sorted(more.values(), key=lambda record: (record.name, record.module))
    yield from (record for record in named_ if list(fields_of(record)))


def _summary(record: Name) -> str:
    fields = list(fields_of(record))
    bases = [ast.unparse(base) for base in getattr(record.node, "bases", ())]
    others = ", ".join(f"`{base}`" for base in bases if base not in ("TypedDict", "NamedTuple"))
    about = about_of(record.doc, {field.name for field in fields})
    about += f" Also the keys of {others}." if others else ""
    return _section(record.name, about, KEY, fields, "")


def _section(name: str, about: str, head: str, fields: Iterable[Field], place: str) -> str:
    lines = "".join(
        f"| `{one.name}` | {f'`{cell(one.kind)}`' if one.kind else ''} | {cell(one.text)} |\n"
        for one in fields
    )
    about = f"{about}\n\n" if about else ""
    return f"## {name}\n\n{about}{head}{lines}{f'{chr(10)}In `{place}`.{chr(10)}' if place else ''}"
