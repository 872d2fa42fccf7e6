"""Draw a random sample of a log's questions, and estimate from their grades how often search fails.

The statistics of `argus traffic judge` (`argus.traffic.judging`). `draw_sample`: counts of
questions -> the questions to judge. `estimate_failures`: their grades -> failure rate, hits@k and
nDCG@k over all asks, with 95% intervals. The lines and the report section of the command are here.
Every ask of the log is equally likely to be drawn: risk plays no part in that.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import index
from pathlib import Path
from statistics import median_low
from typing import Any

import pyarrow as pa

from argus.data.documents import find_file
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import WRITTEN, reading
from argus.data.rows import Row, pick_field, read_rows, text_value
from argus.data.runs import ranking
from argus.data.types import Document, Query, Run, State
from argus.errors import InputError
from argus.measures.intervals import discrimination, nominal_alpha, share_words, wilson
from argus.reports.section import Section, table
from argus.traffic.config import JudgingConfig
from argus.traffic.grades import Pair, ToGrade
from argus.traffic.risk import rank_by_risk
from argus.traffic.values import as_number

PLAN = "draw.json"
# Asks of a draw. If few questions are nearly all of a log, more tell nothing.
MAX_ASKS = 1_000_000
# Tables that are looked for in a folder, in this order.
STEMS = ("questions", "queries")
IDS = ("query_id", "question_id", "_id", "id", "question")
TEXTS = ("text", "question", "query")
SERVED = ("documents", "served")
TIMES = ("asks", "times", "count")
# Column of `argus traffic`: whether a question was examined.
LOOKED_AT = "looked_at"
FAILURE, HITS, NDCG = "failure rate", "hits@k", "nDCG@k"
"""Estimated measures. hits@k is 1 less the failure rate."""
# Judged questions below which an estimate is called a first look.
MIN_SURE = 20
NO_GRADE = "a document of it has no grade"
PEOPLE = "people"
# One row per question whose results are known, drawn or not. asks: number of asks. served: number
# of documents that came back. risk: its place by risk, 1 for the likeliest to fail: an order.
# drawn: whether it is to be judged. failure: 1 where nothing relevant came, else 0. Null where not
# judged. ndcg: nDCG of the served documents, from 0 to 1.
JUDGING = pa.schema(
    [
        ("query_id", pa.string()), ("asks", pa.int64()), ("served", pa.int64()),
        ("risk", pa.float64()), ("drawn", pa.bool_()),
        ("state", pa.string()), ("failure", pa.float64()), ("ndcg", pa.float64()),
    ]
)  # fmt: skip
Verdict = tuple[float, float]
"""Failure (1 or 0) and nDCG of a judged question, over its served documents."""


@dataclass(frozen=True, slots=True)
class ServedQuestion:
    """A question of a log.

    documents: the served ones, best first, with `scores` where these are known. risk: its place by
    risk, 1 for the likeliest to fail, None where it has none. times: its asks.
    """

    id: str
    text: str
    documents: tuple[str, ...]
    risk: float | None = None
    times: int = 1
    scores: tuple[float, ...] = ()


def read_served(path: Path, run: Run | None = None) -> tuple[list[ServedQuestion], int]:
    """Read questions from a table, or from the one in a folder (STEMS, and the columns above).

    run: the served documents, for a table without them. A question that it lacks was served
    nothing. Returns the questions, and the number of others, whose results are unknown. Raises
    InputError, with the line, for a question without an id or a text, one that comes twice, a bad
    count, and a table without served documents.
    """
    file = path if path.is_file() else find_file(path, STEMS)
    if file is None:
        expected = f"a file, or {' or '.join(STEMS)} in the folder (JSONL, CSV, TSV, Parquet)"
        fix = "Give the folder that argus traffic wrote, or a file of questions."
        raise InputError("no table of questions", expected=expected, fix=fix, where=path)
    lines: dict[str, Row] = {}
    questions: dict[str, ServedQuestion] = {}
    unknown = 0
    for row in read_rows(file):
        id_ = str(row.values[pick_field(row, IDS, what="id")] or "").strip()
        if not id_:
            raise InputError("no id", expected="a question's id", fix="Fill it in.", where=row.at())
        if id_ in lines:
            got = f"question {id_!r} comes twice, first in {lines[id_].at()}"
            expected = "each question once, with a count of how often it was asked"
            fix = "Leave one of the two lines out."
            raise InputError(got, expected=expected, fix=fix, where=row.at())
        lines[id_] = row
        question = _question(id_, row, run)
        if question is None:
            unknown += 1
        else:
            questions[id_] = question
    return list(questions.values()), unknown


def _question(id_: str, row: Row, run: Run | None) -> ServedQuestion | None:
    """Return a question, None where its results are unknown."""
    if row.values.get(LOOKED_AT) is False:
        return None
    if run is None:
        served = _served(row)
    else:
        scores = run.get(id_, {})
        ids = ranking(dict(scores))
        served = tuple(ids), tuple(scores[id_] for id_ in ids)
    if served is None:
        return None
    text = text_value(row, pick_field(row, TEXTS, what="text")).strip()
    if not text:
        got = f"question {id_!r} has no text"
        expected = "its words: judges must read it"
        fix = "Fill it in. Of a log that was read with --hash-only nothing can be judged."
        raise InputError(got, expected=expected, fix=fix, where=row.at())
    value = next((row.values[n] for n in TIMES if n in row.values), 1)
    times = as_number(value)
    if times is None or not 1 <= times < math.inf or not times.is_integer():
        expected = "how often the question was asked: 1 or more"
        fix = "Correct it, or leave the column out."
        raise InputError(repr(value), expected=expected, fix=fix, where=row.at())
    return ServedQuestion(id_, text, served[0], times=int(times), scores=served[1])


def _served(row: Row) -> tuple[tuple[str, ...], tuple[float, ...]] | None:
    """Return documents and scores of a row, without scores unless every document has one."""

    def listed(value: Any) -> list[Any]:
        if isinstance(value, str):
            return value.split()
        return list(value) if isinstance(value, Iterable) else [value]

    name = pick_field(row, SERVED, what="what was served", option="--run")
    if row.values[name] is None:
        return None
    ids = listed(row.values[name])
    for one in ids:
        if not isinstance(one, str) or not one:
            got, expected = f"{one!r} in a list of documents", "ids as strings, best first"
            fix = "Write the ids alone."
            raise InputError(got, expected=expected, fix=fix, where=row.at(name))
    numbers = map(as_number, listed(row.values.get("scores") or []))
    scores = tuple(number for number in numbers if number is not None)
    once = tuple(dict.fromkeys(ids))
    return once, scores if len(scores) == len(ids) == len(once) else ()


def digest(questions: Sequence[ServedQuestion], k: int, seed: int) -> str:
    """Return a fingerprint of a draw: ids, texts, counts, documents to the k-th place, seed."""
    ordered = sorted(questions, key=lambda q: q.id)
    parts = ((q.id, q.text, str(q.times), "\n".join(q.documents[:k])) for q in ordered)
    return content_hash(str(k), str(seed), *chain.from_iterable(parts)).hex()


def with_risk(
    questions: Sequence[ServedQuestion], documents: Sequence[Document]
) -> tuple[list[ServedQuestion], dict[str, Any]]:
    """Return the questions with a risk from 0 to 1 each, None for an empty result, and figures.

    ranked: questions in the order.
    flagged: reason to look at questions whatever their rank, to their number.
    """
    run = {}
    for q in questions:  # scores, or places where these are not known
        scores = q.scores or [-float(place) for place in range(len(q.documents))]
        run[q.id] = dict(zip(q.documents, scores, strict=True))
    order = rank_by_risk([Query(q.id, q.text) for q in questions], run, documents)
    places, flagged = order.places, dict(Counter(order.flagged.values()))
    ranked = [replace(q, risk=places.get(q.id)) for q in questions]
    return ranked, {"ranked": len(places), "flagged": flagged}


@dataclass(frozen=True)
class Sample:
    """Drawn asks of a log in their order, each by its question.

    asks: up to the last one before the first question beyond the budget.
    """

    asks: tuple[str, ...]

    @property
    def questions(self) -> list[str]:
        """The questions to judge, in the order of the draw."""
        return list(dict.fromkeys(self.asks))

    def judged_asks(self, judged: Collection[str]) -> list[str]:
        """Return the asks of judged questions, up to the next question after the last of these."""
        order = self.questions
        last = max((i for i, id_ in enumerate(order) if id_ in judged), default=-1)
        end = self.asks.index(order[last + 1]) if last + 1 < len(order) else len(self.asks)
        return [id_ for id_ in self.asks[:end] if id_ in judged]

    def skipped(self, judged: Collection[str]) -> int:
        """Return the number of questions that were passed over before the last judged one."""
        places = [i for i, id_ in enumerate(self.questions) if id_ in judged]
        return places[-1] + 1 - len(places) if places else 0


def draw_sample(times: Mapping[str, int], budget: int, seed: int) -> Sample:
    """Draw asks without replacement until they are of `budget` questions, every ask as likely.

    times: number of asks by question. The draw depends on ids and seed: a larger budget contains a
    smaller one.
    """

    def after(id_: str, n: int, time: float) -> float:
        """Return the first of m uniform times after t: 1 - (1 - t)(1 - u)^(1/m), u uniform."""
        digest = content_hash(str(seed), "judge", id_, str(n), size=7)
        share = int.from_bytes(digest, "big") / (1 << 56)
        return float(1 - (1 - time) * (1 - share) ** (1 / (times[id_] - n)))

    asks: list[str] = []
    seen: set[str] = set()
    waiting = [(after(id_, 0, 0.0), id_, 0) for id_ in times]
    heapq.heapify(waiting)
    while waiting and len(asks) < MAX_ASKS:
        time, id_, n = waiting[0]
        if id_ not in seen and len(seen) == budget:
            break
        seen.add(id_)
        asks.append(id_)
        if n + 1 < times[id_]:
            heapq.heapreplace(waiting, (after(id_, n + 1, time), id_, n + 1))
        else:
            heapq.heappop(waiting)
    return Sample(tuple(asks))


def read_sample(folder: ArtifactFolder, log: str | None = None) -> tuple[int, int] | None:
    """Return number of questions and seed of an earlier draw, None without one.

    log: its digest. None accepts any log. Raises InputError for the draw of another log.
    """
    value, path = folder.read_json(PLAN), folder / PLAN
    if not value:
        return None
    with reading(path, "is damaged", expected="the draw as Argus wrote it", fix=WRITTEN):
        drawn_from, drawn = value["log"], (index(value["questions"]), index(value["seed"]))
    if log is not None and drawn_from != log:
        got = "holds what was drawn from another log, with another seed, or what was served then"
        expected = "the log, run and seed that judging began with: grades are of what was served"
        fix = "Give another --out, or begin anew with --fresh."
        raise InputError(got, expected=expected, fix=fix, where=path)
    return drawn


def verdict(grades: Sequence[int], relevant_from: int) -> Verdict:
    """Judge a question by the grades of its served documents, best ranked first.

    It fails where no grade reaches `relevant_from`, and where nothing was served. The gain of nDCG
    is the grade. Its ideal is the same documents in their best order: it knows nothing of relevant
    documents that were not served.
    """

    def dcg(gains: Sequence[int]) -> float:
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    gains = [grade if grade >= relevant_from else 0 for grade in grades]
    best = dcg(sorted(gains, reverse=True))
    return float(not any(gains)), dcg(gains) / best if best else 0.0


def estimate_failures(
    questions: Sequence[ServedQuestion], sample: Sample, verdicts: Mapping[str, Verdict]
) -> list[dict[str, Any]]:
    """Return failure rate, hits@k and nDCG@k over all asks, with 95% intervals.

    The mean over the drawn asks of judged questions, with Wilson's interval. Its number of asks is
    corrected for a finite log: n(N - 1)/(N - n). questions: all of the log. One that was served
    nothing failed, without a judge. verdicts: of judged ones. Without any there is no estimate.
    """
    own = [verdicts[id_] for id_ in sample.judged_asks(verdicts)]
    if not own:
        return []
    n, asks = len(own), sum(q.times for q in questions)
    served = sum(q.times for q in questions if q.documents)
    failure, ndcg = (sum(column) / n for column in zip(*own, strict=True))
    rows = []
    for measure, mean, unserved in ((FAILURE, failure, 1), (HITS, 1 - failure, 0), (NDCG, ndcg, 0)):
        ends: tuple[float, ...] = (mean, mean)
        if n != served:
            ends = tuple(map(float, wilson(mean, n * (served - 1) / (served - n))))
        mean, low, high = (
            (served * end + (asks - served) * unserved) / asks for end in (mean, *ends)
        )
        row = {"measure": measure, "mean": mean, "low": low, "high": high}
        counts = {"judged": len(verdicts), "questions": len(questions), "is_count": n == served}
        rows.append(row | counts)
    return rows


@dataclass(frozen=True)
class Draw:
    """Questions to judge. rows: documents to grade, in display order.

    is_pool: the documents are of several retrievers, so that no estimate is of any of them.
    """

    questions: Sequence[ServedQuestion]
    sample: Sample
    rows: Sequence[ToGrade]
    is_pool: bool = False

    @property
    def drawn(self) -> list[str]:
        """Questions to judge, in their order."""
        return list(dict.fromkeys(row.question_id for row in self.rows))


@dataclass(frozen=True)
class Grades:
    """All grades of each document.

    judges: the number of documents that each judge graded. failed: why a model gave no grade.
    """

    of: Mapping[Pair, tuple[int, ...]]
    judges: Mapping[str, int]
    failed: Mapping[Pair, str]


def judging_summary(
    draw: Draw,
    config: JudgingConfig,
    grades: Grades,
    unknown: int,
    order: Mapping[str, Any],
    table: Path,
) -> dict[str, Any]:
    """Return the section of summary.json, see `JudgingResult`.

    unknown: questions whose results nobody knows. order: see `with_risk`.
    """
    verdicts, failed = _verdicts(draw, config, grades)
    known = {q.id: q.risk for q in draw.questions if q.id in verdicts and q.risk is not None}
    failing = [verdicts[id_][0] > 0.5 for id_ in known]
    reasons, drawn = Counter(failed.values()), draw.drawn
    if waiting := len(drawn) - len(verdicts) - len(failed):
        reasons[NO_GRADE] = waiting
    several = [votes for votes in grades.of.values() if len(votes) > 1]
    units = [[str(grade >= config.relevant_from) for grade in votes] for votes in several]
    judge = next(iter(grades.judges), PEOPLE)
    if len(grades.judges) > 1:
        judge = " and ".join(f"{name} ({n:,} documents)" for name, n in grades.judges.items())
    return {
        "questions": len(draw.questions),
        "asked": sum(q.times for q in draw.questions),
        "unknown": unknown,
        "nothing_served": sum(not q.documents for q in draw.questions),
        "risk": {**order, "here": discrimination([*known.values()], failing) if known else None},
        "budget": config.budget,
        "k": config.k,
        "relevant_from": config.relevant_from,
        "documents": len(draw.rows),
        "graded": len(grades.of),
        "judge": judge,
        "judges": dict(grades.judges),
        "judged": {
            "total": len(drawn),
            "measured": len(verdicts),
            "failed": len(failed),
            "not applicable": waiting,
            "reasons": dict(reasons),
        },
        "skipped": draw.sample.skipped(verdicts),
        "is_pool": draw.is_pool,
        "estimates": []
        if draw.is_pool
        else estimate_failures(draw.questions, draw.sample, verdicts),
        "agreement": {
            "documents": len(units),
            "equal": sum(len(set(unit)) == 1 for unit in units) / len(units) if units else None,
            "alpha": nominal_alpha(units),
        },
        "table": str(table),
    }


def _verdicts(
    draw: Draw, config: JudgingConfig, grades: Grades
) -> tuple[dict[str, Verdict], dict[str, str]]:
    """Return verdicts of questions whose documents are all graded, and why others failed."""
    verdicts: dict[str, Verdict] = {}
    failed: dict[str, str] = {}
    by_id = {q.id: q for q in draw.questions}
    for id_ in draw.drawn:
        pairs = [(id_, doc) for doc in by_id[id_].documents[: config.k]]
        if all(pair in grades.of for pair in pairs):
            medians = [median_low(grades.of[pair]) for pair in pairs]
            verdicts[id_] = verdict(medians, config.relevant_from)
        elif reasons := [grades.failed[pair] for pair in pairs if pair in grades.failed]:
            failed[id_] = reasons[0]
    return verdicts, failed


def judging_table(draw: Draw, config: JudgingConfig, grades: Grades) -> pa.Table:
    """Return a table of JUDGING."""
    verdicts, _ = _verdicts(draw, config, grades)
    drawn = set(draw.drawn)
    rows: list[tuple[Any, ...]] = []
    for q in draw.questions:
        state = State.FAILED if q.id in drawn else State.NOT_APPLICABLE
        state = State.MEASURED if q.id in verdicts else state
        known = (q.id, q.times, len(q.documents), q.risk, q.id in drawn)
        rows.append((*known, state.value, *verdicts.get(q.id, (None, None))))
    return pa.table([*zip(*rows, strict=True)], schema=JUDGING)


def headline(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield the draw, the estimates, and the next step."""
    yield (
        f"{summary['judged']['total']:,} of {summary['questions']:,} questions drawn, "
        f"{summary['judged']['measured']:,} judged by {summary['judge']} ({summary['graded']:,} of "
        f"{summary['documents']:,} documents graded)"
    )
    if summary["unknown"]:
        yield f"not in any figure: {summary['unknown']:,} questions with unknown results"
    order = summary["risk"]
    flagged = "".join(f"; flagged: {n:,}, {why}" for why, n in order["flagged"].items())
    yield f"{order['ranked']:,} questions are ordered by risk, which tells no rate{flagged}"
    if here := order["here"]:
        yield (
            f"that order, measured here: AUC {here['auc']:.2f} ({here['low']:.2f} to "
            f"{here['high']:.2f}) for the failure of {here['n']:,} judged questions"
        )
    for why, n in summary["judged"]["reasons"].items():
        yield f"not judged: {n:,}, {why}"
    for one in summary["estimates"]:
        name = one["measure"].replace("@k", f"@{summary['k']}")
        if one["is_count"]:
            yield f"{name}: {one['mean']:.1%}, all {one['questions']:,} questions judged"
        else:
            text = share_words(one, "mean")
            yield f"{name}: {text}, from {one['judged']:,} of {one['questions']:,} questions"
    if summary["skipped"]:
        yield (
            f"{summary['skipped']:,} drawn questions were passed over: the interval holds only if "
            "they are like the others. Grade them first."
        )
    if not summary["estimates"]:
        yield (
            f"Next: grade each row of {summary['table']} from 0 to 3 (from "
            f"{summary['relevant_from']} on it counts as relevant), then run the same command."
        )
    elif summary["estimates"][0]["is_count"]:
        yield "Nothing is left to judge: these are counts, not estimates."
    else:
        judged, n = summary["judged"]["measured"], summary["estimates"][0]["questions"]
        more = math.ceil(1 / ((1 / judged - 1 / n) / 4 + 1 / n))  # width² goes with 1/judged - 1/n
        first = "A first look. " if judged < MIN_SURE else ""
        yield f"{first}For an interval half as wide judge about {more:,}: --budget {more}."


def section(folder: Path, summary: Mapping[str, Any]) -> Section:
    """Build the report's section from summary.json alone."""
    brief = "judged for argus tune judge" if summary.get("is_pool") else "no question is judged yet"
    rows = []
    for one in summary["estimates"]:
        name = one["measure"].replace("@k", f"@{summary['k']}")
        interval = f"{one['low']:.3f} to {one['high']:.3f}"
        rows.append([name, one["mean"], interval, one["judged"], one["questions"]])
    if rows:
        brief = f"of what is asked fails {share_words(summary['estimates'][0], 'mean')}"
    columns = {
        "measure": "text", "mean": "share", "95% interval": "text", "judged": "count",
        "questions": "count",
    }  # fmt: skip
    return Section({}, {"judging_estimates": table(columns, rows)}, brief)
