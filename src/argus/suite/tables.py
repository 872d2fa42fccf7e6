"""The tables that a suite writes, in the shape that the papers have them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from argus.suite.config import ORIGINAL, Suite, SuiteTask
from argus.suite.layout import DOWN, UP, Entry, Figure, Sheet
from argus.suite.measuring import DEPTHS, SERVED
from argus.suite.summary import Scope, SuiteRow

FAILED = "failed"
MAIN = ("nDCG@5", "nDCG@10")
MARKS = {"better": UP, "worse": DOWN, "": ""}
SIGNIFICANT = (
    f"{UP} better, {DOWN} worse than the original: paired randomisation test below 0.05, and a "
    "95% interval without zero. Harmed: questions, against improved ones."
)


CONTROLLED = (
    "TCA: the answer is right, or, of questions without one, all that controls is served; and no "
    "superseded document stands without a superseder (Definition 7). hit: a controlling document "
    "is among them, which the paper's Tables 5 and 6 call TCA."
)
BY_HOP = f"TCA@{SERVED}, "
"""Before a hop type, in the name of a measure."""


class Rows:
    """The rows of a suite, by retriever, remedy and place."""

    def __init__(self, suite: Suite, rows: Sequence[SuiteRow]) -> None:
        self.suite = suite
        self._rows = {(r["retriever"], r["remedy"], r["scope"], r["name"]): r for r in rows}

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Retriever and remedy, in the order of the suite."""
        return [
            (retriever.name, remedy.name)
            for retriever in self.suite.retrievers
            for remedy in self.suite.remedies_of(retriever)
        ]

    @property
    def averages(self) -> list[tuple[Scope, str]]:
        """What is averaged over: benchmarks where there are several, and all tasks."""
        groups = list(dict.fromkeys(task.group for task in self.suite.tasks))
        several: list[tuple[Scope, str]] = [("group", group) for group in groups]
        return [*(several if len(groups) > 1 else []), ("all", "all tasks")]

    def row(self, pair: tuple[str, str], scope: Scope, name: str) -> SuiteRow:
        """Return one row."""
        return self._rows[(*pair, scope, name)]

    def figure(self, pair: tuple[str, str], scope: Scope, name: str, measure: str) -> Figure:
        """Return a measure, marked where it differs from the original by more than chance."""
        row = self.row(pair, scope, name)
        value = row["measures"].get(measure)
        if value is None:
            return Figure(None, missing=FAILED if row["state"] == FAILED else "")
        against = row["comparison"]
        marked = against is not None and measure == self.suite.config.headline
        return Figure(value, MARKS[against["verdict"]] if against and marked else "")

    def harmed(self, pair: tuple[str, str]) -> str:
        """Return how many questions of all tasks a remedy harms, and how many it improves."""
        rows = (self.row(pair, "task", task.name)["comparison"] for task in self.suite.tasks)
        compared = [row for row in rows if row is not None]
        if not compared:
            return ""
        harmed, improved = (sum(row[n] for row in compared) for n in ("harmed", "improved"))
        return f"{harmed:,} : {improved:,}"


def sheets(suite: Suite, rows: Sequence[SuiteRow]) -> Iterator[Sheet]:
    """Yield the tables of a suite: ARGUS' two, SPIKE's, and CAR's where a task is one of its.

    SPIKE's ablation comes where remedies name components and weights of scenarios.
    """
    known = Rows(suite, rows)
    shown = [task for task in suite.tasks if task.shown]
    yield argus_main(known, shown)
    yield argus_full(known)
    yield spike_main(known)
    yield from (s for s in (spike_ablation(known), hops(known), ranks(known)) if s.rows)


def argus_main(rows: Rows, shown: Sequence[SuiteTask]) -> Sheet:
    """Return ARGUS' Table 2: nDCG@5 and @10 of some tasks, and the full averages."""
    measures = [name for name in MAIN if name in rows.suite.config.measures]
    measures = measures or [rows.suite.config.headline]
    places: list[tuple[Scope, str]] = [("task", task.name) for task in shown]
    return _grid(rows, "argus-2", "Retrieval under remedies", [*places, *rows.averages], measures)


def argus_full(rows: Rows) -> Sheet:
    """Return ARGUS' Table 5: all measures of all tasks, and the full averages."""
    places: list[tuple[Scope, str]] = [("task", task.name) for task in rows.suite.tasks]
    measures = list(rows.suite.config.measures)
    return _grid(
        rows, "argus-5", "Retrieval under remedies, every task", [*places, *rows.averages], measures
    )


def _grid(
    rows: Rows,
    name: str,
    title: str,
    places: Sequence[tuple[Scope, str]],
    measures: Sequence[str],
) -> Sheet:
    columns = [f"{_called(scope, place)} {m}" for scope, place in places for m in measures]
    body: list[list[Entry]] = [
        [*pair, *(rows.figure(pair, *place, m) for place in places for m in measures),
         rows.harmed(pair)]
        for pair in rows.pairs
    ]  # fmt: skip
    return Sheet(
        name, title, ["retriever", "remedy", *columns, "harmed : improved"], body,
        notes=(SIGNIFICANT,),
    )  # fmt: skip


def spike_main(rows: Rows) -> Sheet:
    """Return SPIKE's main table: the headline measure x 100, and the improvement of the average."""
    measure = rows.suite.config.headline
    body: list[list[Entry]] = []
    for pair in rows.pairs:
        tasks = [rows.figure(pair, "task", task.name, measure) for task in rows.suite.tasks]
        average = rows.figure(pair, "all", "all tasks", measure)
        before = rows.figure((pair[0], ORIGINAL), "all", "all tasks", measure)
        body.append([*pair, *map(_percent, (*tasks, average)), _gain(pair, before, average)])
    columns = [task.name for task in rows.suite.tasks]
    return Sheet(
        "spike-1", f"{measure} x 100", ["retriever", "remedy", *columns, "average", "improvement"],
        body, digits=1, notes=(SIGNIFICANT,),
    )  # fmt: skip


def spike_ablation(rows: Rows) -> Sheet:
    """Return SPIKE's ablation: the headline's average x 100, components by λ (Table 7)."""
    cells: dict[tuple[str, str], dict[float, Figure]] = {}
    for pair in rows.pairs:
        remedy = next(r for r in rows.suite.remedies if r.name == pair[1])
        component, weight = remedy.values.get("component"), remedy.values.get("lambda")
        if isinstance(component, str) and isinstance(weight, int | float):
            figure = rows.figure(pair, "all", "all tasks", rows.suite.config.headline)
            cells.setdefault((pair[0], component), {})[float(weight)] = _percent(figure)
    weights = sorted({weight for row in cells.values() for weight in row})
    body: list[list[Entry]] = [
        [*names, *(row.get(weight, Figure(None)) for weight in weights)]
        for names, row in cells.items()
    ]
    return Sheet(
        "spike-7", f"{rows.suite.config.headline} x 100 by component and λ, average of all tasks",
        ["retriever", "component", *(f"λ = {weight:g}" for weight in weights)], body, digits=1,
        notes=(SIGNIFICANT,),
    )  # fmt: skip


def hops(rows: Rows) -> Sheet:
    """Return CAR's Tables 2, 3, 8 and 9: TCA by hop type, right answers, share of the chain."""
    kinds = sorted(
        {
            measure.removeprefix(BY_HOP)
            for pair in rows.pairs
            for task in rows.suite.tasks
            for measure in rows.row(pair, "task", task.name)["measures"]
            if measure.startswith(BY_HOP)
        }
    )
    measures = (f"TCA@{SERVED}", f"Acc@{SERVED}", f"ProvRec@{SERVED}", *(BY_HOP + t for t in kinds))
    body: list[list[Entry]] = [
        [task.name, *pair, *(Figure(row["measures"].get(name)) for name in measures)]
        for task in rows.suite.tasks
        for pair in rows.pairs
        if measures[0] in (row := rows.row(pair, "task", task.name))["measures"]
    ]
    return Sheet(
        "car-2", "What controls is served",
        ["task", "retriever", "remedy", *measures[:3], *kinds], body, notes=(CONTROLLED,),
    )  # fmt: skip


def ranks(rows: Rows) -> Sheet:
    """Return CAR's Tables 5 and 6: shares among the first 5, 10, 20, mean and median rank."""
    tasks = [task.name for task in rows.suite.tasks]
    shares = [f"{share}@{k}" for share in ("Success", "TCA") for k in DEPTHS]
    body: list[list[Entry]] = []
    for name in tasks:
        for pair in rows.pairs:
            row = rows.row(pair, "task", name)
            if row["state"] == FAILED or shares[0] not in row["measures"]:
                continue
            places = (row["mean_rank"], row["median_rank"])
            body.append([
                name, *pair, *(Figure(row["measures"].get(share)) for share in shares),
                *(Figure(place, missing=f"beyond {rows.suite.config.k}") for place in places),
            ])  # fmt: skip
    heads = [share.replace("Success", "hit") for share in shares]
    columns = ["task", "retriever", "remedy", *heads, "mean rank", "median rank"]
    return Sheet(
        "car-5", "Controlling documents among the first", columns, body, notes=(CONTROLLED,)
    )


def _called(scope: Scope, place: str) -> str:
    return place if scope == "task" else f"average, {place}"


def _percent(figure: Figure) -> Figure:
    value = figure.value
    return Figure(None if value is None else 100 * value, figure.mark, figure.missing)


def _gain(pair: tuple[str, str], before: Figure, after: Figure) -> str:
    if pair[1] == ORIGINAL or not before.value or after.value is None:
        return ""
    return f"{100 * (after.value / before.value - 1):+.1f}%"
