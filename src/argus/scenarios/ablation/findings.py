"""Compare searches with and without scenarios over an ablation's grid, per λ and document type.

The evaluating half of `research scenarios ablate`. `Ablation`: measured runs -> differences from
documents alone, with tests, and from a placebo (exchanged profiles). Out: a row per run, the best λ
per type of document, and the section of the report. `argus.scenarios.ablation.grid` makes the runs,
and `argus.scenarios.ablation.job` is the command.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import pyarrow as pa

from argus.data.fields import By
from argus.errors import InputError
from argus.measures import RESAMPLES, Evaluation, Resamples, paired_difference
from argus.measures.measures import coverage_words, cutoff, measure_name, parse_measure
from argus.measures.significance import change_words, ends_words
from argus.measures.slices import Slicing
from argus.reports.figures import BAND_COLOURS, INK, Figure, framed
from argus.reports.section import Section, table
from argus.scenarios.ablation.grid import best_cell, split, usual_cell
from argus.scenarios.config import Cell, GridConfig
from argus.scenarios.files import Baseline
from argus.scenarios.profile import Component
from argus.scenarios.tables import headings, schema
from argus.settings import Ge, Lt, Option, Seed, check_settings

LEAST_DEPTH = 100
DOCUMENTS: Final = "documents alone"  # systems of a row of the summary
SCENARIOS: Final = "scenarios"
PLACEBO: Final = "placebo"
TYPES = "ablation_types"  # The table of all cells by type.
# One row per type of document and cell of the grid.
#
# field: field that types are told by.
# type: value of that field.
# questions: questions with a relevant document of the type.
# alone: headline measure of documents alone.
# component: part of a scenario that is a view.
# lambda: weight λ of documents against scenarios.
# mean: headline measure of the cell. Null without a question.
_TYPES = schema(
    ("field type", str), ("questions", int), ("alone", float), ("component", str),
    ("lambda mean", float),
)  # fmt: skip
_DIFFERENCE = headings(
    "difference: text; relative: text; 95% interval: text; p: text; improved: count; harmed: count"
)
# Orange to blue: told apart with any colour vision, and by their darkness from white.
DIVERGING = [[0, BAND_COLOURS["low"]], [0.5, "#ffffff"], [1, BAND_COLOURS["high"]]]
# Range of the colours either way, so that rounding is not drawn as a difference.
LEAST_RANGE = 0.01


@dataclass(frozen=True, kw_only=True)
class AblateConfig(GridConfig):
    """The grid, and how its cells are compared.

    placebos: exchanges of the profiles that the placebo is the mean of.

    Attributes:
        measures: May be given again; cells are judged by the first. Default: nDCG@10, R@10.
        tune_share: Share of the queries to choose a cell on, told on the rest; 0: not at all.
        placebos: Random exchanges of profiles; 0: no placebo.
    """

    measures: Annotated[tuple[str, ...], Option(("--measure",), repeated=True)] = (
        "nDCG@10",
        "R@10",
    )
    tune_share: Annotated[float, Ge(0), Lt(1)] = 0.5
    placebos: Annotated[int, Ge(0)] = 5
    resamples: Resamples = RESAMPLES
    seed: Seed = 0
    by: By = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_settings(self)
        if not self.measures:
            raise InputError(
                "no measure", expected="at least one", fix="For example nDCG@10.", where="--measure"
            )
        for name in self.measures:
            parse_measure(name)
        names = tuple(dict.fromkeys(map(measure_name, self.measures)))
        components = tuple(c for c in Component if c in self.components)
        object.__setattr__(self, "measures", names)
        object.__setattr__(self, "components", components)

    @property
    def depth(self) -> int:
        """Results kept per question: as many as any measure reads, and 100 at least."""
        return max(LEAST_DEPTH, *(cutoff(name) or 0 for name in self.measures))


@dataclass(frozen=True)
class Ablation:
    """All runs, measured on the same questions.

    placebos: per question the mean over several exchanges of the profiles.
    """

    alone: Evaluation
    cells: Mapping[Cell, Evaluation]
    config: AblateConfig
    baselines: Mapping[Baseline, Evaluation] = field(default_factory=dict)
    placebos: Mapping[Cell, Evaluation] = field(default_factory=dict)

    @property
    def measure(self) -> str:
        """The one that cells are judged by."""
        return self.config.measures[0]

    @property
    def usual(self) -> Cell:
        """M+E at λ = 0.7, chosen before these questions were seen."""
        return usual_cell(self.cells)

    def rows(self) -> list[dict[str, Any]]:
        """Return every run: its measures, and its difference from documents alone."""
        runs: list[tuple[str, Cell | None, Evaluation]] = [
            (DOCUMENTS, None, self.alone),
            *((SCENARIOS, cell, e) for cell, e in self.cells.items()),
            *((str(baseline), None, e) for baseline, e in self.baselines.items()),
            *((PLACEBO, cell, e) for cell, e in self.placebos.items()),
        ]
        return [
            {
                "system": system,
                **({"component": None, "lambda": None} if cell is None else _name(cell)),
                "measures": dict(evaluation.aggregate),
                "comparison": None if i == 0 else self.difference(self.alone, evaluation),
            }
            for i, (system, cell, evaluation) in enumerate(runs)
        ]

    def summary(self, rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """Return the figures of the report. No value in it is NaN. rows: of `rows`."""
        best = best_cell(self.cells, self.measure)
        rng = np.random.default_rng(self.config.seed)
        tuning, rest = split(self.alone.per_query, self.config.tune_share, rng)
        tuned = None  # a cell that is chosen on some questions, and compared on the others
        if tuning and rest:
            cell = best_cell(self.cells, self.measure, tuning)
            tuned = {
                **_name(cell),
                "chosen_on": len(tuning),
                "comparison": self.difference(self.alone, self.cells[cell], rest),
                "usual": self.difference(self.alone, self.cells[self.usual], rest),
            }
        return {
            "queries": len(self.alone.per_query),
            "usual": _name(self.usual),
            "best": _name(best),
            "tuned": tuned,
            "gaps": list(self._gaps(best)),
            "rows": list(rows),
        }

    def difference(
        self, before: Evaluation, after: Evaluation, queries: Collection[str] | None = None
    ) -> dict[str, Any]:
        """Return a paired difference, over all questions or `queries`, with its verdict."""
        ids = before.per_query.keys() if queries is None else queries
        difference = paired_difference(
            *({q: e.per_query[q][self.measure] for q in ids} for e in (before, after)),
            seed=self.config.seed,
            resamples=self.config.resamples,
        )
        mean = difference.mean_before
        relative = difference.mean_difference / mean if mean > 0 else None
        return {**difference.figures(), "relative": relative}

    def _gaps(self, best: Cell) -> Iterator[dict[str, Any]]:
        """Compare usual and best cell with their placebos, and with expanded documents."""
        for cell in dict.fromkeys([self.usual, best]):
            rivals = {str(name): evaluation for name, evaluation in self.baselines.items()}
            if cell in self.placebos:
                rivals = {PLACEBO: self.placebos[cell]} | rivals
            for name, rival in rivals.items():
                comparison = self.difference(rival, self.cells[cell])
                yield {**_name(cell), "against": name, "comparison": comparison}


def runs_table(rows: Sequence[dict[str, Any]], measures: Sequence[str]) -> pa.Table:
    """Return one row per run. A column per measure besides.

    system: documents alone, scenarios, placebo, pseudo-queries or summary.
    component: part of a scenario that is a view. Null without.
    lambda: weight λ of documents against scenarios.
    difference: mean difference from documents alone, by the headline measure.
    """
    flat = []
    for row in rows:
        change = row["comparison"] or {}
        renamed = {"difference": change.get("mean_difference"), "p": change.get("p_value")}
        flat.append({**row, **row["measures"], **change, **renamed})
    columns = schema(
        ("system component", str), (" ".join(["lambda", *measures]), float),
        ("difference low high p", float), ("improved harmed queries", int),
        ("verdict no_interval", str),
    )  # fmt: skip
    return pa.Table.from_pylist(flat, schema=columns)


def _name(cell: Cell) -> dict[str, Any]:
    return {"component": str(cell.component), "lambda": cell.weight}


def compare_types(
    ablation: Ablation,
    slices: Sequence[Slicing],
    documents: Sequence[str],
    gold: Mapping[str, Sequence[str]],
) -> list[dict[str, Any]]:
    """Return the grid's figures of each type.

    slices: of `documents`, the ids of the corpus. gold: the relevant documents of each question,
    which is of every type that one of them is of.
    """
    place = {doc_id: i for i, doc_id in enumerate(documents)}
    usual = ablation.usual
    rows = []
    for slicing in slices:
        questions: dict[str, list[str]] = {name: [] for name in slicing.names}
        for query in sorted(ablation.alone.per_query):
            labels_of = (slicing.labels[place[d]] for d in gold[query] if d in place)
            for label in dict.fromkeys(label for labels in labels_of for label in labels):
                questions[label].append(query)
        for name, ids in questions.items():
            change = None
            if ids:
                change = ablation.difference(ablation.alone, ablation.cells[usual], ids)
            rows.append({
                "field": slicing.figures["field"],
                "type": name,
                "documents": sum(name in labels for labels in slicing.labels),
                "questions": len(ids),
                "alone": _mean(ablation.alone, ids, ablation.measure),
                "usual": change,
                "grid": [
                    {**_name(cell), "mean": _mean(evaluation, ids, ablation.measure)}
                    for cell, evaluation in ablation.cells.items()
                ],
            })  # fmt: skip
    return rows


def _mean(evaluation: Evaluation, ids: Sequence[str], measure: str) -> float | None:
    if not ids:
        return None
    return sum(evaluation.per_query[query][measure] for query in ids) / len(ids)


def types_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Return one row per type and cell. The mean is null where a type has no question."""
    flat = [{**row, **cell} for row in rows for cell in row["grid"]]
    return pa.Table.from_pylist(flat, schema=_TYPES)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the usual cell, the best one and their doubts."""
    documents, whole = summary["documents"], summary["whole"]
    yield (
        f"{documents['with_scenarios']:,} of {documents['indexed']:,} documents "
        f"({documents['share']:.1%}) have scenarios; {whole['queries']:,} questions, "
        f"{summary['headline']}"
    )
    if covered := coverage_words(summary["coverage"]):
        yield f"a gain where {covered}"
    if others := summary["profiles"]["of_other_documents"]:
        yield f"{others:,} profiles are of documents that the corpus does not hold"
    for row in whole["rows"]:
        if row["system"] != SCENARIOS or _is(row, whole["best"]) or _is(row, whole["usual"]):
            change = f" ({_change(row['comparison'])})" if row["comparison"] else ""
            value = row["measures"][summary["headline"]]
            yield f"  {_run_name(row, whole)}: {value:.4f}{change}"
    if tuned := whole["tuned"]:
        difference = tuned["comparison"]
        yield (
            f"  chosen on {tuned['chosen_on']:,} questions: {_cell(tuned)}; on the other "
            f"{difference['queries']:,}: {difference['mean_before']:.4f} -> "
            f"{difference['mean_after']:.4f} ({_change(difference)})"
        )
    for row in summary.get("types", []):
        if (change := row["usual"]) is not None:
            yield (
                f"{row['field']} = {row['type']} ({row['questions']:,} questions): "
                f"{change['mean_before']:.4f} -> {change['mean_after']:.4f} ({_change(change)})"
            )
    if summary["expansions"] is None:
        yield "document expansion: not applicable, no --expansions were given"
        return
    for baseline, n in summary["expansions"]["baselines"].items():
        yield f"{baseline}: {n:,} of {documents['indexed']:,} documents have any"


def _run_name(row: Mapping[str, Any], whole: Mapping[str, Any]) -> str:
    if row["component"] is None:
        return DOCUMENTS if row["system"] == DOCUMENTS else f"documents + {row['system']}"
    name = f"{row['system']} {_cell(row)}"
    if row["system"] == PLACEBO:
        return f"{name}, profiles of other documents"
    return f"{name} (best, chosen on these questions)" if _is(row, whole["best"]) else name


def _cell(cell: Mapping[str, Any]) -> str:
    return f"{cell['component']} at λ = {cell['lambda']:g}"


def _change(change: Mapping[str, Any]) -> str:
    return f"{change_words(change)}; {change['improved']:,} improved, {change['harmed']:,} harmed"


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section of summary.json alone."""
    measure, whole = summary["headline"], summary["whole"]
    usual = whole["usual"]
    plots = {"ablation_whole": _heat_map(whole, measure)}
    columns = {"system": "text"} | dict.fromkeys(summary["measures"], "share") | _DIFFERENCE
    tables = {
        "ablation_whole": table(columns, [
            [_run_name(row, whole), *row["measures"].values(), *_difference(row["comparison"])]
            for row in whole["rows"]
        ]),
    }  # fmt: skip
    if whole["gaps"]:
        gaps = [
            [f"{_cell(gap)}, against {gap['against']}", *_difference(gap["comparison"])]
            for gap in whole["gaps"]
        ]
        tables["ablation_whole_gaps"] = table({"scenarios": "text"} | _DIFFERENCE, gaps)
    if rows := summary.get("types"):
        columns = headings(
            "type: text; documents: count; questions: count; alone: share; usual: share; "
            "difference: text; 95% interval: text; best on these: text"
        )
        cells = []
        for row in rows:
            found: list[Any] = [None, "", "no question", ""]
            if (change := row["usual"]) is not None:
                best = max(row["grid"], key=lambda cell: cell["mean"])
                difference, _, ends, *_ = _difference(change)
                found = [change["mean_after"], difference, ends, _cell(best)]
            name = f"{row['field']} = {row['type']}"
            cells.append([name, row["documents"], row["questions"], row["alone"], *found])
        tables["ablation_types_whole"] = table(columns, cells)
    (change,) = (row["comparison"] for row in _cells_of(whole) if _is(row, usual))
    brief = (
        f"{_cell(usual)}: {measure} {change['mean_before']:.3f} → "
        f"{change['mean_after']:.3f} (95% interval of the difference "
        f"{ends_words(change['low'], change['high'], change['no_interval'])}); "
        f"{summary['documents']['share']:.1%} of the documents have scenarios"
    )
    return Section(plots, tables, brief)


def _difference(change: Mapping[str, Any] | None) -> list[str | int | None]:
    if change is None:
        return ["", "", "", "", None, None]
    relative = change["relative"]
    return [
        f"{change['mean_difference']:+.4f}",
        "–" if relative is None else f"{relative:+.1%}",
        ends_words(change["low"], change["high"], change["no_interval"]),
        f"{change['p_value']:.4f}" + (" (exact)" if change["exact"] else ""),
        change["improved"],
        change["harmed"],
    ]


def _cells_of(corpus: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [row for row in corpus["rows"] if row["system"] == SCENARIOS]


def _is(row: Mapping[str, Any], cell: Mapping[str, Any]) -> bool:
    return (row["component"], row["lambda"]) == (cell["component"], cell["lambda"])


def _heat_map(corpus: Mapping[str, Any], measure: str) -> Figure:
    """Return each cell with its mean, coloured by the difference from documents alone.

    The best cell has a solid frame, the usual one a dotted one.
    """
    cells = _cells_of(corpus)
    (alone,) = (r["measures"][measure] for r in corpus["rows"] if r["system"] == DOCUMENTS)
    components = list(dict.fromkeys(row["component"] for row in cells))
    weights = sorted({row["lambda"] for row in cells})
    by_cell = {(row["component"], row["lambda"]): row for row in cells}
    rows = [[by_cell[c, w] for w in weights] for c in components]
    values = [[row["measures"][measure] - alone for row in line] for line in rows]
    widest = max(LEAST_RANGE, *(abs(v) for line in values for v in line))

    heat = {
        "type": "heatmap",
        "x": [f"{w:g}" for w in weights],
        "y": components,
        "z": [[round(v, 5) for v in line] for line in values],
        "zmin": -widest,
        "zmax": widest,
        "colorscale": DIVERGING,
        "colorbar": {"title": {"text": "difference"}, "thickness": 12, "tickformat": "+.2f"},
        "text": [[f"{row['measures'][measure]:.3f}" for row in line] for line in rows],
        "texttemplate": "%{text}",
        "hovertemplate": "%{y}, λ = %{x}: %{text}<extra></extra>",
        "xgap": 2,
        "ygap": 2,
    }
    frames = []
    for cell, dash, inset in ((corpus["best"], "solid", 0.5), (corpus["usual"], "dot", 0.42)):
        x, y = weights.index(cell["lambda"]), components.index(cell["component"])
        ends = {"x0": x - inset, "x1": x + inset, "y0": y - inset, "y1": y + inset}
        frames.append({"type": "rect", **ends, "line": {"color": INK, "width": 2, "dash": dash}})
    figure = framed([heat], "λ, the weight of the document", "", {"shapes": frames})
    figure["layout"]["xaxis"] |= {"type": "category", "showgrid": False}
    figure["layout"]["yaxis"] |= {"type": "category", "autorange": "reversed", "showgrid": False}
    figure["layout"] |= {"height": 120 + 44 * len(components)}
    return figure
