"""Read a recipe: a published table with its numbers, and the job that measures each cell here.

Recipes are TOML files in this package. A cell has the keys of its column and of its row, the row's
first. `reason` says why Argus cannot measure a cell at all. A column with `mean_of` has the means
of other columns, which it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

from argus.authority.config import Served
from argus.data.text_files import read_toml
from argus.data.yaml_file import nearest
from argus.encoders.config import DEFAULT_MODEL
from argus.errors import InputError
from argus.retrievability.audit.config import POOLING, Pooling
from argus.settings import Doc, Ge, Le, Option, check_settings
from argus.suite.config import ORIGINAL, Suite
from argus.suite.reading import suite_of
from argus.suite.toml import Table, Value, keys_of

HOME = Path(str(files("argus.suite"))) / "published"
ABOUT = ("title", "source", "note", "scale", "digits", "columns", "rows")
OWN = ("name", "published", "reason", "mean_of")

Place = Annotated[str, Doc("A name, or a folder.")]
SystemName = Annotated[str, Doc("Of argus authority score.")]
OtherFile = Annotated[str, Doc("Another file of questions.")]
Embedder = Annotated[str, Doc("Who embeds.")]
TaskName = Annotated[str, Doc("A task as argus.open_task takes it.")]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A figure that a job measures. Each kind of it is one job's."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class EncoderRequest(Measured):
    """A figure of an encoder, with its prompts."""

    encoder: Embedder = DEFAULT_MODEL
    query_prompt: Annotated[str, Doc("Before questions; {instruction} is the task's.")] = ""
    document_prompt: Annotated[str, Doc("Before documents.")] = ""
    instruction: Annotated[str, Doc("Of a task that has none of its own.")] = ""


@dataclass(frozen=True, kw_only=True)
class GridRequest(Measured):
    """A measure of a suite's cell, or of an average of cells (`task` is then empty)."""

    retriever: Annotated[str, Doc("By its name in the recipe's suite.")]
    measure: Annotated[str, Doc("Of the suite; or mean rank, median rank.")] = "nDCG@10"
    remedy: Annotated[str, Doc("By its name in the recipe's suite.")] = ORIGINAL
    task: Annotated[str, Doc("By its name in the recipe's suite.")] = ""
    average: Annotated[str, Doc("The group of tasks that is averaged.")] = ""


@dataclass(frozen=True, kw_only=True)
class BenchmarkRequest(Measured):
    """A figure of a benchmark of CAR."""

    benchmark: Place
    released: Annotated[
        str, Doc("car:FILE of the released one, measured instead where that file is here.")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class AuthorityRequest(BenchmarkRequest):
    """A share that `argus authority score` prints of a system on a benchmark.

    contaminated, hint, queries: of `benchmark`. A released file is measured as it is.
    """

    system: SystemName
    share: Annotated[str, Doc("As the summary calls it: tca, controlling_hit, ...")] = "tca"
    percent: Annotated[bool, Doc("In percent.")] = False
    k: Served = 5
    hop: Annotated[str, Doc("Questions of this type alone.")] = ""
    contaminated: Annotated[bool, Doc("The variant with distractors in scope.")] = False
    hint: Annotated[bool, Doc("Questions that name product or party.")] = False
    queries: OtherFile = ""
    encoder: Embedder = DEFAULT_MODEL


@dataclass(frozen=True, kw_only=True)
class GapRequest(BenchmarkRequest):
    """A figure of `argus authority gap`: of one side, or the share of questions that have a gap."""

    gap: Annotated[Literal["Jaccard", "Jaccard (no stop words)", "BM25"], Doc("The measure.")]
    side: Annotated[Literal["superseded", "controlling"], Doc("Of the documents.")] = "superseded"
    positive: Annotated[bool, Doc("The share of positive gaps, in percent.")] = False
    queries: OtherFile = ""


@dataclass(frozen=True, kw_only=True)
class HarmRequest(BenchmarkRequest):
    """A share of `argus authority harm`, in percent: answers from a system's results."""

    system: SystemName
    verdict: Annotated[Literal["correct", "wrong", "uncertain"], Doc("The class that is counted.")]
    k: Served = 5
    ask: Annotated[str, Doc("What is asked; {question} is the benchmark's.")] = "{question}"
    encoder: Embedder = DEFAULT_MODEL


@dataclass(frozen=True, kw_only=True)
class AblationRequest(EncoderRequest):
    """nDCG@10 of a component at a λ, as `argus scenarios ablate` measures it."""

    collection: Annotated[str, Doc("A task; scenarios are in its folder, unless elsewhere.")]
    scenarios: Annotated[str, Doc("Folder of profiles.jsonl and expansions.jsonl.")] = ""
    component: Annotated[str, Doc("Of the grid; none: documents alone; pseudo-queries; summary.")]
    weight: Annotated[float, Ge(0), Le(1), Doc("λ."), Option(("--lambda",))] = 1.0


@dataclass(frozen=True, kw_only=True)
class FailureRequest(Measured):
    """A value of a table that `argus generative analyse` makes of a system's output."""

    output: Annotated[Literal["seal", "minder"], Doc("The system.")]
    table: Annotated[str, Doc("SECTION.TABLE of its figures.")]
    line: Annotated[str, Doc("What stands in the table's first column.")]
    value: Annotated[str, Doc("The column.")]


@dataclass(frozen=True, kw_only=True)
class KnowledgeRequest(Measured):
    """A figure of an audit of the entities of a knowledge base."""

    knowledge: Annotated[str, Doc("Folder of entities and relations, as argus audit takes it.")]
    encoder: Embedder = DEFAULT_MODEL
    pooling: Annotated[Pooling, Doc("span or sentence.")] = POOLING


@dataclass(frozen=True, kw_only=True)
class ReachRequest(KnowledgeRequest):
    """A value of ARGUS' figures, of an audit at one k and N."""

    reach: Annotated[
        Literal["mean RPS", "above half", "low", "mid", "high", "held out", "commonest"],
        Doc("Mean, share above 0.5, share in a band, accuracy of LDA, share of the largest band."),
    ]
    k: Annotated[int, Ge(1), Doc("Results read.")] = 50
    pool: Annotated[int, Ge(1), Doc("Candidates N.")] = 800


@dataclass(frozen=True, kw_only=True)
class ProbeRequest(KnowledgeRequest):
    """A measure of a probe on held-out entities, as `argus probe fit` prints it."""

    family: Annotated[str, Doc("ridge, xgboost, mlp, all zero, all one, mean, or best.")]
    measure: Annotated[str, Doc("rmse, mae, pearson, ... of the probe's table.")]


@dataclass(frozen=True, kw_only=True)
class GoldRequest(EncoderRequest):
    """ARGUS' Table 4: highest RPS of relevant documents that are retrieved less that of others."""

    judged: TaskName
    mentions: Annotated[str, Doc("What finds entities, as argus diagnose takes it.")]
    kb: Annotated[str, Doc("Passages with the names of the gazetteer.")] = ""
    probe: Annotated[str, Doc("Folder of argus probe fit; none: the one that ships.")] = ""
    k: Annotated[Literal[10, 20, 50], Doc("Results that count as retrieved.")] = 10


KINDS: tuple[tuple[type[Measured], tuple[str, ...]], ...] = (
    (HarmRequest, ("benchmark", "system", "verdict")),
    (GapRequest, ("benchmark", "gap")),
    (ReachRequest, ("knowledge", "reach")),
    (ProbeRequest, ("knowledge", "family", "measure")),
    (GoldRequest, ("judged", "mentions")),
    (AuthorityRequest, ("benchmark", "system")),
    (AblationRequest, ("collection", "component")),
    (FailureRequest, ("output", "table", "line", "value")),
    (GridRequest, ("retriever", "task")),
    (GridRequest, ("retriever", "average")),
)
"""Kind of a cell's request, by the keys that the cell has. The first that fits is used."""
KEYS = tuple(dict.fromkeys(key for kind, _ in KINDS for key in keys_of(kind)))


@dataclass(frozen=True)
class Entry:
    """A cell of a published table.

    published: as printed, None if nothing is. parts: figures to measure, of which the cell is the
    mean, nearly always one. reason: why there are none.
    """

    row: str
    column: str
    published: float | None
    parts: tuple[Measured, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Recipe:
    """A published table. scale: factor from our figures to theirs."""

    name: str
    title: str
    source: str
    note: str
    scale: float
    digits: int
    columns: Sequence[str]
    rows: Sequence[str]
    cells: Sequence[Entry]
    table: Table

    @cached_property
    def suite(self) -> Suite | None:
        """The grid in the file, if there is one."""
        if "retrievers" not in self.table.values:
            return None
        return suite_of(self.table, ABOUT, strict=False)


def names() -> list[str]:
    """Return the names of all recipes: by paper, then by table."""
    stems = [file.stem for file in HOME.glob("*.toml")]
    return sorted(stems, key=lambda n: (n.rpartition("-")[0], int(n.rpartition("-")[2])))


def read_recipe(name: str, places: Mapping[str, Path]) -> Recipe:
    """Read a recipe by name.

    places: paths to put in place of {data}, the folder of data sets, and {stdlib}, the standard
    library's documents. Raises InputError for an unknown name.
    """
    if name not in names():
        raise InputError(
            f"no recipe {name!r}", expected=f"one of {', '.join(names())}",
            fix=nearest(name, names()), where="argus reproduce",
        )  # fmt: skip
    file = HOME / f"{name}.toml"
    table = Table(_fill(read_toml(file), places), file)  # type: ignore[arg-type]
    columns, rows = table.tables("columns"), table.tables("rows")
    for part in (*columns, *rows):
        part.check([*OWN, *KEYS])
    cells = [_read_cell(row, column, i) for row in rows for i, column in enumerate(columns)]
    means = {column.text("name"): column.texts("mean_of") for column in columns}
    scale, digits = table.values.get("scale", 1.0), table.values.get("digits", 3)
    assert isinstance(scale, int | float) and isinstance(digits, int)
    return Recipe(
        name, table.text("title"), table.text("source"), str(table.values.get("note", "")),
        float(scale), digits,
        [column.text("name") for column in columns], [row.text("name") for row in rows],
        [_average(cell, means[cell.column], cells) for cell in cells], table,
    )  # fmt: skip


def _read_cell(row: Table, column: Table, number: int) -> Entry:
    published = row.values.get("published", [])
    assert isinstance(published, list)
    value = published[number] if number < len(published) else None
    printed = float(value) if isinstance(value, int | float) else None
    values = {**column.values, **row.values}
    cell = Entry(row.text("name"), column.text("name"), printed)
    if (reason := str(values.get("reason", ""))) or "mean_of" in column.values:
        return replace(cell, reason=reason)
    own = {key: v for key, v in values.items() if key not in OWN}
    kind = next((kind for kind, keys in KINDS if own.keys() >= set(keys)), None)
    if kind is None:
        return replace(cell, reason="nothing in Argus measures it")
    return replace(cell, parts=(Table(own, row.file, row.place).config(kind),))


def _average(cell: Entry, columns: Sequence[str], cells: Sequence[Entry]) -> Entry:
    """Return a cell of a column of means with its parts. Other cells stay."""
    if not columns or cell.reason:
        return cell
    of = [part for part in cells if part.row == cell.row and part.column in columns]
    missing = next((part.reason for part in of if not part.parts), None)
    if missing is not None:
        return replace(cell, reason=missing)
    return replace(cell, parts=tuple(request for part in of for request in part.parts))


def _fill(value: Value, places: Mapping[str, Path]) -> Value:
    """Put the places' paths into all texts of a file."""
    if isinstance(value, dict):
        return {key: _fill(inner, places) for key, inner in value.items()}
    if isinstance(value, list):
        return [_fill(inner, places) for inner in value]
    if isinstance(value, str):
        for name, path in places.items():
            value = value.replace("{" + name + "}", str(path))
    return value
