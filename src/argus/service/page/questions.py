"""Show what people ask, what nobody meets and what may fail, and judge one document at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from argus.data.tables import read_names, read_table
from argus.data.types import State
from argus.errors import InputError
from argus.service.page.rendering import (
    PageRoute,
    Rows,
    Values,
    Wanted,
    folder_path,
    fragment,
    panel,
    render,
)
from argus.service.state import ServiceOf
from argus.service.workplace import Workplace
from argus.traffic.config import HIGHEST, JudgingConfig
from argus.traffic.judging.job import JOB, TABLE
from argus.traffic.judging.live import LiveJudging
from argus.traffic.judging.table import ToGrade
from argus.traffic.questions import NAME
from argus.traffic.summary import TrafficSummary
from argus.verdict.counts import Results, describe_log

MAX_QUESTIONS = 100  # that are shown, the likeliest to fail first
FIRST = 10  # results within which a relevant one counts as met
Id = Annotated[str, Query(max_length=10_000)]
router = APIRouter(route_class=PageRoute)


class Grading(BaseModel):
    """Grades of one question. grade: None takes it out; document: None is all without a grade.

    go_on: whether the next question is shown where this one is judged then.
    """

    model_config = ConfigDict(extra="forbid")
    question: str = Field(max_length=10_000)
    documents: list[str] | None = Field(default=None, max_length=1_000)
    grade: int | None = Field(default=None, ge=0, le=HIGHEST)
    go_on: bool = True


@router.get("/page/{folder}/questions")
def questions(request: Request, folder: str, service: ServiceOf) -> HTMLResponse:
    """Show what people ask, what nobody meets, what may fail, and how far it is judged."""
    path = folder_path(service.workplace, folder)
    traffic = path and Results.of(path).section("traffic", TrafficSummary)
    live = None if path is None else _drawn(path)
    evaluation = path and read_judged(path)
    if path is None or (traffic is None and live is None and evaluation is None):
        return render(request, "questions_none.html.j2", "questions", folder)
    return render(
        request, "questions.html.j2", "questions", folder,
        traffic=traffic, log=traffic and describe_log(traffic), likely=likely_failures(path),
        evaluation=evaluation,
        judged=None if live is None else live.summary(),
        judging=_judging(path, service.workplace), budget=JudgingConfig.budget,
        **panel(request, path),
    )  # fmt: skip


def _drawn(folder: Path) -> LiveJudging | None:
    """Return the judging of questions that were drawn there; None where none were."""
    return LiveJudging.of(folder) if (folder / TABLE).is_file() else None


def _judging(folder: Path, place: Workplace) -> Wanted | None:
    """Return the job that draws questions, or takes their grades into the results.

    None where a file that it reads is not known, or lies outside the folders.
    """
    places = Results.of(folder).places
    inputs = places.manifest[JOB]["inputs"] if JOB in places.manifest else {}
    files = {name: one["file"] for name, one in inputs.items()}
    options: dict[str, str | bool | list[str]] = {
        "traffic": files.get("traffic", str(folder)),
        "corpus": files.get("served", places.corpus),
        "out": str(folder),
    }
    if "run" in files:
        options["run"] = files["run"]
    if not all(place.holds(Path(str(file))) for file in options.values()):
        return None
    return {"command": "traffic judge", "options": options}


class JudgedQuestions(NamedTuple):
    """Judged questions, those that are met worst first, and how many of them are met."""

    rows: Rows
    total: int
    met: int


class Likely(NamedTuple):
    """Questions likely to fail, how many are ordered by risk, and how many are flagged."""

    rows: Rows
    ranked: int
    flagged: int


def read_judged(folder: Path) -> JudgedQuestions | None:
    """Return the judged questions of a folder as they were asked last; None where there are none.

    Of an evaluation of two systems the second counts. The audit's table names the wanted
    documents. A question without judgements is left out.
    """

    def table(name: str, *columns: str) -> Rows:
        path = folder / f"{name}.parquet"
        if not path.is_file() or not set(columns) <= read_names(path):
            return []
        found: Rows = read_table(path, columns).to_pylist()
        return found

    audit = table("questions", "query_id", "question", "wanted", "rank")
    evaluation = table("per_query", "query_id", "text", "state", "rank after")
    evaluation = evaluation or table("per_query", "query_id", "text", "state", "rank")
    evaluation = [row for row in evaluation if row["state"] == State.MEASURED]
    wanted = {row["query_id"]: str(row["wanted"]) for row in audit}
    rows: Rows = [
        {
            "text": row.get("text") or row["question"],
            "wanted": wanted.get(row["query_id"], ""),
            "rank": row["rank after"] if "rank after" in row else row["rank"],
        }
        for row in evaluation or audit
    ]
    rows.sort(key=lambda row: -(row["rank"] or 10**9))
    met = sum(row["rank"] is not None and row["rank"] <= FIRST for row in rows)
    return JudgedQuestions(rows[:MAX_QUESTIONS], len(rows), met) if rows else None


def likely_failures(folder: Path) -> Likely | None:
    """Return the questions of a log that are likeliest to fail, those without an answer first.

    None without an order. Raises InputError for a table that cannot be read.
    """
    import duckdb

    path, judged = folder / NAME, folder / f"{JOB}.parquet"
    if not path.is_file():
        return None
    needed = {"question", "text", "asks", "risk_rank", "flag", "top", "unmet"}
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False}) as sql:
        try:
            table = sql.read_parquet(str(path))
            if not needed <= set(table.columns):
                return None
            table.create_view("questions")
            sql.execute("CREATE VIEW judged AS SELECT '' AS query_id, NULL::DOUBLE AS probability")
            if judged.is_file():
                sql.read_parquet(str(judged)).create_view("judged", replace=True)
            counts = "SELECT count(risk_rank), count(flag) FROM questions"
            ranked, flagged = sql.execute(counts).fetchone() or (0, 0)
            cursor = sql.execute(
                "SELECT question, text, q.asks, risk_rank, flag, probability, top, unmet "
                "FROM questions q LEFT JOIN judged ON query_id = question "
                "WHERE risk_rank IS NOT NULL OR flag IS NOT NULL "
                "ORDER BY risk_rank NULLS FIRST, q.asks DESC, question LIMIT ?",
                [MAX_QUESTIONS],
            )
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.Error as error:
            raise InputError(
                f"cannot be read ({str(error).splitlines()[0]})",
                expected="the table as Argus wrote it", fix="Run argus traffic again.", where=path,
            ) from error  # fmt: skip
    return Likely(rows, ranked, flagged) if rows else None


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
    """Keep grades in the folder's table, and show the next question."""
    live = _live(folder_path(service.workplace, folder))
    rows, documents = _rows(live, grading.question), grading.documents
    if documents is None:
        documents = [row.document_id for row in rows if row.pair not in live.grades]
    live = live.graded({(grading.question, doc): grading.grade for doc in documents})
    question: str | None = grading.question
    if grading.go_on and live.is_judged(grading.question):
        question = live.next_after(grading.question)
    return fragment("judge_box.html.j2", folder=folder, **_box(live, question))


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


def _rows(live: LiveJudging, question: str) -> list[ToGrade]:
    """Return the documents of a drawn question; InputError for one that was not drawn."""
    if rows := live.rows_of(question):
        return rows
    raise InputError(
        f"question {question!r}", expected="one that was drawn to be judged",
        fix="Reload the page.", where="question",
    )  # fmt: skip


def _box(live: LiveJudging, question: str | None) -> Values:
    """Return the box of a question: its documents with their grades, and the estimates so far.

    at: place of the document to grade, row; None where all have a grade. number: of the question
    among those drawn. width: half the interval of the failure rate, in words.
    """
    summary, shown = live.summary(), None
    if question is not None:
        rows = [(row, live.grades.get(row.pair)) for row in _rows(live, question)]
        at = next((i for i, (_, grade) in enumerate(rows) if grade is None), None)
        shown = {
            "question": question, "text": rows[0][0].question, "rows": rows, "at": at,
            "row": None if at is None else rows[at][0],
            "number": live.draw.drawn.index(question) + 1,
        }  # fmt: skip
    width = ""
    if summary["estimates"]:
        failure = summary["estimates"][0]
        width = f"{100 * (failure['high'] - failure['low']) / 2:.1f} points on each side"
    return {"summary": summary, "shown": shown, "width": width}
