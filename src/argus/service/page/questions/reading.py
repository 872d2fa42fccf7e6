"""What the page of questions shows of a folder: traffic, clusters nobody meets, likely failures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from typing_extensions import TypedDict

from argus.data.parquet import read_names, read_table
from argus.data.types import State
from argus.errors import InputError
from argus.service.page.rows import Rows
from argus.traffic.judging.job import JOB, TABLE
from argus.traffic.questions import NAME
from argus.traffic.summary import TrafficSummary
from argus.verdict.reading import Results

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SHOWN = 100
"""Questions that are shown, the likeliest to fail first."""


class LikelyFailure(TypedDict):
    """A question by its risk.

    risk_rank: 1 for the likeliest to fail; None where nothing came back.
    flag: why it is to be looked at whatever its rank.
    probability: of failure; None before 30 questions are judged.
    """

    question: str
    text: str
    asks: int
    risk_rank: int | None
    flag: str | None
    probability: float | None
    top: str | None
    unmet: str | None


@dataclass(frozen=True)
class Likely:
    """Questions likely to fail, how many are ordered by risk, and how many are flagged."""

    rows: list[LikelyFailure]
    ranked: int
    flagged: int


class JudgedQuestion(TypedDict):
    """A judged question of a folder. rank: of the first relevant document, None beyond the list.

    wanted: the relevant document; "" where the table names none.
    """

    text: str
    wanted: str
    rank: int | None


@dataclass(frozen=True)
class JudgedQuestions:
    """Judged questions, those that are met worst first, and how many of them are met."""

    rows: list[JudgedQuestion]
    total: int
    met: int


FIRST = 10
"""Results within which a relevant one counts as met."""


def read_judged(folder: Path) -> JudgedQuestions | None:
    """Return the judged questions of a folder as they were asked last; None where there are none.

    Of an evaluation of two systems the second counts; what was wanted, the audit's table says. A
    question without judgements is none of them.
    """
    audit = _table(folder, "questions", ("query_id", "question", "wanted", "rank"))
    evaluation = _table(folder, "per_query", ("query_id", "text", "state", "rank after"))
    evaluation = evaluation or _table(folder, "per_query", ("query_id", "text", "state", "rank"))
    evaluation = [row for row in evaluation if row["state"] == State.MEASURED]
    of = {row["query_id"]: str(row["wanted"]) for row in audit}
    rows: list[JudgedQuestion] = [
        {
            "text": row.get("text") or row["question"],
            "wanted": of.get(row["query_id"], ""),
            "rank": row["rank after"] if "rank after" in row else row["rank"],
        }
        for row in evaluation or audit
    ]
    rows.sort(key=lambda row: -(row["rank"] or 10**9))
    met = sum(row["rank"] is not None and row["rank"] <= FIRST for row in rows)
    return JudgedQuestions(rows[:SHOWN], len(rows), met) if rows else None


def _table(folder: Path, name: str, columns: tuple[str, ...]) -> Rows:
    """Return some columns of a table; no row where it is not there, or lacks one of them."""
    path = folder / f"{name}.parquet"
    if not path.is_file() or not set(columns) <= read_names(path):
        return []
    rows: Rows = read_table(path, columns).to_pylist()
    return rows


def read_traffic(folder: Path) -> TrafficSummary | None:
    """Return what was measured of a log; None where none was. InputError for a damaged file."""
    return Results.of(folder).section("traffic", TrafficSummary)


def likely_failures(folder: Path) -> Likely | None:
    """Return the questions of a log that are likeliest to fail, those without an answer first.

    None without an order. Raises InputError for a table that cannot be read.
    """
    import duckdb

    path = folder / NAME
    if not path.is_file():
        return None
    judged = folder / f"{JOB}.parquet"
    with duckdb.connect(":memory:", config={"autoinstall_known_extensions": False}) as sql:
        try:
            sql.read_parquet(str(path)).create_view("questions")
            if not {"question", "text", "asks", "risk_rank", "flag", "top", "unmet"} <= _columns(
                sql, "questions"
            ):
                return None
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
                [SHOWN],
            )
            names = [column[0] for column in cursor.description or ()]
            rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
        except duckdb.Error as error:
            raise InputError(
                f"cannot be read ({str(error).splitlines()[0]})",
                expected="the table as Argus wrote it", fix="Run argus traffic again.", where=path,
            ) from error  # fmt: skip
    return Likely(rows, ranked, flagged) if rows else None  # type: ignore[arg-type]


def _columns(sql: DuckDBPyConnection, view: str) -> set[str]:
    return {row[0] for row in sql.execute(f"DESCRIBE {view}").fetchall()}


def has_draw(folder: Path) -> bool:
    """Return whether questions were drawn there to be judged."""
    return (folder / TABLE).is_file()
