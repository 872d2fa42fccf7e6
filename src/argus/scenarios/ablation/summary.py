"""The ablation's section of summary.json, key by key. Measures are shares from 0 to 1."""

from __future__ import annotations

from typing import Final, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from argus.corpora.remarks import OfStore
from argus.data.types import StateCounts
from argus.evaluation.summary import MissingDocuments
from argus.jobs.recorded_model import Answers
from argus.jobs.workspace import TextWindow
from argus.measures.significance import DifferenceFigures
from argus.scenarios.figures import CellName as CellName
from argus.scenarios.profiles.summary import ProfiledDocuments

DOCUMENTS: Final = "documents alone"
SCENARIOS: Final = "scenarios"
PLACEBO: Final = "placebo"
BaselineName: TypeAlias = Literal["pseudo-queries", "summary"]
"""What the members of `expansions.Baseline` are called."""


class Comparison(DifferenceFigures):
    """A paired difference over questions. relative: to the mean before; None where that is 0."""

    relative: float | None


AloneRow = TypedDict(
    "AloneRow",
    {
        "corpus": str,
        "system": Literal["documents alone"],
        "component": None,
        "lambda": None,
        "measures": dict[str, float],
        "comparison": None,
    },
)
"""Documents alone, which all others are compared with."""

BaselineRow = TypedDict(
    "BaselineRow",
    {
        "corpus": str,
        "system": BaselineName,
        "component": None,
        "lambda": None,
        "measures": dict[str, float],
        "comparison": Comparison,
    },
)
"""Expanded documents."""

CellRow = TypedDict(
    "CellRow",
    {
        "corpus": str,
        "system": Literal["scenarios", "placebo"],
        "component": str,
        "lambda": float,
        "measures": dict[str, float],
        "comparison": Comparison,
    },
)
"""A cell of the grid, with the scenarios of its documents or with those of others."""

Row: TypeAlias = AloneRow | BaselineRow | CellRow
"""One run on one corpus: its measures by name, and its difference from documents alone."""


class Gap(CellName):
    """A cell against a placebo or against expanded documents, which are before."""

    against: str
    comparison: Comparison


class Tuned(CellName):
    """The cell that is best on some questions, compared on the others."""

    chosen_on: int
    """Questions."""
    comparison: Comparison
    usual: Comparison
    """Of the usual cell, on the same questions."""


class Group(TypedDict):
    """Questions by how many of their relevant documents have scenarios: all, some or none."""

    relevant_with_scenarios: str
    comparison: Comparison


class CellMean(CellName):
    """What a cell makes of a type's questions; None where there are none."""

    mean: float | None


class Recommendation(TypedDict):
    """A cell for a type of document.

    best: on these very questions. recommended: that, where `to_usual` is surely better; else the
    usual cell. to_usual: each half of the questions by the cell that is best on the other half,
    against the usual cell.
    """

    best: CellName
    recommended: CellName
    to_usual: DifferenceFigures


class TypeFigures(TypedDict):
    """What the grid says of questions whose relevant documents are of one type.

    weight: λ of the usual component; cell: of any. None where there are not two questions. usual:
    the usual cell against documents alone.
    """

    corpus: str
    field: str
    type: str
    documents: int
    profiles: int
    scenarios: int
    questions: int
    is_few: bool
    alone: float | None
    usual: Comparison | None
    weight: Recommendation | None
    cell: Recommendation | None
    grid: list[CellMean]


class CorpusSummary(TypedDict):
    """What the grid says on one corpus."""

    documents: int
    documents_with_scenarios: int
    queries: int
    usual: CellName
    best: CellName
    tuned: Tuned | None
    gaps: list[Gap]
    rows: list[Row]


class DocumentCounts(TypedDict):
    """Documents of the corpus. share: of the indexed ones, with scenarios."""

    total: int
    indexed: int
    without_text: int
    failed: int
    with_scenarios: int
    share: float


class ProfileCounts(ProfiledDocuments):
    """Profiles by what became of them, and the scenarios in those of the corpus."""

    of_other_documents: int
    scenarios: int


class EmbeddedProfileCounts(ProfileCounts):
    """The same, and the texts of scenarios that have no vector."""

    texts_failed: int


class ExpandedDocuments(TypedDict):
    """Documents that were embedded with what a baseline adds to them."""

    documents: int
    failed: int
    text_window: TextWindow | None


class Writer(TypedDict, total=False):
    """The model that wrote expansions, where one did, and what that took."""

    model: str
    language_model: Answers


class ExpansionsSummary(Writer):
    """What the baselines were made of. reasons: why there is none, the ten most frequent."""

    total: int
    of_other_documents: int
    reasons: dict[str, int]
    baselines: dict[str, ExpandedDocuments]


class TextWindows(TypedDict):
    """How much of the texts the encoder reads."""

    documents: TextWindow | None
    scenarios: TextWindow | None


class AblationSummary(OfStore):
    """The ablation of a corpus, and of its documents with scenarios alone (`profiled`)."""

    headline: str
    """The measure that cells are judged by."""
    measures: list[str]
    components: list[str]
    weights: list[float]
    depth: int
    placebos: int
    queries: StateCounts
    documents: DocumentCounts
    profiles: EmbeddedProfileCounts
    missing_judged_documents: MissingDocuments | None
    text_windows: TextWindows
    groups: list[Group]
    whole: CorpusSummary
    profiled: CorpusSummary | None
    expansions: ExpansionsSummary | None
    types: NotRequired[list[TypeFigures]]
    """By type of document, where fields were named."""
