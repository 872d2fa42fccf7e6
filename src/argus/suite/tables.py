"""Lay out tables as Markdown, LaTeX and Parquet, and make those of a suite as the papers have them.

`suite_sheets` yields ARGUS' Tables 2 and 5, SPIKE's main table and ablation, and CAR's tables of
controlling documents. `thesis_sheets` yields the thesis' tables, of outputs of generative searches.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from argus.data.documents import write_questions
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.texts import cut_name, in_cell, plain_name
from argus.data.writing import write_whole
from argus.errors import ArgusError
from argus.progress import announce
from argus.suite.cells import DEPTHS, SERVED
from argus.suite.config import ORIGINAL, Suite, SuiteRetriever
from argus.tasks.task import Task

TABLES = "tables"
UP, DOWN = "↑", "↓"
MARKS = {"better": UP, "worse": DOWN, "": ""}
FAILED = "failed"
MAIN = ("nDCG@5", "nDCG@10")
BY_HOP = f"TCA@{SERVED}, "  # before a hop type, in the name of a measure
NUMBERED = re.compile(r"t(\d\d)_(.+)")  # names of the thesis' tables among those of an analysis
THESIS_K, PAIR = 10, 2  # passages that count as read, and systems on one page, as in the thesis
SIGNIFICANT = (
    f"{UP} better, {DOWN} worse than the original: paired randomisation test below 0.05, and a "
    "95% interval without zero. Harmed: questions, against improved ones."
)
CONTROLLED = (
    "TCA: the answer is right, or, of questions without one, all that controls is served; and no "
    "superseded document stands without a superseder (Definition 7). hit: a controlling document "
    "is among them, which the paper's Tables 5 and 6 call TCA."
)
SHARES = "Shares and rates from 0 to 1; low and high are the ends of the 95% interval."
_LATEX = {
    UP: r"$^{\uparrow}$", DOWN: r"$^{\downarrow}$", "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: rf"\{sign}" for sign in "&%$#_{}"},
}  # fmt: skip
_SPECIAL = re.compile("|".join(map(re.escape, _LATEX)))


@dataclass(frozen=True)
class Figure:
    """A number of a table. mark: a sign beside it. missing: text in its place."""

    value: float | None
    mark: str = ""
    missing: str = ""


Entry = str | int | Figure
Pair = tuple[str, str]
"""Names of a retriever and a remedy."""
Place = tuple[str, str]
"""Scope and name of a row: ("task", NAME), ("group", NAME) or `ALL`."""
ALL: Place = ("all", "all tasks")


@dataclass(frozen=True)
class Sheet:
    """A table by name. digits: of its figures. notes: lines below it."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Entry]]
    digits: int = 3
    notes: Sequence[str] = ()

    def texts(self) -> list[list[str]]:
        """Return the rows as text."""
        return [[self._text(entry) for entry in row] for row in self.rows]

    def markdown(self) -> str:
        """Return it as Markdown: title, table, notes."""
        rules = ["---:" if self._is_number(i) else "---" for i in range(len(self.columns))]
        rows = [list(map(in_cell, self.columns)), list(map(in_cell, rules))]
        rows += [list(map(in_cell, row)) for row in self.texts()]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join([f"**{self.title}**", "", *lines, "", *self.notes]).rstrip() + "\n"

    def latex(self) -> str:
        """Return it as LaTeX, for the package booktabs."""
        align = "".join("r" if self._is_number(i) else "l" for i in range(len(self.columns)))
        rows = [" & ".join(map(_latex, row)) + r" \\" for row in self.texts()]
        head = [r"\begin{table}", rf"\caption{{{_latex(self.title)}}}"]
        head += [rf"\begin{{tabular}}{{{align}}}", r"\toprule"]
        head += [" & ".join(map(_latex, self.columns)) + r" \\", r"\midrule"]
        tail = [r"\bottomrule", r"\end{tabular}"]
        tail += [rf"\par {_latex(note)}" for note in self.notes]
        return "\n".join([*head, *rows, *tail, r"\end{table}", ""])

    def arrow(self) -> pa.Table:
        """Return its columns: figures as numbers, with their marks and missing texts beside."""
        columns: dict[str, pa.Array] = {}
        for i, name in enumerate(self.columns):
            entries = [row[i] for row in self.rows]
            if not self._is_number(i):
                columns[name] = pa.array([self._text(entry) for entry in entries], pa.string())
                continue
            figures = [
                e if isinstance(e, Figure)
                else Figure(float(e)) if isinstance(e, int) else Figure(None, missing=e)
                for e in entries
            ]  # fmt: skip
            columns[name] = pa.array([figure.value for figure in figures], pa.float64())
            remarks = [figure.mark or figure.missing for figure in figures]
            if any(remarks):
                columns[f"{name}, remark"] = pa.array(remarks, pa.string())
        return pa.table(columns)

    def _is_number(self, column: int) -> bool:
        return any(isinstance(row[column], Figure | int) for row in self.rows)

    def _text(self, entry: Entry) -> str:
        if isinstance(entry, int):
            return f"{entry:,}"
        if isinstance(entry, str):
            return entry
        if entry.value is None:
            return entry.missing
        return f"{entry.value:,.{self.digits}f}{entry.mark}"


def _latex(text: str) -> str:
    return _SPECIAL.sub(lambda sign: _LATEX[sign[0]], " ".join(text.split()))


def write_sheets(folder: ArtifactFolder, written: Sequence[Sheet]) -> None:
    """Write tables as Markdown, LaTeX and Parquet, under `tables`."""
    home = folder.own(TABLES)
    home.mkdir(exist_ok=True)
    inside = ArtifactFolder(home)
    for sheet in written:
        for ending, text in (("md", sheet.markdown()), ("tex", sheet.latex())):
            write_whole(inside.own(f"{sheet.name}.{ending}"), text)
        inside.write_table(sheet.name, sheet.arrow())


class Rows:
    """The rows of a suite, by pair and place."""

    def __init__(self, suite: Suite, rows: Sequence[Mapping[str, Any]]) -> None:
        self.suite, self.headline = suite, suite.config.headline
        self.by_place = {(r["retriever"], r["remedy"], r["scope"], r["name"]): r for r in rows}
        self.pairs = [(r.name, m.name) for r in suite.retrievers for m in suite.remedies_of(r)]
        self.tasks: list[Place] = [("task", task.name) for task in suite.tasks]
        self.averages = list(
            dict.fromkeys((r["scope"], r["name"]) for r in rows if r["scope"] != "task")
        )

    def row(self, pair: Pair, place: Place) -> Mapping[str, Any]:
        """Return one row."""
        return self.by_place[(*pair, *place)]

    def figure(self, pair: Pair, place: Place, measure: str, factor: float = 1) -> Figure:
        """Return a measure, marked if it differs from the original by more than chance."""
        row = self.row(pair, place)
        value = row["measures"].get(measure)
        if value is None:
            return Figure(None, missing=FAILED if row["state"] == FAILED else "")
        against = row["comparison"] if measure == self.headline else None
        return Figure(value * factor, MARKS[against["verdict"]] if against else "")


def suite_sheets(suite: Suite, rows: Sequence[Mapping[str, Any]]) -> Iterator[Sheet]:
    """Yield the tables of a suite: ARGUS' two, SPIKE's, and CAR's if a task is one of its.

    SPIKE's ablation comes if remedies name components and weights of scenarios.
    """
    known, config = Rows(suite, rows), suite.config
    shown: list[Place] = [("task", task.name) for task in suite.tasks if task.shown]
    main = [name for name in MAIN if name in config.measures] or [config.headline]
    yield _grid(known, "argus-2", "Retrieval under remedies", shown, main)
    title = "Retrieval under remedies, every task"
    yield _grid(known, "argus-5", title, known.tasks, config.measures)
    yield _spike_main(known)
    yield from (s for s in (_spike_ablation(known), _hops(known), _ranks(known)) if s.rows)


def _grid(
    rows: Rows, name: str, title: str, tasks: Sequence[Place], measures: Sequence[str]
) -> Sheet:
    """Return measures of some tasks and the full averages: ARGUS' Tables 2 and 5."""
    places = [*tasks, *rows.averages]
    body: list[list[Entry]] = []
    for pair in rows.pairs:
        of_tasks = (rows.row(pair, place)["comparison"] for place in rows.tasks)
        compared = [difference for difference in of_tasks if difference is not None]
        harmed, improved = (sum(d[key] for d in compared) for key in ("harmed", "improved"))
        last = f"{harmed:,} : {improved:,}" if compared else ""
        body.append([*pair, *(rows.figure(pair, p, m) for p in places for m in measures), last])
    heads = [name if scope == "task" else f"average, {name}" for scope, name in places]
    columns = ["retriever", "remedy", *(f"{head} {m}" for head in heads for m in measures)]
    return Sheet(name, title, [*columns, "harmed : improved"], body, notes=(SIGNIFICANT,))


def _spike_main(rows: Rows) -> Sheet:
    """Return SPIKE's main table: the headline measure x 100, and the improvement of the average."""
    body: list[list[Entry]] = []
    for pair in rows.pairs:
        before = rows.figure((pair[0], ORIGINAL), ALL, rows.headline).value
        after = rows.figure(pair, ALL, rows.headline).value
        gain = ""
        if pair[1] != ORIGINAL and before and after is not None:
            gain = f"{100 * (after / before - 1):+.1f}%"
        figures = (rows.figure(pair, place, rows.headline, 100) for place in (*rows.tasks, ALL))
        body.append([*pair, *figures, gain])
    columns = ["retriever", "remedy", *(name for _, name in rows.tasks), "average", "improvement"]
    title = f"{rows.headline} x 100"
    return Sheet("spike-1", title, columns, body, digits=1, notes=(SIGNIFICANT,))


def _spike_ablation(rows: Rows) -> Sheet:
    """Return SPIKE's ablation: the headline's average x 100, components by λ (Table 7)."""
    cells: dict[tuple[str, str], dict[float, Figure]] = {}
    for pair in rows.pairs:
        remedy = next(r for r in rows.suite.remedies if r.name == pair[1])
        component, weight = remedy.values.get("component"), remedy.values.get("lambda")
        if isinstance(component, str) and isinstance(weight, int | float):
            figure = rows.figure(pair, ALL, rows.headline, 100)
            cells.setdefault((pair[0], component), {})[float(weight)] = figure
    weights = sorted({weight for row in cells.values() for weight in row})
    body: list[list[Entry]] = [
        [*names, *(row.get(weight, Figure(None)) for weight in weights)]
        for names, row in cells.items()
    ]
    title = f"{rows.headline} x 100 by component and λ, average of all tasks"
    columns = ["retriever", "component", *(f"λ = {weight:g}" for weight in weights)]
    return Sheet("spike-7", title, columns, body, digits=1, notes=(SIGNIFICANT,))


def _hops(rows: Rows) -> Sheet:
    """Return CAR's Tables 2, 3, 8 and 9: TCA by hop type, right answers, share of the chain."""
    found = [(place, pair, rows.row(pair, place)) for place in rows.tasks for pair in rows.pairs]
    names = {measure for _, _, row in found for measure in row["measures"]}
    kinds = sorted(name.removeprefix(BY_HOP) for name in names if name.startswith(BY_HOP))
    whole = [f"TCA@{SERVED}", f"Acc@{SERVED}", f"ProvRec@{SERVED}"]
    measures = [*whole, *(BY_HOP + kind for kind in kinds)]
    body: list[list[Entry]] = [
        [place[1], *pair, *(Figure(row["measures"].get(name)) for name in measures)]
        for place, pair, row in found
        if whole[0] in row["measures"]
    ]
    columns = ["task", "retriever", "remedy", *whole, *kinds]
    return Sheet("car-2", "What controls is served", columns, body, notes=(CONTROLLED,))


def _ranks(rows: Rows) -> Sheet:
    """Return CAR's Tables 5 and 6: shares among the first 5, 10, 20, mean and median rank."""
    shares = [f"{share}@{k}" for share in ("Success", "TCA") for k in DEPTHS]
    beyond = f"beyond {rows.suite.config.k}"
    body: list[list[Entry]] = []
    for place in rows.tasks:
        for pair in rows.pairs:
            row = rows.row(pair, place)
            if row["state"] == FAILED or shares[0] not in row["measures"]:
                continue
            figures = (Figure(row["measures"].get(share)) for share in shares)
            ranks = (Figure(r, missing=beyond) for r in (row["mean_rank"], row["median_rank"]))
            body.append([place[1], *pair, *figures, *ranks])
    heads = [share.replace("Success", "hit") for share in shares]
    columns = ["task", "retriever", "remedy", *heads, "mean rank", "median rank"]
    title = "Controlling documents among the first"
    return Sheet("car-5", title, columns, body, notes=(CONTROLLED,))


def thesis_sheets(
    outputs: Mapping[str, Sequence[SuiteRetriever]], tasks: Mapping[str, Task], home: Path
) -> Iterator[Sheet]:
    """Yield the thesis' tables that apply. Each task's analysis goes into a folder of `home`.

    outputs: retrievers by the name of the task that they answered, two of which go on one page.
    """
    from argus.generative.failures.analyse import analyse_failures
    from argus.generative.failures.tables import csv_tables, declared
    from argus.generative.settings import FailureConfig

    tables: dict[str, tuple[list[str], list[list[Entry]]]] = {}
    starts = [(name, i) for name in tasks for i in range(0, len(outputs[name]), PAIR)]
    for name, first in starts:
        task, pair = tasks[name], outputs[name][first : first + PAIR]
        names = [retriever.name for retriever in pair]
        text = "-".join((name, *names))
        if (as_file := cut_name(plain_name(text))) != text:
            as_file += f"-{content_hash(name, *names, size=4).hex()}"
        folder = home / as_file
        index = next((Path(r.named(r.corpus_index, name)) for r in pair if r.corpus_index), None)
        queries, qrels = write_questions(folder / "asked", task.queries, task.qrels)
        files = [r.named(r.output, name) for r in pair]
        config = FailureConfig(k=THESIS_K, index=index)
        try:
            systems = analyse_failures(
                files, out=folder, config=config, queries=queries, qrels=qrels
            ).summary["systems"]
        except ArgusError as error:
            announce(f"suite: no analysis of {' and '.join(names)} on {name}: {error}")
            continue
        for retriever, system in zip(names, systems, strict=True):
            for table, columns, rows in csv_tables(system["figures"]):
                if NUMBERED.fullmatch(table):
                    _, merged = tables.setdefault(table, (list(columns), []))
                    merged += ([name, retriever, *map(_entry, row)] for row in rows)
    titles: dict[str, str] = {s.name: s.heading.format(k=THESIS_K) for s in declared()["table"]}
    for table, (columns, merged) in sorted(tables.items()):
        number, rest = NUMBERED.fullmatch(table).groups()  # type: ignore[union-attr]
        sheet, title = f"thesis-{int(number)}-{rest.replace('_', '-')}", titles.get(table, rest)
        yield Sheet(sheet, title, ["task", "retriever", *columns], merged, notes=(SHARES,))


def _entry(value: object) -> Entry:
    if isinstance(value, int | str):
        return value
    return Figure(value if isinstance(value, float) else None)
