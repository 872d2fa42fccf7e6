"""Show the pages of user questions in `argus serve`: unmet, likely to fail, and to be judged.

They show the results of `argus traffic audit` and of judged questions. A person grades one document
at a time, and the grades go into the table of `argus traffic judge` (`argus.traffic.grades`).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated

import pyarrow.compute as pc
from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import BaseModel, ConfigDict, Field

from argus.commands import command
from argus.data.runs import read_qrels
from argus.data.tables import read_names, read_table
from argus.data.types import State
from argus.errors import InputError
from argus.service.page.rendering import Page, PageOf, PageRoute, Rows, Values, refused
from argus.service.workplace import Workplace
from argus.traffic.config import HIGHEST, JudgingConfig
from argus.traffic.grades import ToGrade
from argus.traffic.judging import JOB, TABLE, LiveJudging
from argus.traffic.questions import NAME
from argus.traffic.section import describe_log
from argus.tuning.judge import describe_decision
from argus.verdict.results import Results

MAX_QUESTIONS = 100  # that are shown, the likeliest to fail first
FIRST = 10  # results within which a relevant one counts as met
# Columns of a log's questions, of which some are ordered by risk.
NEEDED = frozenset({"question", "text", "asks", "risk_rank", "flag", "top", "unmet"})
Id = Annotated[str, Query(max_length=10_000)]
router = APIRouter(route_class=PageRoute)


class Grading(BaseModel):
    """Grades of one question. grade: None removes it. document: None is all without a grade.

    go_on: whether the next question is shown where this one is judged then.
    """

    model_config = ConfigDict(extra="forbid")
    question: str = Field(max_length=10_000)
    documents: list[str] | None = Field(default=None, max_length=1_000)
    grade: int | None = Field(default=None, ge=0, le=HIGHEST)
    go_on: bool = True


@router.get("/page/{folder}/questions")
def questions(page: PageOf) -> HTMLResponse:
    """Show user questions, those that nobody meets or that may fail, and the judgements so far."""
    path = page.path
    if path is None:
        return page.render("questions_none.html.j2")
    results = Results.of(path)
    traffic = results.sections.get("traffic")
    live = LiveJudging.of(path) if (path / TABLE).is_file() else None
    evaluation = read_judged(path, page.place)
    if traffic is None and live is None and evaluation is None:
        return page.render("questions_none.html.j2")
    with results.reading():
        log = traffic and describe_log(traffic)
    inputs = results.manifest[JOB]["inputs"] if JOB in results.manifest else {}
    files = {name: one["file"] for name, one in inputs.items()}
    options = {
        "traffic": files.get("traffic", str(path)),
        "corpus": files.get("served", results.corpus),
        "out": str(path),
        **({"run": files["run"]} if "run" in files else {}),
    }
    has_log = traffic is not None or (JOB in results.manifest and not (live and live.draw.is_pool))
    if has_log:
        is_inside = all(page.place.holds(Path(str(file))) for file in options.values())
        judging = [{"command": "traffic judge", "options": options}] if is_inside else []
    else:  # of other questions, over ways to search an index
        index = page.place.index_of(path)
        place = results.beside if index is None else index.path
        words = ("--index", place, "--queries", results.queries, "--out", path)
        line = command("tune", "judge", *words)
        judging = page.startable(line if index else f"{results.indexing} && {line}")
    return page.render(
        "questions.html.j2", traffic=traffic, log=log, likely=likely_failures(path),
        evaluation=evaluation, judged=None if live is None else live.summary(),
        judging=judging, is_pool=not has_log, budget=JudgingConfig.budget,
    )  # fmt: skip


def read_judged(folder: Path, place: Workplace) -> Values | None:
    """Return the judged questions of a folder as they were asked last, None where there are none.

    Of an evaluation of two systems the second counts. The audit's table names the wanted
    documents, else the judgements, if they lie in the workplace. A question without judgements is
    left out. rows: those that are met worst first. total: how many there are. met: how many have a
    relevant document within the FIRST.
    """

    def read(name: str, *columns: str) -> Rows:
        path = folder / f"{name}.parquet"
        if not path.is_file() or not set(columns) <= read_names(path):
            return []
        found: Rows = read_table(path, columns).to_pylist()
        return found

    audit = read("questions", "query_id", "question", "wanted", "rank")
    evaluation = read("per_query", "query_id", "text", "state", "rank after")
    evaluation = evaluation or read("per_query", "query_id", "text", "state", "rank")
    evaluation = [row for row in evaluation if row["state"] == State.MEASURED]
    wanted = {row["query_id"]: str(row["wanted"]) for row in audit}
    qrels = Path(Results.of(folder).qrels)
    if evaluation and not wanted and place.holds(qrels):
        with suppress(InputError):  # columns of other names, or a file that changed since
            wanted = {
                query: ", ".join(sorted((d for d in of if of[d] > 0), key=of.__getitem__)[::-1])
                for query, of in read_qrels(qrels).items()
            }
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
    return {"rows": rows[:MAX_QUESTIONS], "total": len(rows), "met": met} if rows else None


def likely_failures(folder: Path) -> Values | None:
    """Return the questions of a log that are likeliest to fail, those without an answer first.

    rows: the questions. ranked: how many are ordered by risk. flagged: how many are flagged. None
    without an order. Raises InputError for a table that cannot be read.
    """
    path = folder / NAME
    if not path.is_file() or not read_names(path) >= NEEDED:
        return None
    table = read_table(path, sorted(NEEDED), fix="Run argus traffic again.")
    risk, flag = table["risk_rank"], table["flag"]
    table = table.filter(pc.or_(pc.is_valid(risk), pc.is_valid(flag)))
    keys = [("place", "ascending"), ("asks", "descending"), ("question", "ascending")]
    placed = table.append_column("place", pc.fill_null(table["risk_rank"], 0))
    order = pc.sort_indices(placed, sort_keys=keys)
    rows: Rows = table.take(order[:MAX_QUESTIONS]).to_pylist()
    counts = {"ranked": len(risk) - risk.null_count, "flagged": len(flag) - flag.null_count}
    return {"rows": rows, **counts} if rows else None


@router.get("/page/{folder}/questions/judge")
def judge(page: PageOf, after: Id = "", question: Id = "") -> HTMLResponse:
    """Show the next question to judge after one, or a certain one."""
    live = _live(page)
    box = _box(live, question or live.next_after(after))
    if page.request.headers.get("x-part"):
        return page.part("judge_box.html.j2", **box)
    return page.render("judge.html.j2", **box)


@router.post("/page/{folder}/questions/judge")
def grade(page: PageOf, grading: Grading) -> HTMLResponse:
    """Keep grades in the folder's table, and show the next question."""
    live, documents = _live(page), grading.documents
    rows = _rows(live, grading.question)
    if documents is None:
        documents = [row.document_id for row in rows if row.pair not in live.grades]
    live = live.graded({(grading.question, doc): grading.grade for doc in documents})
    question: str | None = grading.question
    if grading.go_on and live.is_judged(grading.question):
        question = live.next_after(grading.question)
    return page.part("judge_box.html.j2", **_box(live, question))


def _live(page: Page) -> LiveJudging:
    live = None if page.path is None else LiveJudging.of(page.path)
    if live is None:
        got, fix = "nothing was drawn to be judged here", "Draw questions on the page Questions."
        raise refused(page.path, got, "a folder that argus traffic judge wrote", fix)
    return live


def _rows(live: LiveJudging, question: str) -> list[ToGrade]:
    """Return the documents of a drawn question. Raises InputError for one that was not drawn."""
    if rows := live.rows_of(question):
        return rows
    got, expected = f"question {question!r}", "one that was drawn to be judged"
    raise refused("question", got, expected, "Reload the page.")


def _box(live: LiveJudging, question: str | None) -> Values:
    """Return the box of a question: its documents with their grades, and the estimates so far.

    at: place of the document to grade, row, None where all have a grade. number: of the question
    among those drawn. width: half the interval of the failure rate, in words. decided: of a pool,
    what ten, twenty and so on questions decide.
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
    decided = describe_decision(live) if live.draw.is_pool else ""
    return {"summary": summary, "shown": shown, "width": width, "decided": decided}
