"""The thesis' tables, of the outputs that are retrievers of a suite: system beside system."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from argus.data.documents import write_questions
from argus.data.provenance import content_hash
from argus.data.texts import cut_name, plain_name
from argus.errors import ArgusError
from argus.progress import announce
from argus.suite.config import SuiteRetriever
from argus.suite.layout import Entry, Figure, Sheet
from argus.tasks.task import Task

if TYPE_CHECKING:
    from argus.generative.failures.summary import SystemSummary

NUMBERED = re.compile(r"t(\d\d)_(.+)")
"""Names of the thesis' tables among those of an analysis."""
SHARES = "Shares and rates from 0 to 1; low and high are the ends of the 95% interval."
ASKED = "asked"
"""Folder of a task's questions and judgements, beside their analysis."""
K = 10
"""Passages that count as read, as in the thesis."""
PAIR = 2
"""Systems that one page compares."""


@dataclass
class _Rows:
    """A table of all tasks and systems."""

    columns: list[str]
    rows: list[list[Entry]] = field(default_factory=list)


def two_systems(
    outputs: Mapping[str, Sequence[SuiteRetriever]], tasks: Mapping[str, Task], home: Path
) -> Iterator[Sheet]:
    """Yield the thesis' tables, those that apply; each task's analysis is in a folder of `home`.

    outputs: retrievers by the name of the task that they answered.
    """
    from argus.generative.failures.report.specs import SHOWN
    from argus.generative.failures.tables import csv_tables

    tables: dict[str, _Rows] = {}
    for name, task in tasks.items():
        for retriever, system in _systems(name, outputs[name], task, home):
            for table, columns, rows in csv_tables(system["figures"]):
                if NUMBERED.fullmatch(table):
                    merged = tables.setdefault(table, _Rows(list(columns)))
                    merged.rows += ([name, retriever, *map(_entry, row)] for row in rows)
    titles = {shown.name: shown.heading.format(k=K) for shown in SHOWN}
    for table, whole in sorted(tables.items()):
        number, rest = NUMBERED.fullmatch(table).groups()  # type: ignore[union-attr]
        yield Sheet(
            f"thesis-{int(number)}-{rest.replace('_', '-')}", titles.get(table, rest),
            ["task", "retriever", *whole.columns], whole.rows, notes=(SHARES,),
        )  # fmt: skip


def _systems(
    name: str, retrievers: Sequence[SuiteRetriever], task: Task, home: Path
) -> Iterator[tuple[str, SystemSummary]]:
    """Analyse the outputs of a task, two to a page; yield what each comes to."""
    from argus.generative.failures.jobs.analyse import analyse_failures
    from argus.generative.failures.jobs.settings import FailureConfig

    for first in range(0, len(retrievers), PAIR):
        pair = retrievers[first : first + PAIR]
        folder = home / _folder(name, *_names(pair))
        index = next((Path(r.named(r.corpus_index, name)) for r in pair if r.corpus_index), None)
        queries, qrels = write_questions(folder / ASKED, task.queries, task.qrels)
        files = [r.named(r.output, name) for r in pair]
        config = FailureConfig(k=K, index=index)
        try:
            summary = analyse_failures(
                files, out=folder, config=config, queries=queries, qrels=qrels
            ).summary
        except ArgusError as error:
            announce(f"suite: no analysis of {' and '.join(_names(pair))} on {name}: {error}")
            continue
        yield from zip(_names(pair), summary["systems"], strict=True)


def _folder(*names: str) -> str:
    """Return the name of a folder; with a hash where it does not tell these from others."""
    text = "-".join(names)
    as_file = cut_name(plain_name(text))
    return as_file if as_file == text else f"{as_file}-{content_hash(*names, size=4).hex()}"


def _names(retrievers: Sequence[SuiteRetriever]) -> list[str]:
    return [retriever.name for retriever in retrievers]


def _entry(value: object) -> Entry:
    if isinstance(value, int | str):
        return value
    return Figure(value if isinstance(value, float) else None)
