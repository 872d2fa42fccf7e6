"""mteb's searches: `index(corpus, ...)` once, then `search(queries, *, top_k, ...)`.

Both take tables of rows and the task that they belong to (mteb 2, SearchProtocol). The tables are
those of `datasets` where that is installed, as it is beside mteb.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from argus.data.types import Query

TASK = "task_metadata"
"""The parameter by which such a search is told from others."""
_TASK = SimpleNamespace(
    name="Argus", type="Retrieval", category="t2t", modalities=["text"], prompt=None,
    languages=["eng"], get_modalities=lambda prompt_type=None: ["text"],
)  # fmt: skip
_VALUES: Mapping[str, Any] = {
    TASK: _TASK, "hf_split": "test", "hf_subset": "default", "encode_kwargs": {}, "num_proc": None,
}  # fmt: skip


class Table(list[Mapping[str, Any]]):
    """Rows that give a column by its name, as a table of `datasets` does."""

    def __getitem__(self, key: Any) -> Any:
        """Return a row, some rows, or a column."""
        return [row[key] for row in self] if isinstance(key, str) else super().__getitem__(key)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self[0]) if self else []


def values_for(names: Iterable[str]) -> dict[str, Any]:
    """Return the arguments of `index` or `search` that say what task it is for."""
    return {name: _VALUES[name] for name in names if name in _VALUES}


def query_table(queries: Sequence[Query]) -> Any:
    """Return queries as `search` takes them."""
    return _table([{"id": query.id, "text": query.text} for query in queries])


def corpus_table(corpus: Sequence[Mapping[str, Any]]) -> Any:
    """Return a corpus as `index` takes it."""
    return _table([{"id": d["_id"], "title": d["title"], "text": d["text"]} for d in corpus])


def indexing(index: Callable[..., Any], names: Iterable[str]) -> Callable[[Any], None]:
    """Return what indexes a corpus, the first time that it is called."""
    values, done = values_for(names), False

    def once(corpus: Sequence[Mapping[str, Any]]) -> None:
        nonlocal done
        if not done:
            index(corpus_table(corpus), **values)
        done = True

    return once


def _table(rows: list[Mapping[str, Any]]) -> Any:
    try:
        from datasets import Dataset
    except ImportError:
        return Table(rows)
    return Dataset.from_list(rows)
