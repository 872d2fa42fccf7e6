"""Look at different questions of a log one by one: what came, who is alike, what the corpus holds.

Nearly equal questions share words and pairs of words. They are found by signatures (MinHash):
Broder (1997): of two sets the share of hash functions whose least values agree is, in the mean, the
share of their union that they share. Bands of a signature are looked up, so that no two questions
are compared that share none; candidates are compared exactly.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from typing_extensions import TypedDict

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import Document, Query
from argus.data.writing import replacing
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import STEMMED, words
from argus.progress import progress
from argus.retrievers.protocol import Answers
from argus.traffic.book import ANSWERED, LOGGED, LogBook
from argus.traffic.exchange import Passage
from argus.traffic.risk import rank_by_risk

NAME = "questions.parquet"
AT_ONCE = 50_000
BANDS, ROWS = 16, 4
"""16 bands of 4: of two questions that share 0.7, one band agrees with a chance of 0.988."""
MAX_PARTS = 2_000
"""Words and pairs of one question that are compared. Longer questions are compared by these."""
MAX_IN_BAND = 200
_WORD = re.compile(r"\w+")
_PRIME = np.uint64((1 << 61) - 1)
QUESTIONS = pa.schema(
    [
        ("question", pa.string()), ("text", pa.string()), ("asks", pa.int64()),
        ("good", pa.int64()), ("bad", pa.int64()), ("clicks", pa.int64()),
        ("first_asked", pa.timestamp("s", "UTC")), ("last_asked", pa.timestamp("s", "UTC")),
        ("looked_at", pa.bool_()), ("alike", pa.string()), ("source", pa.string()),
        ("failure", pa.string()), ("results", pa.int64()), ("top", pa.string()),
        ("top_score", pa.float64()), ("gap", pa.float64()), ("support", pa.float64()),
        ("nearest", pa.string()), ("unmet", pa.string()), ("risk_rank", pa.int64()),
        ("flag", pa.string()), ("documents", pa.list_(pa.string())),
        ("scores", pa.list_(pa.float64())),
    ]
)  # fmt: skip
"""One row per different question of a log.

question: its id in all tables.
text: its words, redacted; null where hashes alone are kept.
asks: how often it was asked.
good, bad: good, bad feedback on it.
clicks: clicks on its results.
first_asked, last_asked: when, UTC.
looked_at: whether it was looked at by itself.
alike: a nearly equal question that stands for it.
source: where its results are from: log or asked.
failure: why the retriever did not answer it.
results: results that came; null where it is not known.
top: id of the first.
top_score: its score.
gap: how far the first is ahead, as a share of all that scores span.
support: share of its words' weight in the best document (BM25), 0 to 1.
nearest: id of that document.
unmet: why nobody met it; null where somebody did.
risk_rank: its place by risk, 1 for the likeliest to fail: an order, no probability.
flag: why it is to be looked at whatever its rank: nothing came, or the corpus lacks its words.
documents: ids of what came, best first.
scores: their scores.
"""


@dataclass(slots=True)
class LookedAt:
    """A question, and the findings on it."""

    id: int
    text: str | None
    """Redacted; None where hashes alone are kept."""
    asks: int
    alike: int | None = None
    """The question that stands for it, if another nearly equal one is asked more often."""
    results: list[tuple[str, float | None]] | None = None
    """Ids and scores of its latest list, best first."""
    source: int = 0
    failure: str = ""
    """Why a retriever did not answer it."""
    good: int = 0
    bad: int = 0
    support: float | None = None
    """Share of its words' weight that the best document of the corpus holds (BM25)."""
    nearest: str | None = None
    risk_rank: int | None = None
    """Its place among all by risk, 1 for the likeliest to fail; None if it is not ranked."""
    flag: str = ""
    """Why you should look at it, whatever its rank."""
    why: list[str] = field(default_factory=list)
    """Criteria by which nobody met it, if so."""

    @property
    def name(self) -> str:
        """Its id in the tables."""
        return f"q{self.id & (1 << 64) - 1:016x}"

    @property
    def gap(self) -> float | None:
        """How far the best result is ahead of the second, as a share of all that scores span."""
        scores = [score for _, score in self.results or () if score is not None]
        if len(scores) < 3 or scores[0] <= scores[-1]:
            return None
        return (scores[0] - scores[1]) / (scores[0] - scores[-1])


def draw_questions(book: LogBook, n: int, seed: int, k: int) -> list[LookedAt]:
    """Draw n different questions, each with its feedback and the first k of its latest list.

    They follow each other by their hashes, from a place that the seed names: the same again.
    """
    digest = blake2b(str(seed).encode(), digest_size=8).digest()
    start = int.from_bytes(digest, "big", signed=True)
    columns = "SELECT id, text, n FROM questions WHERE id"
    rows = [*book.rows(f"{columns} >= ? ORDER BY id LIMIT ?", start, n)]
    rows += book.rows(f"{columns} < ? ORDER BY id LIMIT ?", start, n - len(rows))
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


def find_alike(questions: Sequence[LookedAt], least: float) -> int:
    """Let the one asked most often stand for nearly equal ones; return the number of these.

    least: shared part from which two are nearly equal; 1 finds none. Two that differ in a number
    are never alike: they ask for two things.
    """
    if least >= 1:
        return 0
    parts, numbers = [], []
    for one in questions:
        text = one.text or ""
        own = words(text)[:MAX_PARTS]
        parts.append(frozenset(own) | {" ".join(pair) for pair in pairwise(own)})
        every = _WORD.findall(text.casefold())
        numbers.append(frozenset(word for word in every if any(map(str.isdigit, word))))
    order = sorted(range(len(questions)), key=lambda i: (-questions[i].asks, questions[i].id))
    signatures, n = _signatures(parts), 0
    buckets: dict[tuple[int, bytes, frozenset[str]], list[int]] = defaultdict(list)
    for i in order:
        bands = range(BANDS if parts[i] else 0)
        keys = [(band, signatures[i, band].tobytes(), numbers[i]) for band in bands]
        rivals = dict.fromkeys(j for key in keys for j in buckets[key][:MAX_IN_BAND])
        best = next((j for j in rivals if _jaccard(parts[i], parts[j]) >= least), None)
        if best is not None:
            n, questions[i].alike = n + 1, questions[best].id
            continue
        for key in keys:
            buckets[key].append(i)
    return n


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    both = len(one & other)
    return both / (len(one) + len(other) - both)


def _signatures(parts: Sequence[frozenset[str]]) -> npt.NDArray[np.uint64]:
    """Return signatures of shape (n, BANDS, ROWS)."""
    rng = np.random.default_rng(0)  # of the method, not of the data
    factors = rng.integers(1, 1 << 31, BANDS * ROWS, dtype=np.uint64)
    offsets = rng.integers(0, 1 << 31, BANDS * ROWS, dtype=np.uint64)
    out = np.zeros((len(parts), BANDS, ROWS), np.uint64)
    for i, own in enumerate(parts):
        hashes = [int.from_bytes(content_hash(part, size=4), "big") for part in own]
        if hashes:
            values = np.array(hashes, np.uint64)[:, None]
            out[i] = ((values * factors + offsets) % _PRIME).min(axis=0).reshape(BANDS, ROWS)
    return out


def put_answers(
    book: LogBook, questions: Sequence[LookedAt], asked: Sequence[LookedAt], answers: Answers
) -> None:
    """Put answers into the log for asks without a list, those of nearly equal questions too."""
    lists: dict[int, tuple[int, LookedAt]] = {}
    for one in asked:
        if one.name in answers.run:
            one.results = list(answers.run[one.name].items())
            list_ = book.put_list(Passage(id_, score) for id_, score in one.results)
            lists[one.id] = list_, one
        else:
            one.failure = answers.failed.get(one.name, "not answered")
    book.flush()
    book.do("BEGIN")
    for one in questions:
        list_, first = lists.get(one.alike or one.id, (0, one))
        if list_:
            one.results = one.results if one.results is not None else first.results
            one.source = ANSWERED
            book.do(
                "UPDATE asks SET list = ?, source = ? WHERE question = ? AND list IS NULL",
                (list_, ANSWERED, one.id),
            )
    book.do("COMMIT")


def measure_support(questions: Sequence[LookedAt], documents: Sequence[Document]) -> None:
    """Fill in support and nearest document of each question with a text."""
    asking = [one for one in questions if one.text is not None]
    if not documents or not asking:
        return
    only = frozenset(word for one in asking for word in STEMMED.queries(one.text or ""))
    index = LexicalIndex.build(
        [d.id for d in documents], [d.content for d in documents], STEMMED, only=only
    )
    with progress("looking up words", len(asking)) as advance:
        for one in asking:
            hits = index.search([one.text or ""], 1)
            one.support = min(1.0, hits.coverage[0])
            one.nearest = hits.ids[0][0] if hits.ids[0] else None
            advance(1)


class RiskFigures(TypedDict):
    """How many questions are ordered by their risk, and how many are flagged.

    ranked: questions in the order.
    flagged: why questions are to be looked at whatever their rank, to how many.
    """

    ranked: int
    flagged: dict[str, int]


def measure_risk(
    questions: Sequence[LookedAt], documents: Sequence[Document]
) -> RiskFigures | None:
    """Fill in the rank of each question with a known list; None without a corpus.

    Scores are places if one is missing. Questions that another stands for have no rank.
    """
    known = [one for one in questions if one.results is not None and one.text and not one.alike]
    if not documents or not known:
        return None
    run = {}
    for one in known:
        results = one.results or []
        places = any(score is None for _, score in results)
        run[one.name] = {
            id_: -float(place) if places else float(score or 0)
            for place, (id_, score) in enumerate(results)
        }
    risk = rank_by_risk([Query(one.name, one.text or "") for one in known], run, documents)
    rank = {id_: i for i, id_ in enumerate(risk.order, 1)}
    for one in known:
        one.risk_rank, one.flag = rank.get(one.name), risk.flagged.get(one.name, "")
    return {"ranked": len(rank), "flagged": dict(Counter(risk.flagged.values()))}


def write_questions(folder: ArtifactFolder, book: LogBook, looked_at: Iterable[LookedAt]) -> None:
    """Write questions.parquet row by row: there may be millions. `judge_traffic` reads it."""
    known = {one.id: one for one in looked_at}

    def rows() -> Iterator[dict[str, object]]:
        for id_, text, n, good, bad, clicks, first, last in book.rows(
            "SELECT questions.id, text, n, SUM(good), SUM(bad), SUM(clicks), MIN(at), MAX(at) "
            "FROM questions JOIN asks ON question = questions.id GROUP BY questions.id"
        ):
            one = known.get(id_) or LookedAt(id_, text, n)
            row: dict[str, object] = {
                "question": one.name, "text": text, "asks": n, "good": good, "bad": bad,
                "clicks": clicks, "first_asked": first and int(first),
                "last_asked": last and int(last), "looked_at": id_ in known,
                "alike": known[one.alike].name if one.alike is not None else None,
                "source": {LOGGED: "log", ANSWERED: "asked"}.get(one.source),
                "failure": one.failure or None, "support": one.support, "nearest": one.nearest,
                "unmet": "; ".join(one.why) or None, "risk_rank": one.risk_rank,
                "flag": one.flag or None,
            }  # fmt: skip
            if (results := one.results) is not None:
                top, score = results[0] if results else (None, None)
                row |= {
                    "results": len(results), "top": top, "top_score": score, "gap": one.gap,
                    "documents": [id_ for id_, _ in results],
                    "scores": [score for _, score in results],
                }  # fmt: skip
            yield row

    with (
        replacing(folder.own(NAME)) as temporary,
        pq.ParquetWriter(temporary, QUESTIONS, compression="zstd") as writer,
    ):
        every = rows()
        while part := list(islice(every, AT_ONCE)):
            writer.write_table(pa.Table.from_pylist(part, schema=QUESTIONS))
