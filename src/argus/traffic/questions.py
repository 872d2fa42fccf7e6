"""Examine the different questions of a log: their risk of failure, and clusters of unmet demand.

The last step of `argus traffic audit`. Out: questions.parquet, and a table of clusters. A question
is unmet by bad feedback, by an empty list, or, more weakly, by its risk (`argus.traffic.risk`).
Unmet questions are clustered by their words, and the clusters named.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from argus.algorithms import average_linkage
from argus.data.folders import ArtifactFolder
from argus.data.types import Document, Query
from argus.data.writing import replacing
from argus.indexes.lexical import LexicalIndex, stems
from argus.measures import content_words
from argus.retrievers.protocol import Answers
from argus.traffic.book import ANSWERED, LOGGED, LogBook
from argus.traffic.exchange import Passage
from argus.traffic.risk import DEPTH, NOTHING, rank_by_risk

NAME = "questions.parquet"
AT_ONCE = 50_000
BAD, RISK = "bad feedback", "first by risk"
# Questions that are clustered at once: all pairs are compared.
MAX_COMPARED = 2_000
# Mean cosine distance from which two clusters are two things.
APART = 0.85
# Different words of one question that are looked at.
MAX_WORDS = 400
MAX_EXAMPLES, MAX_PLACES, MAX_SHOWN, NAMING_WORDS = 3, 3, 20, 4
# Characters of a question in an example.
MAX_CHARS = 200
# One row per different question of a log. question: its id in all tables. text: its words,
# redacted. Null where only hashes are stored. asks: number of asks. good, bad: good, bad feedback
# on it. clicks: clicks on its results. first_asked, last_asked: times, UTC. looked_at: whether it
# was examined. source: source of its results: log or asked. failure: why the retriever did not
# answer it. results: number of results. Null where it is unknown. top: id of the first. nearest: id
# of the document of the corpus that BM25 puts first. unmet: why it is unmet. Null for others.
# risk_rank: its place by risk, 1 for the likeliest to fail: an order, no probability. flag: why you
# should look at it whatever its rank: no results, or words that the corpus lacks. documents: ids of
# its results, best first. scores: their scores.
QUESTIONS = pa.schema(
    [
        ("question", pa.string()), ("text", pa.string()), ("asks", pa.int64()),
        ("good", pa.int64()), ("bad", pa.int64()), ("clicks", pa.int64()),
        ("first_asked", pa.timestamp("s", "UTC")), ("last_asked", pa.timestamp("s", "UTC")),
        ("looked_at", pa.bool_()), ("source", pa.string()), ("failure", pa.string()),
        ("results", pa.int64()), ("top", pa.string()), ("nearest", pa.string()),
        ("unmet", pa.string()), ("risk_rank", pa.int64()), ("flag", pa.string()),
        ("documents", pa.list_(pa.string())), ("scores", pa.list_(pa.float64())),
    ]
)  # fmt: skip


@dataclass(slots=True)
class LookedAt:
    """A question, and the findings on it. Fields as in QUESTIONS.

    text: redacted, None where only hashes are stored. results: ids and scores of its latest list,
    best first. why: criteria by which it is unmet.
    """

    id: int
    text: str | None
    asks: int
    results: list[tuple[str, float | None]] | None = None
    source: int = 0
    failure: str = ""
    good: int = 0
    bad: int = 0
    nearest: str | None = None
    risk_rank: int | None = None
    flag: str = ""
    why: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its id in the tables."""
        return f"q{self.id & (1 << 64) - 1:016x}"


def draw_questions(book: LogBook, n: int, k: int) -> list[LookedAt]:
    """Draw n different questions, each with its feedback and the first k of its latest list.

    Questions are ordered by their hashes, which is as good as at random.
    """
    rows = book.rows("SELECT id, text, n FROM questions ORDER BY id LIMIT ?", n)
    questions = [LookedAt(*row) for row in rows]
    for one in questions:
        one.good, one.bad = book.one(
            "SELECT COALESCE(SUM(good), 0), COALESCE(SUM(bad), 0) FROM asks WHERE question = ?",
            one.id,
        )
        latest = book.rows(
            "SELECT results FROM asks JOIN lists ON list = lists.id WHERE question = ? "
            "ORDER BY asks.rowid DESC LIMIT 1",
            one.id,
        )
        for (results,) in latest:
            one.source = LOGGED
            one.results = [(id_, score) for id_, score in json.loads(results)[:k]]
    return questions


def put_answers(book: LogBook, queried: Sequence[LookedAt], answers: Answers) -> None:
    """Store a retriever's answers for asks without a list."""
    lists: list[tuple[int, int, int]] = []
    for one in queried:
        if one.name in answers.run:
            one.results, one.source = list(answers.run[one.name].items()), ANSWERED
            list_ = book.put_list(Passage(id_, score) for id_, score in one.results)
            lists.append((list_, ANSWERED, one.id))
        else:
            one.failure = answers.failed.get(one.name, "not answered")
    book.flush()
    book.do("BEGIN")
    book.do_all("UPDATE asks SET list = ?, source = ? WHERE question = ? AND list IS NULL", lists)
    book.do("COMMIT")


def measure_risk(
    questions: Sequence[LookedAt], documents: Sequence[Document]
) -> dict[str, Any] | None:
    """Fill in nearest document and rank by risk. None without a corpus, or without known lists.

    Places replace scores if one is missing.

    ranked: questions in the order.
    flagged: reason to look at questions whatever their rank, to their number.
    """
    asking = [one for one in questions if one.text]
    if not documents or not asking:
        return None
    index = LexicalIndex.build([d.id for d in documents], [d.content for d in documents])
    names = [one.name for one in asking]
    second = index.search([one.text or "" for one in asking], DEPTH).run(names)
    for one in asking:
        one.nearest = next(iter(second[one.name]), None)
    known = [one for one in asking if one.results is not None]
    if not known:
        return None
    run = {}
    for one in known:
        results = one.results or []
        places = any(score is None for _, score in results)
        run[one.name] = {
            id_: -float(place) if places else float(score or 0)
            for place, (id_, score) in enumerate(results)
        }
    queries = [Query(one.name, one.text or "") for one in known]
    risk = rank_by_risk(queries, run, documents, second=second)
    rank = {id_: i for i, id_ in enumerate(risk.order, 1)}
    for one in known:
        one.risk_rank, one.flag = rank.get(one.name), risk.flagged.get(one.name, "")
    return {"ranked": len(rank), "flagged": dict(Counter(risk.flagged.values()))}


def write_questions(folder: ArtifactFolder, book: LogBook, looked_at: Iterable[LookedAt]) -> None:
    """Write questions.parquet row by row: there may be millions. `judge_traffic` reads it."""
    known = {one.id: one for one in looked_at}
    query = (
        "SELECT questions.id, text, n, SUM(good), SUM(bad), SUM(clicks), MIN(at), MAX(at) "
        "FROM questions JOIN asks ON question = questions.id GROUP BY questions.id"
    )

    def row(id_: int, text: str | None, n: int, *sums: Any) -> tuple[Any, ...]:
        one, (*feedback, first, last) = known.get(id_) or LookedAt(id_, text, n), sums
        source = {LOGGED: "log", ANSWERED: "asked"}.get(one.source)
        listed: tuple[Any, ...] = (None, None)
        ids = scores = None
        if one.results is not None:
            ids, scores = ([pair[i] for pair in one.results] for i in (0, 1))
            listed = (len(ids), ids[0] if ids else None)
        return (
            one.name, text, n, *feedback, first and int(first), last and int(last),
            id_ in known, source, one.failure or None, *listed, one.nearest,
            "; ".join(one.why) or None, one.risk_rank, one.flag or None, ids, scores,
        )  # fmt: skip

    with (
        replacing(folder.own(NAME)) as temporary,
        pq.ParquetWriter(temporary, QUESTIONS, compression="zstd") as writer,
    ):
        rows = (row(*values) for values in book.rows(query))
        while part := list(islice(rows, AT_ONCE)):
            writer.write_table(pa.table([*zip(*part, strict=True)], schema=QUESTIONS))


# One row per cluster of unmet questions, with lists as lines. Columns as in `find_unmet`.
DEMAND = pa.schema(
    {
        "words": pa.string(), "asks": pa.int64(), "questions": pa.int64(), "why": pa.string(),
        "examples": pa.string(), "instead": pa.string(), "nearest": pa.string(),
    }
)  # fmt: skip
Terms = dict[str, str]
"""Stems of a question's content words, each with the word that stands there."""


def find_unmet(
    questions: Sequence[LookedAt], labels: Mapping[str, str]
) -> tuple[dict[str, Any], pa.Table]:
    """Mark unmet questions. Return figures, and a table of their clusters, most asked first.

    labels: titles by document.

    questions: different unmet questions.
    asks: number of their asks.
    why: criterion to the number of its questions.
    clustered: questions in a cluster of two or more.
    compared: questions that were clustered: the most asked of very many.
    clusters: clusters of two or more.
    largest: the largest clusters: the words that the questions share, their asks, the number of
        different questions, why, examples (the most frequent), instead (documents that came back,
        the most frequent first) and nearest (documents of the corpus that BM25 puts first).
    """
    for one in questions:
        if one.bad > one.good:
            one.why.append(BAD)
        if one.results is not None and not one.results:
            one.why.append(NOTHING)
    # Doubtful is the tenth of the questions with the highest risk. Good feedback clears them.
    ranked = [(one.risk_rank, one) for one in questions if one.risk_rank is not None]
    doubtful = [(rank, one) for rank, one in ranked if one.good <= one.bad]
    for _, one in sorted(doubtful, key=lambda pair: pair[0])[: len(ranked) // 10]:
        one.why.append(RISK)
    unmet = sorted((one for one in questions if one.why), key=lambda one: (-one.asks, one.id))
    own = [_terms(one.text or "") for one in unmet]
    counts = Counter(term for one in questions for term in _terms(one.text or ""))
    idf = {term: log(1 + len(questions) / n) for term, n in counts.items()}
    rows = []
    for group in _clusters(own, idf):
        words = Counter(term for i in group for term in own[i])
        weights = {term: n * idf[term] for term, n in words.items()}
        best = sorted(weights, key=lambda term: (-weights[term], term))[:NAMING_WORDS]
        surfaces = {term: word for i in group for term, word in own[i].items()}
        name = ", ".join(surfaces[term] for term in best)
        rows.append(_demand([unmet[i] for i in group], name, labels))
    rows.sort(key=lambda row: (-row["asks"], row["words"]))
    figures = {
        "questions": len(unmet),
        "asks": sum(one.asks for one in unmet),
        "why": dict(Counter(why for one in unmet for why in one.why).most_common()),
        "clustered": sum(row["questions"] for row in rows),
        "compared": min(len(unmet), MAX_COMPARED),
        "clusters": len(rows),
        "largest": rows[:MAX_SHOWN],
    }
    why = ["; ".join(f"{why} ({n})" for why, n in row["why"].items()) for row in rows]
    names = ("examples", "instead", "nearest")
    flat = [
        {**row, "why": text, **{name: "\n".join(row[name]) for name in names}}
        for row, text in zip(rows, why, strict=True)
    ]
    return figures, pa.Table.from_pylist(flat, schema=DEMAND)


def _terms(text: str) -> Terms:
    forms: Terms = {}
    for word in sorted(content_words(text))[:MAX_WORDS]:
        if not (word.startswith("<") or word.isdigit()):
            forms.setdefault((stems(word) or [word])[0], word)
    return forms


def _clusters(own: Sequence[Terms], idf: Mapping[str, float]) -> list[list[int]]:
    """Return clusters of at least two questions, as positions, by average linkage (Sokal, 1958).

    Words are weighted by idf. Only the first MAX_COMPARED questions are compared.
    """
    compared = own[:MAX_COMPARED]
    counts = Counter(term for terms in compared for term in terms)
    places = {t: i for i, t in enumerate(sorted(t for t, n in counts.items() if n > 1))}
    rows = np.zeros((len(compared), len(places)))
    for row, terms in zip(rows, compared, strict=True):
        for term in terms.keys() & places.keys():
            row[places[term]] = idf[term]
    usable = np.flatnonzero(rows.any(axis=1))  # the others share no word that tells anything
    if len(usable) < 2:
        return []
    unit = rows[usable] / np.linalg.norm(rows[usable], axis=1, keepdims=True)
    groups = average_linkage(1 - unit @ unit.T, APART)
    return [usable[group].tolist() for group in groups if len(group) > 1]


def _demand(members: Sequence[LookedAt], words: str, labels: Mapping[str, str]) -> dict[str, Any]:
    def named(counts: Counter[str]) -> list[str]:
        best = sorted(counts, key=lambda id_: (-counts[id_], id_))[:MAX_PLACES]
        return [f"{labels[id_]} · {id_}" if labels.get(id_) else id_ for id_ in best]

    served, nearest = Counter[str](), Counter[str]()
    for one in members:
        served.update(dict.fromkeys((id_ for id_, _ in (one.results or ())[:MAX_PLACES]), one.asks))
        nearest.update({one.nearest: one.asks} if one.nearest else {})
    often = sorted(members, key=lambda one: (-one.asks, one.id))[:MAX_EXAMPLES]
    return {
        "words": words,
        "asks": sum(one.asks for one in members),
        "questions": len(members),
        "why": dict(Counter(why for one in members for why in one.why).most_common()),
        "examples": [(one.text or "")[:MAX_CHARS] for one in often],
        "instead": named(served),
        "nearest": named(nearest),
    }
