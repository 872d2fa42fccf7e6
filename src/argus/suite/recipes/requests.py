"""Which figure a cell of a published table asks for, by the job that measures it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from argus.authority.benchmarks.config import Served
from argus.encoders.config import DEFAULT_MODEL
from argus.retrievability.audit.config import POOLING, Pooling
from argus.settings import Doc, Ge, Le, Option, check_settings
from argus.suite.config import ORIGINAL
from argus.suite.toml import keys_of

Place = Annotated[str, Doc("A name, or a folder.")]
SystemName = Annotated[str, Doc("Of argus authority score.")]
OtherFile = Annotated[str, Doc("Another file of questions.")]
Embedder = Annotated[str, Doc("Who embeds.")]
TaskName = Annotated[str, Doc("A task as argus.open_task takes it.")]


class Checked:
    """A request checks its settings."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class EncoderRequest(Checked):
    """Says who embeds, and what stands before texts."""

    encoder: Embedder = DEFAULT_MODEL
    query_prompt: Annotated[str, Doc("Before questions; {instruction} is the task's.")] = ""
    document_prompt: Annotated[str, Doc("Before documents.")] = ""
    instruction: Annotated[str, Doc("Of a task that has none of its own.")] = ""


@dataclass(frozen=True, kw_only=True)
class GridRequest(Checked):
    """A measure of a suite's cell, or of an average of cells (`task` is then empty)."""

    retriever: Annotated[str, Doc("By its name in the recipe's suite.")]
    measure: Annotated[str, Doc("Of the suite; or mean rank, median rank.")] = "nDCG@10"
    remedy: Annotated[str, Doc("By its name in the recipe's suite.")] = ORIGINAL
    task: Annotated[str, Doc("By its name in the recipe's suite.")] = ""
    average: Annotated[str, Doc("The group of tasks that is averaged.")] = ""


@dataclass(frozen=True, kw_only=True)
class BenchmarkRequest(Checked):
    """Asks for something of a benchmark of CAR."""

    benchmark: Place
    released: Annotated[
        str, Doc("car:FILE of the released one, measured instead where that file is here.")
    ] = ""


@dataclass(frozen=True, kw_only=True)
class AuthorityRequest(BenchmarkRequest):
    """A share that `argus authority score` prints of a system on a benchmark.

    contaminated, hint, queries: of `benchmark`; a released file is measured as it is.
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
    """A share of `argus authority harm`, in percent: answers from what a system serves."""

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
class FailureRequest(Checked):
    """A value of a table that `argus generative analyse` makes of a system's output."""

    output: Annotated[Literal["seal", "minder"], Doc("The system.")]
    table: Annotated[str, Doc("SECTION.TABLE of its figures.")]
    line: Annotated[str, Doc("What stands in the table's first column.")]
    value: Annotated[str, Doc("The column.")]


@dataclass(frozen=True, kw_only=True)
class KnowledgeRequest(Checked):
    """Asks for something of an audit of the entities of a knowledge base."""

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
    """A measure of a probe on held-out entities, as `argus probe fit` tells it."""

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


@dataclass(frozen=True)
class MeanRequest:
    """The mean of other cells of the row: of the columns that a column's `mean_of` names."""

    parts: tuple[Measured, ...]


Measured = (
    GridRequest
    | AuthorityRequest
    | GapRequest
    | HarmRequest
    | AblationRequest
    | FailureRequest
    | ReachRequest
    | ProbeRequest
    | GoldRequest
)
"""What a job measures."""
Request = Measured | MeanRequest


def parts_of(request: Request | None) -> Sequence[Measured]:
    """Return what has to be measured for a request."""
    if request is None:
        return ()
    return request.parts if isinstance(request, MeanRequest) else (request,)


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
"""What a cell asks for, by the keys that it has; the first that fits."""
KEYS = tuple(dict.fromkeys(key for kind, _ in KINDS for key in keys_of(kind)))
"""All that a row or a column may say of its cells."""
