"""The ablation's section of summary.json, key by key. Measures are shares from 0 to 1."""

from __future__ import annotations

from typing import Any, Final, Literal, NotRequired, TypeAlias

from typing_extensions import TypedDict

from argus.corpora.stored import OfStore
from argus.data.types import StateCounts
from argus.jobs.recorded_model import Answers
from argus.jobs.workspace import TextWindow
from argus.measures.coverage import Coverage
from argus.measures.significance import DifferenceFigures
from argus.scenarios.figures import CellName as CellName
from argus.scenarios.profiles.summary import ProfiledDocuments

DOCUMENTS: Final = "documents alone"
SCENARIOS: Final = "scenarios"
PLACEBO: Final = "placebo"
BaselineName: TypeAlias = Literal["pseudo-queries", "summary"]
"""Names of the members of `expansions.Baseline`."""


Comparison = DifferenceFigures
"""A paired difference over questions, and `relative`: the difference as a share of the mean before,
None where that is 0."""


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
"""Documents alone, which all others are compared with.

corpus: whole or profiled.
measures: measure to its mean.
comparison: None: others are compared with it.
"""

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
"""Expanded documents.

corpus: whole or profiled.
system: pseudo-queries or summary.
comparison: difference from documents alone, by the headline measure.
"""

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
"""A cell of the grid, with the scenarios of its documents or with those of others.

corpus: whole or profiled.
system: scenarios or placebo.
comparison: difference from documents alone, by the headline measure.
"""

Row: TypeAlias = AloneRow | BaselineRow | CellRow
"""One run on one corpus: its measures by name, and its difference from documents alone."""


class Gap(CellName):
    """A cell against a placebo or against expanded documents, which are before.

    against: placebo or expanded documents that it is compared with.
    comparison: the cell less these, by the headline measure.
    """

    against: str
    comparison: Comparison


class Tuned(CellName):
    """The cell that is best on some questions, compared on the others.

    chosen_on: questions that it was chosen on.
    comparison: the cell against documents alone, on the other questions.
    usual: the usual cell against documents alone, on the same questions.
    """

    chosen_on: int
    comparison: Comparison
    usual: Comparison


class Group(TypedDict):
    """Questions by how many of their relevant documents have scenarios: all, some or none.

    relevant_with_scenarios: how many of their relevant documents have scenarios: all, some or none.
    comparison: the usual cell against documents alone.
    """

    relevant_with_scenarios: str
    comparison: Comparison


class CellMean(CellName):
    """Figures of a cell for a type's questions. None where there are none.

    mean: headline measure of the cell. None without a question.
    """

    mean: float | None


class Recommendation(TypedDict):
    """A cell for a type of document.

    best: cell that is best on these very questions.
    recommended: that, where it is surely better, else the usual cell.
    to_usual: each half by the best cell of the other half, against the usual cell.
    """

    best: CellName
    recommended: CellName
    to_usual: DifferenceFigures


class TypeFigures(TypedDict):
    """Figures of the grid for questions whose relevant documents are of one type.

    corpus: whole or profiled.
    field: field that types are told by.
    type: value of that field.
    documents: documents of the type.
    profiles: of these, documents with a profile.
    questions: questions with a relevant document of the type.
    is_few: whether these are few.
    alone: headline measure of documents alone. None without a question.
    usual: usual cell against documents alone. None without a question.
    weight: λ to use for the usual component. None without two questions.
    cell: cell to use. None without two questions.
    grid: headline measure of each cell.
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
    """Figures of the grid on one corpus.

    documents: documents that were embedded.
    documents_with_scenarios: of these, documents with scenarios.
    queries: questions that were measured here.
    usual: cell that is used by default.
    best: cell that is best on these very questions.
    tuned: cell chosen on some questions and compared on others. None with too few.
    gaps: best cell against placebos and expanded documents.
    rows: every run.
    """

    documents: int
    documents_with_scenarios: int
    queries: int
    usual: CellName
    best: CellName
    tuned: Tuned | None
    gaps: list[Gap]
    rows: list[Row]


class DocumentCounts(TypedDict):
    """Documents of the corpus.

    total: documents of the corpus.
    indexed: documents that have a vector.
    without_text: documents without a text.
    failed: documents that could not be embedded.
    with_scenarios: indexed documents with scenarios.
    share: these as a share of the indexed ones.
    """

    total: int
    indexed: int
    without_text: int
    failed: int
    with_scenarios: int
    share: float


class ProfileCounts(ProfiledDocuments):
    """Profiles by outcome, and the scenarios in those of the corpus.

    of_other_documents: profiles of documents that the corpus lacks.
    scenarios: scenarios of documents of the corpus.
    """

    of_other_documents: int
    scenarios: int


class EmbeddedProfileCounts(ProfileCounts):
    """The same, and the texts of scenarios that have no vector.

    texts_failed: texts of scenarios that have no vector.
    """

    texts_failed: int


class ExpandedDocuments(TypedDict):
    """Documents that were embedded with a baseline's additions.

    documents: documents that were expanded.
    text_window: how much of them the encoder reads.
    """

    documents: int
    failed: int
    text_window: TextWindow | None


class Writer(TypedDict, total=False):
    """The model that wrote expansions, where one did, and its cost.

    model: model that wrote expansions.
    language_model: cost of writing.
    """

    model: str
    language_model: Answers


class ExpansionsSummary(Writer):
    """Sources of the baselines.

    total: expansions that were read.
    of_other_documents: expansions of documents that the corpus lacks.
    reasons: why there is none, the ten most frequent.
    baselines: documents by baseline.
    """

    total: int
    of_other_documents: int
    reasons: dict[str, int]
    baselines: dict[str, ExpandedDocuments]


class TextWindows(TypedDict):
    """How much of the texts the encoder reads.

    documents: how much of the documents the encoder reads.
    scenarios: how much of the scenarios' texts.
    """

    documents: TextWindow | None
    scenarios: TextWindow | None


class AblationSummary(OfStore):
    """The ablation of a corpus, and of its documents with scenarios alone (`profiled`).

    headline: the measure that cells are judged by.
    measures: measures that were taken.
    components: components of the grid.
    weights: weights λ of the grid.
    depth: documents per list.
    placebos: draws of scenarios of other documents.
    coverage: how many of the documents, and of the relevant ones, have scenarios.
    groups: questions by how many of their relevant documents have scenarios.
    profiled: the same over documents with scenarios alone. None where all have them.
    expansions: sources of baselines. None without.
    types: recommendation by type of document, where fields were named.
    """

    headline: str
    measures: list[str]
    components: list[str]
    weights: list[float]
    depth: int
    placebos: int
    queries: StateCounts
    documents: DocumentCounts
    profiles: EmbeddedProfileCounts
    missing_judged_documents: dict[str, Any] | None
    text_windows: TextWindows
    coverage: Coverage
    groups: list[Group]
    whole: CorpusSummary
    profiled: CorpusSummary | None
    expansions: ExpansionsSummary | None
    types: NotRequired[list[TypeFigures]]
