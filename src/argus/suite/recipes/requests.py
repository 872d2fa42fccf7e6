"""Which figure a cell of a published table asks for, by the job that measures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from argus.authority.benchmarks.config import Served
from argus.encoders.config import DEFAULT_MODEL
from argus.settings import Doc, Ge, Le, Option, check_settings
from argus.suite.config import ORIGINAL
from argus.suite.toml import keys_of


class Checked:
    """A request checks its settings."""

    def __post_init__(self) -> None:
        check_settings(self)


@dataclass(frozen=True, kw_only=True)
class GridRequest(Checked):
    """A measure of a suite's cell, or of an average of cells (`task` is then empty)."""

    retriever: Annotated[str, Doc("By its name in the recipe's suite.")]
    measure: Annotated[str, Doc("Of the suite; or mean rank, median rank.")] = "nDCG@10"
    remedy: Annotated[str, Doc("By its name in the recipe's suite.")] = ORIGINAL
    task: Annotated[str, Doc("By its name in the recipe's suite.")] = ""
    average: Annotated[str, Doc("The group of tasks that is averaged.")] = ""


@dataclass(frozen=True, kw_only=True)
class AuthorityRequest(Checked):
    """A share that `argus authority score` prints of a system on a benchmark."""

    benchmark: Annotated[str, Doc("A name, or a folder.")]
    system: Annotated[str, Doc("Of argus authority score.")]
    share: Annotated[str, Doc("As the summary calls it: tca, controlling_hit, ...")] = "tca"
    k: Served = 5
    hop: Annotated[str, Doc("Questions of this type alone.")] = ""
    contaminated: Annotated[bool, Doc("The variant with distractors in scope.")] = False
    hint: Annotated[bool, Doc("Questions that name product or party.")] = False
    queries: Annotated[str, Doc("Another file of questions.")] = ""
    encoder: Annotated[str, Doc("Of dense systems.")] = DEFAULT_MODEL


@dataclass(frozen=True, kw_only=True)
class AblationRequest(Checked):
    """nDCG@10 of a component at a λ, as `argus scenarios ablate` measures it."""

    collection: Annotated[str, Doc("BEIR folder with profiles.jsonl in it.")]
    component: Annotated[str, Doc("Of the grid; none: documents alone; pseudo-queries; summary.")]
    weight: Annotated[float, Ge(0), Le(1), Doc("λ."), Option(("--lambda",))] = 1.0
    encoder: Annotated[str, Doc("Who embeds.")] = DEFAULT_MODEL


@dataclass(frozen=True, kw_only=True)
class FailureRequest(Checked):
    """A value of a table that `argus generative analyse` makes of a system's output."""

    output: Annotated[Literal["seal", "minder"], Doc("The system.")]
    table: Annotated[str, Doc("SECTION.TABLE of its figures.")]
    line: Annotated[str, Doc("What stands in the table's first column.")]
    value: Annotated[str, Doc("The column.")]


Request = GridRequest | AuthorityRequest | AblationRequest | FailureRequest
KINDS: tuple[tuple[type[Request], tuple[str, ...]], ...] = (
    (AuthorityRequest, ("benchmark", "system")),
    (AblationRequest, ("collection", "component")),
    (FailureRequest, ("output", "table", "line", "value")),
    (GridRequest, ("retriever", "task")),
    (GridRequest, ("retriever", "average")),
)
"""What a cell asks for, by the keys that it has; the first that fits."""
KEYS = tuple(dict.fromkeys(key for kind, _ in KINDS for key in keys_of(kind)))
"""All that a row or a column may say of its cells."""
