"""Judge mode: one document at a time, by keys, with the estimate as it narrows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

from argus.errors import InputError
from argus.service.page.rendering import PageRoute, folder_path, fragment, render
from argus.service.state import ServiceOf
from argus.traffic.judging.config import HIGHEST
from argus.traffic.judging.live import LiveJudging
from argus.traffic.judging.summary import JudgingSummary
from argus.traffic.judging.table import ToGrade

router = APIRouter(route_class=PageRoute)
Id = Annotated[str, Query(max_length=10_000)]


class Grading(BaseModel):
    """Grades of one question. grade: None takes it out; document: None is all without a grade.

    go_on: whether the next question is shown where this one is judged then.
    """

    model_config = ConfigDict(extra="forbid")
    question: str = Field(max_length=10_000)
    documents: list[str] | None = Field(default=None, max_length=1_000)
    grade: int | None = Field(default=None, ge=0, le=HIGHEST)
    go_on: bool = True


@dataclass(frozen=True)
class Shown:
    """What a judge sees: a question, its documents with their grades, and which one is next."""

    question: str
    text: str
    rows: list[tuple[ToGrade, int | None]]
    at: int | None
    """Place of the document to grade among `rows`; None where all have a grade."""
    number: int
    """Of the question among those drawn, from 1."""

    @property
    def row(self) -> ToGrade | None:
        """The document to grade."""
        return None if self.at is None else self.rows[self.at][0]


def _rows(live: LiveJudging, question: str) -> list[ToGrade]:
    """Return the documents of a drawn question; InputError for one that was not drawn."""
    if rows := live.rows_of(question):
        return rows
    raise InputError(
        f"question {question!r}", expected="one that was drawn to be judged",
        fix="Reload the page.", where="question",
    )  # fmt: skip


def shown(live: LiveJudging, question: str) -> Shown:
    """Return a drawn question as a judge sees it; InputError for one that was not drawn."""
    rows = [(row, live.grades.get(row.pair)) for row in _rows(live, question)]
    at = next((i for i, (_, grade) in enumerate(rows) if grade is None), None)
    number = live.draw.drawn.index(question) + 1
    return Shown(question, rows[0][0].question, rows, at, number)


@router.get("/page/{folder}/questions/judge")
def judge(
    request: Request, folder: str, service: ServiceOf, after: Id = "", question: Id = ""
) -> HTMLResponse:
    """Show the next question to judge after one, or a certain one."""
    live = _live(folder_path(service.workplace, folder))
    box = _box(live, question or live.next_after(after))
    if request.headers.get("x-part"):
        return fragment("judge_box.html.j2", folder=folder, **box)
    return render(request, "judge.html.j2", "questions", folder, **box)


@router.post("/page/{folder}/questions/judge")
def grade(folder: str, service: ServiceOf, grading: Grading) -> HTMLResponse:
    """Keep grades in the folder's table, and show what comes next."""
    live = _live(folder_path(service.workplace, folder))
    rows = _rows(live, grading.question)
    documents = grading.documents
    if documents is None:
        documents = [row.document_id for row in rows if row.pair not in live.grades]
    live = live.graded({(grading.question, doc): grading.grade for doc in documents})
    question: str | None = grading.question
    if grading.go_on and live.is_judged(grading.question):
        question = live.next_after(grading.question)
    return fragment("judge_box.html.j2", folder=folder, **_box(live, question))


class JudgeBox(TypedDict):
    """What the box shows. width: of the failure rate's interval, in words."""

    summary: JudgingSummary
    shown: Shown | None
    width: str


def _box(live: LiveJudging, question: str | None) -> JudgeBox:
    """Return what the box shows of a question."""
    summary = live.summary()
    return {
        "summary": summary,
        "shown": None if question is None else shown(live, question),
        "width": half_width(summary),
    }


def half_width(summary: JudgingSummary) -> str:
    """Return in words how wide the interval of the failure rate is."""
    if not summary["estimates"]:
        return ""
    failure = summary["estimates"][0]
    return f"{100 * (failure['high'] - failure['low']) / 2:.1f} points on each side"


def _live(folder: Path | None) -> LiveJudging:
    live = None if folder is None else LiveJudging.of(folder)
    if live is None:
        raise InputError(
            "nothing was drawn to be judged here",
            expected="a folder that argus traffic judge wrote",
            fix="Draw questions on the page Questions.",
            where=folder,
        )
    return live
