"""What a command reads is looked at before the libraries that read it are loaded.

The job behind the command refuses the same, in the same words, but seconds of imports later.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any

from argus.data.fields import FieldNames


@dataclass(frozen=True, slots=True)
class Input:
    """In an option's type: what it names is read.

    check: takes a value and the columns that are named with it, if any; raises InputError.
    """

    check: Callable[[Any, FieldNames | None], None]


def _check_corpus(path: Path, columns: FieldNames | None) -> None:
    from argus.data.corpus import open_corpus

    corpus = open_corpus(path)
    if columns is not None:
        corpus.check_columns(columns)


def _check_index(spec: str | Path, _columns: FieldNames | None) -> None:
    from argus.indexes.header import read_header
    from argus.indexes.spec import parse_index_spec

    read_header(parse_index_spec(spec).path)


CORPUS, INDEX = Input(_check_corpus), Input(_check_index)


def check_inputs(inputs: Mapping[str, Input], values: Mapping[str, Any]) -> None:
    """Raise InputError for what cannot be read. values: of the command's parameters.

    Columns are those of the corpus, unless entities come from elsewhere: then it may not be read.
    """
    flat = dict(values)
    for config in values.values():
        if is_dataclass(config):
            flat |= {f.name: getattr(config, f.name) for f in fields(config)}
    named = (value for value in flat.values() if isinstance(value, FieldNames))
    columns = next(named, None) if flat.get("entities") is None else None
    for name, note in inputs.items():
        value = flat.get(name)
        for one in value if isinstance(value, list) else [value]:
            if one is not None:
                note.check(one, columns)
