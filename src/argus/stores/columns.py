"""Which column of a table holds what."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from argus.data.corpus import ID_FIELDS
from argus.errors import InputError


def quoted(name: str) -> str:
    """Return a name of a table or column, of any characters, as SQL has it."""
    return '"' + name.replace('"', '""') + '"'


def vector_field(fields: Sequence[str], field: str | None, name: str) -> str:
    """Return the vector field that is searched: the one that is named, or the only one."""
    if field is not None and field in fields:
        return field
    if field is None and len(fields) == 1:
        return fields[0]
    if not fields:
        raise InputError(
            "has no vectors", expected="a table with a column of vectors",
            fix="Name another table.", where=name,
        )  # fmt: skip
    raise InputError(
        f"no vector field {field!r}" if field else f"{len(fields)} vector fields",
        expected=f"one of {', '.join(fields)}",
        fix="Name it with --vector-field.",
        where=name,
    )


def check_keys(keys: Iterable[str], columns: Collection[str], name: str) -> None:
    """Raise InputError for a filter by what is no column."""
    for key in keys:
        if key not in columns:
            raise InputError(
                f"a filter by {key!r}",
                expected=f"one of {', '.join(columns)}",
                fix="Correct --where.",
                where=name,
            )


def column_of(key: str, columns: Collection[str], name: str) -> tuple[str, list[str]]:
    """Return the column that a filter's key names, and the path into it of a dotted one.

    Raises InputError for what is no column, nor a path into one.
    """
    column, *path = [key] if key in columns else key.split(".")
    if path and column in columns and all(path):
        return column, path
    check_keys([key], columns, name)
    return key, []


def id_column(columns: Sequence[str], id_field: str | None, name: str) -> str:
    """Return the column of ids: the one that is named, or the first of the usual names."""
    names = (id_field,) if id_field else ID_FIELDS
    column = next((c for c in names if c in columns), None)
    if column is None:
        raise InputError(
            f"no column {id_field!r}" if id_field else "no column that is called like an id",
            expected=f"one of {', '.join(columns)}",
            fix="Name it with --store-id.",
            where=name,
        )
    return column


def native_id(id_: str, *, is_text: bool, name: str) -> int | str:
    """Return an id as a store has it whose ids are texts, or whole numbers.

    Raises InputError for a text where they are whole numbers.
    """
    if is_text:
        return id_
    try:
        return int(id_)
    except ValueError as error:
        raise InputError(
            f"id {id_!r}", expected="a whole number, as its key is declared",
            fix="Keep your own id in a field beside it.", where=name,
        ) from error  # fmt: skip
