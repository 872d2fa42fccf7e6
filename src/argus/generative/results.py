"""Store and export the ranked passages of `argus research generative search` (SEAL, MINDER).

An `Answer` is the passages found for one question, each with the n-grams that found it.
`AnswerFile` appends a line per question to answers.jsonl, so that a killed search goes on, and
refuses the file of another search. `write_results` writes run.trec (run.json where ids hold spaces)
and dpr.json, and returns the path by format. `questions_table` and `view_shares` feed the report.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from argus.data.documents import DprPassage, DprResult, write_dpr
from argus.data.folders import ArtifactFolder
from argus.data.reading import parse_json, reading
from argus.data.runs import ranking, write_run
from argus.data.types import Document, Qrels, Query, Topic
from argus.errors import InputError


class HitKey(NamedTuple):
    """An n-gram by which a passage was found: its text, corpus count, weight, and view."""

    text: str
    count: int  # type: ignore[assignment]
    weight: float
    view: str


class Hit(NamedTuple):
    """A passage that was found. title, text: as the index's tokens say."""

    doc_id: str
    score: float
    title: str
    text: str
    keys: list[HitKey]


@dataclass(frozen=True)
class Answer:
    """The passages found for one question, best first."""

    query_id: str
    hits: list[Hit] = field(default_factory=list)

    def scores(self) -> dict[str, float]:
        """Return document id to score."""
        return {hit.doc_id: hit.score for hit in self.hits}


FILE = "answers.jsonl"


class AnswerFile:
    """Answers of one search, by question. Questions of other searches are refused.

    settings: all that decides an answer. Plain values. border: its text. A question counts as
    answered when its id and its text are those of a line. The last of several lines counts.
    """

    def __init__(self, path: Path, settings: Mapping[str, object], border: str) -> None:
        self.path, self.border = path, border
        self.settings: dict[str, object] = json.loads(json.dumps(settings))
        self._places: dict[tuple[str, str], int] = {}
        self._end = 0  # of the last whole line

    def check(self) -> None:
        """Find the answered questions. Raises InputError if the file holds another search."""
        if not self.path.is_file():
            return
        with self.path.open("rb") as file:
            header = file.readline()
            if not header.endswith(b"\n"):
                return  # killed before there was one
            with _reading(self.path):
                stored = parse_json(header)["settings"]
                names = [*self.settings, *(name for name in stored if name not in self.settings)]
            other = [name for name in names if stored.get(name) != self.settings.get(name)]
            if other:
                different = ", ".join(
                    f"{name} ({stored.get(name)!r:.40}, now {self.settings.get(name)!r:.40})"
                    for name in other
                )
                raise InputError(
                    f"holds answers of another search; different: {different}",
                    expected="the same search as before, or a folder of its own",
                    fix="Give another --out, or start over with --fresh.",
                    where=self.path,
                )
            self._end = len(header)
            for line in file:
                if not line.endswith(b"\n"):
                    return  # cut by a kill
                query, _ = _read(self.path, line)
                self._places[query.id, query.text] = self._end
                self._end += len(line)

    def __contains__(self, query: Query) -> bool:
        """Return whether a question is answered."""
        return (query.id, query.text) in self._places

    @contextmanager
    def appending(self) -> Iterator[Callable[[Query, Answer], None]]:
        """Yield a function that adds answers. A line cut by a kill is removed first."""
        with self.path.open("r+b" if self.path.is_file() else "w+b") as file:
            file.truncate(self._end)
            if not file.seek(0, 2):
                file.write(_line({"settings": self.settings, "border": self.border}))

            def add(query: Query, answer: Answer) -> None:
                place = file.tell()
                hits = [hit._asdict() for hit in answer.hits]
                file.write(_line({"query_id": query.id, "question": query.text, "hits": hits}))
                file.flush()
                self._places[query.id, query.text] = place

            yield add

    def read(self, query: Query) -> Answer:
        """Return the answer to a question that is answered."""
        with self.path.open("rb") as file:
            file.seek(self._places[query.id, query.text])
            return _read(self.path, file.readline())[1]


def _read(path: Path, line: bytes) -> tuple[Query, Answer]:
    """Return the question of a line, and its answer."""
    with _reading(path):
        row = parse_json(line)
        hits = [
            Hit(
                hit["doc_id"], float(hit["score"]), hit["title"], hit["text"],
                [HitKey(*key) for key in hit["keys"]],
            )
            for hit in row["hits"]
        ]  # fmt: skip
        return Query(row["query_id"], row["question"]), Answer(row["query_id"], hits)


def _reading(path: Path) -> AbstractContextManager[None]:
    return reading(
        path,
        expected="answers as `argus research generative search` wrote them",
        fix="Start over with --fresh, or give another --out.",
    )


def _line(row: Mapping[str, object]) -> bytes:
    return (json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")


TABLE = "generative_search"
RUN, RUN_JSON, DPR = "run.trec", "run.json", "dpr.json"
# N-grams shown of the first hit, in the table of questions.
SHOWN_KEYS = 5
# Hits of each question that the views' shares of the score are taken over.
SHARED_HITS = 10


@dataclass(frozen=True)
class Results:
    """Answers in the order of their questions, read anew in each loop.

    originals: documents by id, whose own texts are shown. Empty where there are only tokens.
    judged: grades of documents by query id, whose relevant ones go into the DPR JSON.
    """

    topics: Sequence[Topic]
    answer: Callable[[Topic], Answer]
    originals: Mapping[str, Document]
    judged: Qrels = field(default_factory=dict)

    def __iter__(self) -> Iterator[tuple[Topic, Answer]]:
        """Yield every question with its answer."""
        for topic in self.topics:
            yield topic, self.answer(topic)

    def dpr(self) -> Iterator[DprResult]:
        """Yield every question with its passages."""
        for topic, answer in self:
            passages = tuple(
                DprPassage(
                    hit.doc_id, *shown(hit, self.originals), hit.score,
                    tuple((key.text, key.count, key.weight) for key in hit.keys),
                )
                for hit in answer.hits
            )  # fmt: skip
            grades = self.judged.get(topic.query.id, {})
            found = [
                self.originals.get(d, Document(d, "")) for d, grade in grades.items() if grade > 0
            ]
            positives = [{"title": d.title, "text": d.text, "passage_id": d.id} for d in found]
            given = {"positive_ctxs": positives} if positives else {}
            yield DprResult(replace(topic, given={**topic.given, **given}), passages)


def shown(hit: Hit, originals: Mapping[str, Document]) -> tuple[str, str]:
    """Return title and text of a passage: of its document if that is given, else by tokens."""
    original = originals.get(hit.doc_id)
    return (hit.title, hit.text) if original is None else (original.title, original.text)


def write_results(results: Results, folder: ArtifactFolder) -> dict[str, str]:
    """Write the results as DPR JSON and as a run. Return the files by format.

    A run whose ids hold white space, which no TREC file can, is written as JSON.
    """
    dpr = write_dpr(folder.own(DPR), results.dpr())
    run = {t.query.id: answer.scores() for t, answer in results}
    ids = (*run, *(doc for scores in run.values() for doc in scores))
    if all(id_.split() == [id_] for id_ in ids):
        write_run(folder.own(RUN), run)
        name, other = RUN, RUN_JSON
    else:
        ranked = {query: {d: scores[d] for d in ranking(scores)} for query, scores in run.items()}
        folder.write_json(RUN_JSON, ranked)
        name, other = RUN_JSON, RUN
    (folder / other).unlink(missing_ok=True)
    return {"dpr": str(dpr), "run": str(folder / name)}


def questions_table(results: Results) -> pa.Table:
    """Return one row per question of a generative model.

    hits: passages that came back.
    first: id of the first one. Null without any.
    title: its title.
    score: its score.
    keys: its five heaviest n-grams, parted by " · ".
    n_keys: n-grams that it was found by.
    """
    rows: list[dict[str, Any]] = []
    for topic, answer in results:
        row: dict[str, Any] = {"query_id": topic.query.id, "question": topic.query.text}
        row |= {"hits": len(answer.hits), "n_keys": 0}
        for hit in answer.hits[:1]:
            row |= {"first": hit.doc_id, "title": shown(hit, results.originals)[0]}
            heaviest = " · ".join(key.text.strip() for key in hit.keys[:SHOWN_KEYS])
            row |= {"score": hit.score, "keys": heaviest, "n_keys": len(hit.keys)}
        rows.append(row)
    schema = pa.schema(
        {
            "query_id": pa.string(), "question": pa.string(), "hits": pa.int64(),
            "first": pa.string(), "title": pa.string(), "score": pa.float64(),
            "keys": pa.string(), "n_keys": pa.int64(),
        }
    )  # fmt: skip
    return pa.Table.from_pylist(rows, schema)


def view_shares(results: Results) -> dict[str, float]:
    """Return each view's share of the weights that make the scores of the first hits."""
    sums: defaultdict[str, float] = defaultdict(float)
    for _, answer in results:
        for hit in answer.hits[:SHARED_HITS]:
            for key in hit.keys:
                sums[key.view] += key.weight
    total = sum(sums.values())
    return {view: round(w / total, 4) for view, w in sorted(sums.items())} if total else {}
