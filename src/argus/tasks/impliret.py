"""ImpliRet (Taghavi et al., 2025): the document implies the answer to the query.

One table per part and setting, `A_Multi.csv` to `T_Uni.csv` (or JSON lines): arithmetic, world
knowledge, temporal; forum threads of many speakers, chats of one. A row is a document and the one
query that it answers. All documents of a table are the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from argus.data.documents import find_file
from argus.data.rows import Row, id_value, pick_field, read_rows, text_value
from argus.data.types import Document, Qrels, Query
from argus.settings import Choices, Doc, check_settings
from argus.tasks.files import once
from argus.tasks.task import Task, refused

LETTERS = {"arithmetic": "A", "wknow": "W", "temporal": "T"}
SETTINGS = {"multi": "Multi", "uni": "Uni"}
GROUP = "tuple_set_id"


@dataclass(frozen=True, kw_only=True)
class ImpliretConfig:
    """Which of the six tables."""

    part: Annotated[str, Doc("What has to be inferred."), Choices(("", *LETTERS))] = ""
    setting: Annotated[str, Doc("How many speakers."), Choices(("", *SETTINGS))] = ""

    def __post_init__(self) -> None:
        check_settings(self)


def read_impliret(place: Path, config: ImpliretConfig) -> Task:
    """Read one table: a file, or of a folder the one that part and setting name.

    Ids are those of the rows with the table's letters before them: wm-q0000 belongs to wm-d0000.
    Raises InputError naming file, row and field, and for a table in doubt.
    """
    (part, setting), file = _table_of(place, config)
    letters = f"{LETTERS[part]}{SETTINGS[setting]}"
    prefix = f"{part[0]}{setting[0]}"
    documents, queries, qrels = [], [], Qrels()
    for number, row in once(read_rows(file), _number):
        query, document = f"{prefix}-q{number:0>4}", f"{prefix}-d{number:0>4}"
        for field in ("pos_document", "question"):
            pick_field(row, [field], what=field)
        group = {"group": row.values[GROUP]} if GROUP in row.values else {}
        documents.append(Document(document, text_value(row, "pos_document"), metadata=group))
        queries.append(Query(query, text_value(row, "question")))
        qrels[query] = {document: 1}
    return Task(f"impliret/{part}-{setting}", documents, queries, qrels, files={letters: file})


def _number(row: Row) -> str:
    return id_value(row, pick_field(row, ["id"], what="id"), coerce=True)


def _table_of(place: Path, config: ImpliretConfig) -> tuple[tuple[str, str], Path]:
    tables = dict(_tables(place))
    fitting = {
        key: file for key, file in tables.items()
        if config.part in ("", key[0]) and config.setting in ("", key[1])
    }  # fmt: skip
    if len(fitting) == 1:
        return next(iter(fitting.items()))
    names = ", ".join(f"part={part},setting={setting}" for part, setting in fitting or tables)
    got = f"{len(fitting)} tables" if fitting else "no such table"
    expected = f"one of {names or 'A_Multi.csv, W_Multi.csv, ... T_Uni.csv'}"
    raise refused(place, got, expected, "Name part and setting.")


def _tables(place: Path) -> Iterator[tuple[tuple[str, str], Path]]:
    """Yield the tables that are there, by part and setting."""
    for part, letter in LETTERS.items():
        for setting, name in SETTINGS.items():
            stem = f"{letter}_{name}"
            files = [find_file(folder, [stem]) for folder in (place, place / "data")]
            own = [place] if place.is_file() and place.name.startswith(f"{stem}.") else []
            file = next((file for file in (*own, *files) if file is not None), None)
            if file is not None:
                yield (part, setting), file


def is_impliret(place: Path) -> bool:
    """Return whether a folder holds a table, or a file is one."""
    return any(True for _ in _tables(place))
