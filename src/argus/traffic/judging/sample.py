"""Read questions with their lists, order them by risk, and draw a random sample to judge."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import index
from pathlib import Path
from typing import Any

from argus.data.documents import find_file
from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.reading import WRITTEN, reading
from argus.data.rows import Row, pick_field, read_rows, text_value
from argus.data.runs import ranking
from argus.data.types import Document, Query, Run
from argus.errors import InputError
from argus.traffic.risk import rank_by_risk
from argus.traffic.values import as_number

PLAN = "draw.json"
MAX_ASKS = 1_000_000
"""Asks of a draw. If few questions are nearly all of a log, more tell nothing."""
STEMS = ("questions", "queries")
"""Tables that are looked for in a folder, in this order."""
IDS = ("query_id", "question_id", "_id", "id", "question")
TEXTS = ("text", "question", "query")
SERVED = ("documents", "served")
TIMES = ("asks", "times", "count")
ALIKE, LOOKED_AT = "alike", "looked_at"
"""Columns of `argus traffic`: the question that stands for this one, whether it was examined."""


@dataclass(frozen=True, slots=True)
class ServedQuestion:
    """A question of a log.

    documents: the served ones, best first, with `scores` where these are known. risk: predicted
    probability that none of the first k is relevant, None without a prediction. times: its asks.
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
    nothing. A nearly equal question counts with the one that stands for it. Returns the questions,
    and the number of others, whose results are unknown. Raises InputError, with the line, for a
    question without an id or a text, one that comes twice, a bad risk or count, and a table
    without served documents.
    """
    file = path if path.is_file() else find_file(path, STEMS)
    if file is None:
        expected = f"a file, or {' or '.join(STEMS)} in the folder (JSONL, CSV, TSV, Parquet)"
        fix = "Give the folder that argus traffic wrote, or a file of questions."
        raise InputError("no table of questions", expected=expected, fix=fix, where=path)
    lines: dict[str, Row] = {}
    questions: dict[str, ServedQuestion] = {}
    alike: list[tuple[str, int]] = []
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
        if row.values.get(ALIKE):
            alike.append((str(row.values[ALIKE]), _times(row)))
            continue
        question = _question(id_, row, run)
        if question is None:
            unknown += 1
        else:
            questions[id_] = question
    for id_, times in alike:
        if (one := questions.get(id_)) is not None:
            questions[id_] = replace(one, times=one.times + times)
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
    risk = row.values.get("risk")
    if risk in (None, "") or (isinstance(risk, float) and math.isnan(risk)):  # as Parquet has it
        risk = None
    elif (number := as_number(risk)) is None or not 0 <= number <= 1:
        expected = "a probability from 0 to 1; empty where nothing was predicted"
        fix = "Leave it empty: such questions are drawn as well."
        raise InputError(repr(risk), expected=expected, fix=fix, where=row.at("risk"))
    else:
        risk = number
    return ServedQuestion(id_, text, served[0], risk, _times(row), served[1])


def _served(row: Row) -> tuple[tuple[str, ...], tuple[float, ...]] | None:
    """Return documents and scores of a row, without scores unless every document has one."""

    def listed(value: Any) -> list[Any]:
        if isinstance(value, str):
            return value.split()
        return list(value) if isinstance(value, Iterable) else [value]

    name = pick_field(row, SERVED, what="what was served", option="--run")
    if (value := row.values[name]) is None:
        return None
    ids, items = [], listed(value)
    for one in items:
        id_ = one
        if isinstance(one, Mapping):
            id_ = next((one[name] for name in IDS if name in one), None)
        if not isinstance(id_, str) or not id_:
            got = f"{one!r} in a list of documents"
            expected = "ids as strings, best first, or objects with an id"
            fix = "Write the ids alone."
            raise InputError(got, expected=expected, fix=fix, where=row.at(name))
        ids.append(id_)
    values = [one.get("score") for one in items if isinstance(one, Mapping)]
    values = values or listed(row.values.get("scores") or [])
    numbers = [as_number(value) if isinstance(value, int | float) else None for value in values]
    scores = tuple(number for number in numbers if number is not None)
    once = tuple(dict.fromkeys(ids))
    return once, scores if len(scores) == len(ids) == len(once) else ()


def _times(row: Row) -> int:
    value = next((row.values[n] for n in TIMES if n in row.values), 1)
    number = as_number(value)
    if number is None or not 1 <= number < math.inf or not number.is_integer():
        expected = "how often the question was asked: 1 or more"
        fix = "Correct it, or leave the column out."
        raise InputError(repr(value), expected=expected, fix=fix, where=row.at())
    return int(number)


def digest(questions: Sequence[ServedQuestion], k: int) -> str:
    """Return a fingerprint of a log: ids, texts, counts and served documents to the k-th place.

    Predicted risks are not part of it: the estimate is valid whatever they are worth.
    """
    ordered = sorted(questions, key=lambda q: q.id)
    parts = ((q.id, q.text, str(q.times), "\n".join(q.documents[:k])) for q in ordered)
    return content_hash(str(k), *chain.from_iterable(parts)).hex()


def with_risk(
    questions: Sequence[ServedQuestion], documents: Sequence[Document]
) -> tuple[list[ServedQuestion], dict[str, Any]]:
    """Return the questions with a risk from 0 to 1 each, None for an empty result, and figures.

    Where any has a risk already, all stay as they are. Figures are:

    is_own: whether the order is of the log's own predictions.
    ranked: questions in it.
    flagged: reason to look at questions whatever their rank, to their number.
    """
    known = sum(q.risk is not None for q in questions)
    if known:
        return list(questions), {"is_own": True, "ranked": known, "flagged": {}}
    run = {}
    for q in questions:  # scores, or places where these are not known
        scores = q.scores or [-float(place) for place in range(len(q.documents))]
        run[q.id] = dict(zip(q.documents, scores, strict=True))
    order = rank_by_risk([Query(q.id, q.text) for q in questions], run, documents)
    places, flagged = order.places, dict(Counter(order.flagged.values()))
    ranked = [replace(q, risk=places.get(q.id)) for q in questions]
    return ranked, {"is_own": False, "ranked": len(places), "flagged": flagged}


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
    asks: list[str] = []
    seen: set[str] = set()
    for id_ in _in_random_order(times, seed):
        if (id_ not in seen and len(seen) == budget) or len(asks) == MAX_ASKS:
            break
        seen.add(id_)
        asks.append(id_)
    return Sample(tuple(asks))


def _in_random_order(times: Mapping[str, int], seed: int) -> Iterator[str]:
    """Yield a question per ask, at uniform times that are generated as needed.

    Of m uniform times after t the first is 1 - (1 - t)(1 - u)^(1/m), u uniform.
    """

    def after(id_: str, n: int, time: float) -> float:
        digest = content_hash(str(seed), "judge", id_, str(n), size=7)
        share = int.from_bytes(digest, "big") / (1 << 56)
        return float(1 - (1 - time) * (1 - share) ** (1 / (times[id_] - n)))

    waiting = [(after(id_, 0, 0.0), id_, 0) for id_ in times]
    heapq.heapify(waiting)
    while waiting:
        time, id_, n = waiting[0]
        yield id_
        if n + 1 < times[id_]:
            heapq.heapreplace(waiting, (after(id_, n + 1, time), id_, n + 1))
        else:
            heapq.heappop(waiting)


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
        got = "holds what was drawn from another log, or what was served then"
        expected = "the log and the run that judging began with: grades are of what was served"
        fix = "Give another --out, or begin anew with --fresh."
        raise InputError(got, expected=expected, fix=fix, where=path)
    return drawn
