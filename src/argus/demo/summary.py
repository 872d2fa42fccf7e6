"""What the demo writes as JSON, and the rows of its questions."""

from __future__ import annotations

from typing_extensions import TypedDict

from argus.indexes.summary import BuildSummary
from argus.remedies.blend.summary import BlendSummary
from argus.remedies.diagnosis.summary import DiagnosisSummary
from argus.remedies.repair.summary import RemedySummary


class QuestionRow(TypedDict):
    """One row per judged question of the demo.

    wanted: ids of the relevant entities, parted by ", ".
    rank: best rank of what is wanted; None beyond the depth of the search.
    rps: RPS of the entity of that rank; None without a score.
    first: id of what came first.
    implicit: whether it shares no content word with a relevant name.
    """

    query_id: str
    question: str
    wanted: str
    rank: int | None
    rps: float | None
    first: str
    implicit: bool


class QuestionGroup(TypedDict):
    """Some of the questions, and the measures over them.

    name: name of the group.
    queries: questions of the group.
    """

    name: str
    queries: int
    measures: dict[str, float]


class QuestionsSummary(TypedDict):
    """What the judged questions say.

    queries: questions that were asked.
    implicit: questions that share no content word with a relevant name.
    """

    queries: int
    implicit: int
    groups: list[QuestionGroup]


class DemoSummary(TypedDict, total=False):
    """summary.json: a section per job. Here stand those that are read back; it has others."""

    questions: QuestionsSummary
    index: BuildSummary
    diagnosis: DiagnosisSummary
    blend: BlendSummary
    remedy: RemedySummary
