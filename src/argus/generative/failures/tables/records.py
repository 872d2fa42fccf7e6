"""JSON types of tables of figures, of one system by part and name (see `tables`)."""

from __future__ import annotations

from typing import Literal, NotRequired, get_args

from typing_extensions import TypedDict, TypeIs

Value = str | int | float | None
"""Value of a cell. None if it does not apply."""


class NotApplicable(TypedDict):
    """Stands for a table that cannot be made: the reason, and the inputs it needs."""

    not_applicable: str


class Grid(TypedDict):
    """Columns and rows. n: the questions that they are made of. ngrams, score: sums over these."""

    n: int
    ngrams: NotRequired[int]
    score: NotRequired[float]
    columns: list[str]
    rows: list[list[Value]]


class Spread(TypedDict):
    """Single figures of n questions. sigma: of the population (divided by n)."""

    n: int
    mean: float | None
    sigma: float | None
    median: float | None
    min: float | None
    max: float | None


class Deciles(Spread):
    """Hit rates by decile of an indicator, and its spread over the same questions."""

    indicator: str
    columns: list[str]
    rows: list[list[Value]]


_WellCovered = TypedDict("_WellCovered", {"share_at_least_0.7": float})


class Coverage(Spread, _WellCovered):
    """Coverage of questions' words by the corpus, and how often it is 0.7 or more."""


class TitleDifference(Spread):
    """Title scores of correct passages against others, and the question where it is greatest."""

    extreme_id: str | None
    extreme_question: str | None


class Pruning(Spread):
    """N-grams that the beam dropped per question. Questions that lost some, and their share."""

    questions: int
    share: float | None
    low: float | None
    high: float | None


Single = Spread | Coverage | TitleDifference | Pruning
Table = NotApplicable | Grid | Deciles | Single
Tables = dict[str, Table]
"""By name."""
Part = Literal[
    "quality",
    "metadata",
    "generation",
    "scoring",
    "annotation",
    "texts",
    "corpus",
    "replay",
    "ablations",
    "correlations",
]
PARTS: tuple[Part, ...] = get_args(Part)


class Figures(TypedDict):
    """Every table of one system, by part.

    judged: questions with known correct passages.
    quality: tables of quality.
    metadata: tables of metadata dependency.
    generation: tables of generative failures.
    scoring: tables of scoring failures.
    annotation: tables of annotation.
    texts: tables of the texts of positives.
    corpus: tables that the index adds.
    replay: tables that the replay adds.
    ablations: tables of rankings without one kind of n-gram.
    correlations: correlations of indicators and quality.
    """

    questions: int
    judged: int
    k: int
    quality: Tables
    metadata: Tables
    generation: Tables
    scoring: Tables
    annotation: Tables
    texts: Tables
    corpus: Tables
    replay: Tables
    ablations: Tables
    correlations: Tables


def is_missing(table: Table) -> TypeIs[NotApplicable]:
    """Whether there is no table, but why there is none."""
    return "not_applicable" in table


def is_deciles(table: Table) -> TypeIs[Deciles]:
    """Whether a table is of the deciles of an indicator."""
    return "indicator" in table


def has_rows(table: Table) -> TypeIs[Grid | Deciles]:
    """Whether a table has columns and rows, not single figures."""
    return "columns" in table
