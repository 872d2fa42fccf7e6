"""Read a suite from a TOML file. Errors name the place in the file and the fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from argus.data.text_files import read_toml
from argus.data.yaml_file import nearest
from argus.encoders.config import EncoderConfig
from argus.suite.config import ORIGINAL, Suite, SuiteConfig, SuiteRemedy, SuiteRetriever, SuiteTask
from argus.suite.remedies import KINDS, configs_of, keys_of_kind, paths_in, require_fit
from argus.suite.toml import Table, keys_of

TABLES = ("retrievers", "remedies", "tasks")
PLACES = ("source", "output", "corpus_index")
RETRIEVER = ("name", "bm25", *PLACES, "remedies", *keys_of(EncoderConfig))
TASK = ("name", "task", "group", "instruction", "shown")


class Named(Protocol):
    """An object with a name."""

    @property
    def name(self) -> str:
        """It."""


N = TypeVar("N", bound=Named)


def read_suite(file: Path | str) -> Suite:
    """Read a suite. Raises InputError for anything wrong in the file, or absent beside it."""
    file = Path(file)
    return suite_of(Table(read_toml(file), file))


def suite_of(table: Table, also: Sequence[str] = (), *, strict: bool = True) -> Suite:
    """Return the suite in the top table of a file. also: further keys that it may have.

    strict: whether files that it names must be there.
    """
    table.check([*keys_of(SuiteConfig), *TABLES, *also])
    remedies = _remedies(table, strict=strict)
    retrievers = _retrievers(table, {remedy.name: remedy for remedy in remedies})
    tasks = _unique(table, "tasks", [_task(row) for row in table.tables("tasks")])
    for what, rows in (("retrievers", retrievers), ("tasks", tasks)):
        if not rows:
            raise table.error(what, f"no [[{what}]]", "at least one", "Add one.")
    return Suite(
        config=table.config(SuiteConfig), retrievers=retrievers, remedies=remedies, tasks=tasks
    )


def _retrievers(table: Table, remedies: Mapping[str, SuiteRemedy]) -> tuple[SuiteRetriever, ...]:
    rows = table.tables("retrievers")
    retrievers = [_retriever(row, remedies) for row in rows]
    for row, retriever in zip(rows, retrievers, strict=True):
        for name in retriever.remedies or remedies:
            require_fit(remedies[name], retriever, row)
    return _unique(table, "retrievers", retrievers)


def _retriever(table: Table, remedies: Mapping[str, SuiteRemedy]) -> SuiteRetriever:
    table.check(RETRIEVER)
    own = table.texts("remedies")
    for name in own:
        if name not in remedies:
            raise table.error(
                "remedies", f"unknown remedy {name!r}", f"one of {', '.join(remedies)}",
                nearest(name, list(remedies)),
            )  # fmt: skip
    ways = [key for key in ("encoder", "bm25", "source", "output") if key in table.values]
    if len(ways) != 1 or table.values.get("bm25") not in (None, True):
        raise table.error(
            ways[-1] if ways else "encoder", f"{' and '.join(ways) or 'neither of them'}",
            "one of encoder = NAME, bm25 = true, source = RETRIEVER, output = FILE", "Keep one.",
        )  # fmt: skip
    name = table.text("name", str(table.values.get("encoder", "") or ways[0]))
    if ways == ["encoder"]:
        return SuiteRetriever(name=name, encoder=table.config(EncoderConfig), remedies=own)
    source, output, index = (table.text(k) if k in table.values else "" for k in PLACES)
    return SuiteRetriever(
        name=name, bm25=ways == ["bm25"], source=source, output=output, corpus_index=index,
        remedies=own,
    )  # fmt: skip


def _remedies(table: Table, *, strict: bool) -> tuple[SuiteRemedy, ...]:
    """Return the remedies, the original first. It is there even if no table names it."""
    rows = [_remedy(row, strict=strict) for row in table.tables("remedies")]
    others = [remedy for remedy in rows if remedy.kind != ORIGINAL]
    original = next((r for r in rows if r.kind == ORIGINAL), SuiteRemedy(name=ORIGINAL))
    _unique(table, "remedies", rows)
    return (original, *others)


def _remedy(table: Table, *, strict: bool) -> SuiteRemedy:
    kind = table.text("kind", table.text("name"))
    if kind not in KINDS:
        raise table.error(
            "kind" if "kind" in table.values else "name", f"unknown remedy {kind!r}",
            f"a kind of {', '.join(KINDS)}", nearest(kind, list(KINDS)),
        )  # fmt: skip
    table.check(keys_of_kind(kind))
    configs_of(table, kind)
    for key, path in paths_in(table.values, kind):
        if strict and "{" not in str(path) and not path.exists():
            raise table.error(key, f"{path} is absent", "a file or folder", "Check the path.")
    values = {key: value for key, value in table.values.items() if key not in ("name", "kind")}
    name = ORIGINAL if kind == ORIGINAL else table.text("name")
    return SuiteRemedy(name=name, kind=kind, values=values)


def _task(table: Table) -> SuiteTask:
    table.check(TASK)
    place = table.text("task")
    shown = table.values.get("shown", True)
    if not isinstance(shown, bool):
        raise table.error("shown", repr(shown), "true or false")
    name = table.text("name", place.rpartition(":")[2].rpartition("/")[2])
    instruction = table.text("instruction") if "instruction" in table.values else ""
    return SuiteTask(
        name=name, place=place, group=table.text("group", "all"), instruction=instruction,
        shown=shown,
    )  # fmt: skip


def _unique(table: Table, what: str, rows: Sequence[N]) -> tuple[N, ...]:
    names = [row.name for row in rows]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise table.error(what, f"{twice!r} stands twice", "each name once", "Rename one.")
    return tuple(rows)
