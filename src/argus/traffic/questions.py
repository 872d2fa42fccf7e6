"""Examine different questions of a log: near duplicates, support, risk, and unmet demand.

Near duplicates share words and pairs of words. MinHash signatures find them (Broder, 1997): the
share of hash functions with equal minima estimates the Jaccard index of two sets. Only questions
with an equal band of their signatures are compared, then exactly.

A question is unmet by bad feedback, by an empty list, or, more weakly, by its risk or its little
support by words. Unmet questions are clustered by their words, and the clusters named.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import islice, pairwise
from math import log
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.folders import ArtifactFolder
from argus.data.provenance import content_hash
from argus.data.types import Document, Query
from argus.data.writing import replacing
from argus.indexes.lexical import STEMMED, LexicalIndex, stems, words
from argus.measures import content_words
from argus.progress import progress
from argus.retrievers.protocol import Answers
from argus.traffic.book import ANSWERED, LOGGED, LogBook
from argus.traffic.exchange import Passage
from argus.traffic.risk import NOTHING, rank_by_risk

NAME = "questions.parquet"
AT_ONCE = 50_000
BANDS, ROWS = 16, 4
"""16 bands of 4: of two questions that share 0.7, one band agrees with a chance of 0.988."""
MAX_PARTS = 2_000
"""Words and pairs of one question that are compared. Longer questions are compared by these."""
MAX_IN_BAND = 200
_WORD = re.compile(r"\w+")
_PRIME = np.uint64((1 << 61) - 1)
BAD, SUPPORT = "bad feedback", "least supported by words"
RISK = "first by risk"
WORTH = "AUC 0.51 to 0.64 against judged failures of BM25 on three collections: weak"
"""Measured on cranfield, theoremqa and impliret (docs/traffic.md)."""
WELL = 0.6
"""Support from which a question is not among the least supported, however few are below."""
MAX_COMPARED = 2_000
"""Questions that are clustered at once: all pairs are compared."""
APART = 0.85
"""Mean cosine distance from which two clusters are two things."""
COMMON, FEW = 0.25, 20
"""A word in a larger share of questions is common, in any language, unless they are few."""
MAX_WORDS = 400
"""Different words of one question that are looked at."""
MAX_EXAMPLES, MAX_PLACES, MAX_SHOWN, NAMING_WORDS = 3, 3, 20, 4
MAX_CHARS = 200
"""Characters of a question in an example."""
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
text: its words, redacted. Null where only hashes are stored.
asks: number of asks.
good, bad: good, bad feedback on it.
clicks: clicks on its results.
first_asked, last_asked: times, UTC.
looked_at: whether it was examined.
alike: a nearly equal question that stands for it.
source: source of its results: log or asked.
failure: why the retriever did not answer it.
results: number of results. Null where it is unknown.
top: id of the first.
top_score: its score.
gap: lead of the first result, as a share of the range of scores.
support: share of its words' weight in the best document (BM25), 0 to 1.
nearest: id of that document.
unmet: why it is unmet. Null for others.
risk_rank: its place by risk, 1 for the likeliest to fail: an order, no probability.
flag: why you should look at it whatever its rank: no results, or words that the corpus lacks.
documents: ids of its results, best first.
scores: their scores.
"""


@dataclass(slots=True)
class LookedAt:
    """A question, and the findings on it.

    text: redacted, None where only hashes are stored. alike: a nearly equal question that is asked
    more often and stands for it. results: ids and scores of its latest list, best first. failure:
    why a retriever did not answer it. support: share of its words' weight in the best document of
    the corpus (BM25), which is `nearest`. risk_rank: 1 for the likeliest to fail, None if it is not
    ranked. flag: why you should look at it, whatever its rank. why: criteria by which it is unmet.
    """

    id: int
    text: str | None
    asks: int
    alike: int | None = None
    results: list[tuple[str, float | None]] | None = None
    source: int = 0
    failure: str = ""
    good: int = 0
    bad: int = 0
    support: float | None = None
    nearest: str | None = None
    risk_rank: int | None = None
    flag: str = ""
    why: list[str] = field(default_factory=list)

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

    Questions are ordered by their hashes. The seed chooses the place to begin at.
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
    """Let the most frequent question stand for nearly equal ones. Return the number of these.

    least: Jaccard index from which two are nearly equal. 1 finds none. Two questions with different
    numbers are never alike.
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
    book: LogBook, questions: Sequence[LookedAt], queried: Sequence[LookedAt], answers: Answers
) -> None:
    """Store answers for asks without a list, also for those of nearly equal questions."""
    lists: dict[int, tuple[int, LookedAt]] = {}
    for one in queried:
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


def measure_risk(
    questions: Sequence[LookedAt], documents: Sequence[Document]
) -> dict[str, Any] | None:
    """Fill in the rank by risk of each question with a known list. None without a corpus.

    Places replace scores if one is missing. Near duplicates have no rank.

    ranked: questions in the order.
    flagged: reason to look at questions whatever their rank, to their number.
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
    query = (
        "SELECT questions.id, text, n, SUM(good), SUM(bad), SUM(clicks), MIN(at), MAX(at) "
        "FROM questions JOIN asks ON question = questions.id GROUP BY questions.id"
    )

    def row(id_: int, text: str | None, n: int, *sums: Any) -> tuple[Any, ...]:
        one, (*feedback, first, last) = known.get(id_) or LookedAt(id_, text, n), sums
        counts = (one.name, text, n, *feedback, first and int(first), last and int(last))
        alike = known[one.alike].name if one.alike is not None else None
        source = {LOGGED: "log", ANSWERED: "asked"}.get(one.source)
        results = one.results
        listed = (None,) * 4
        ids = scores = None
        if results is not None:
            listed = (len(results), *(results[0] if results else (None, None)), one.gap)
            ids, scores = ([pair[i] for pair in results] for i in (0, 1))
        found = (one.support, one.nearest, "; ".join(one.why) or None, one.risk_rank)
        state = (id_ in known, alike, source, one.failure or None)
        return (*counts, *state, *listed, *found, one.flag or None, ids, scores)

    with (
        replacing(folder.own(NAME)) as temporary,
        pq.ParquetWriter(temporary, QUESTIONS, compression="zstd") as writer,
    ):
        rows = (row(*values) for values in book.rows(query))
        while part := list(islice(rows, AT_ONCE)):
            writer.write_table(pa.table([*zip(*part, strict=True)], schema=QUESTIONS))


DEMAND = pa.schema(
    {
        "words": pa.string(), "asks": pa.int64(), "questions": pa.int64(), "why": pa.string(),
        "examples": pa.string(), "instead": pa.string(), "nearest": pa.string(),
    }
)  # fmt: skip
"""One row per cluster of unmet questions, with lists as lines. Columns as in `find_unmet`."""
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
    worth: how well little support by words predicts failures. Empty where no question has it.
    clustered: questions in a cluster of two or more.
    compared: questions that were clustered: the most asked of very many.
    clusters: clusters of two or more.
    largest: the largest clusters: the words that the questions share, their asks, the number of
        different questions, why, examples (the most frequent), instead (documents that came back,
        the most frequent first) and nearest (documents of the corpus with most of their words).
    """
    unmet = _mark_unmet(questions)
    own = [_terms(one.text or "") for one in unmet]
    inside = {one.id for one in unmet}
    others = [_terms(one.text or "") for one in questions if one.id not in inside]
    counts = Counter(term for terms in (*own, *others) for term in terms)
    n = len(own) + len(others)
    common = {term for term, count in counts.items() if n >= FEW and count > COMMON * n}
    own, others = ([{t: w for t, w in one.items() if t not in common} for one in every]
                   for every in (own, others))  # fmt: skip
    groups = _clusters(own)
    rows = [
        _demand([unmet[i] for i in group], name, labels)
        for group, name in zip(groups, _names(groups, own, others), strict=True)
    ]
    rows.sort(key=lambda row: (-row["asks"], row["words"]))
    figures = {
        "questions": len(unmet),
        "asks": sum(one.asks for one in unmet),
        "why": dict(Counter(why for one in unmet for why in one.why).most_common()),
        "worth": WORTH if any(SUPPORT in one.why for one in unmet) else "",
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


def _mark_unmet(questions: Sequence[LookedAt]) -> list[LookedAt]:
    """Note why each question is unmet. Return the unmet ones, the most frequent first.

    Doubtful are the tenth of the questions with the highest risk and the tenth with the least
    support by words. Good feedback clears them.
    """
    for one in questions:
        if one.bad > one.good:
            one.why.append(BAD)
        if one.results is not None and not one.results:
            one.why.append(NOTHING)
    ranks = {one.id: float(one.risk_rank) for one in questions if one.risk_rank is not None}
    support = {one.id: one.support for one in questions if one.support is not None}
    for why, order, limit in ((RISK, ranks, float("inf")), (SUPPORT, support, WELL)):
        known = (one for one in questions if one.id in order and one.good <= one.bad)
        ordered = sorted((order[one.id], one.id, one) for one in known)
        doubtful = [one for place, _, one in ordered if place < limit]
        for one in doubtful[: len(order) // 10]:
            one.why.append(why)
    unmet = [one for one in questions if one.why and one.alike is None]
    return sorted(unmet, key=lambda one: (-one.asks, one.id))


def _terms(text: str) -> Terms:
    forms: Terms = {}
    for word in sorted(content_words(text))[:MAX_WORDS]:
        if not (word.startswith("<") or word.isdigit()):
            forms.setdefault((stems(word) or [word])[0], word)
    return forms


def _clusters(own: Sequence[Terms]) -> list[list[int]]:
    """Return clusters of at least two questions, as positions, by average linkage (Sokal, 1958).

    Words are weighted by idf. Only the first MAX_COMPARED questions are compared.
    """
    usable = [i for i, terms in enumerate(own[:MAX_COMPARED]) if terms]
    if len(usable) < 2:
        return []
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform

    counts = Counter(term for i in usable for term in own[i])
    places = {t: i for i, t in enumerate(sorted(t for t, n in counts.items() if n > 1))}
    rows = np.zeros((len(usable), len(places)), np.float32)
    for row, i in enumerate(usable):
        for term in own[i].keys() & places.keys():
            rows[row, places[term]] = log(1 + len(usable) / counts[term])
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    norms[norms == 0] = 1
    unit = np.asarray(rows / norms, np.float64)
    distance = np.clip(1 - unit @ unit.T, 0, 1)
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(distance, checks=False), "average")
    groups: dict[int, list[int]] = {}
    for i, label in zip(usable, fcluster(tree, APART, "distance").tolist(), strict=True):
        groups.setdefault(label, []).append(i)
    return [group for group in groups.values() if len(group) > 1]


def _names(
    groups: Sequence[Sequence[int]], own: Sequence[Terms], others: Sequence[Terms]
) -> list[str]:
    """Return a name for each group: its words by class-based tf-idf (Grootendorst, 2022).

    W(t, c) = tf(t, c) · log(1 + A / f(t)), with A the mean number of words of a class and f over
    all classes. Questions outside of all groups are one class. Words of a single question count
    only in a group without shared words.
    """
    classes = [Counter(term for i in group for term in own[i]) for group in groups]
    rest = Counter(term for terms in others for term in terms)
    frequency = sum(classes, Counter[str]()) + rest
    mean = sum(frequency.values()) / max(1, len(classes) + bool(rest))
    names = []
    for group, counts in zip(groups, classes, strict=True):
        shared = {term: n for term, n in counts.items() if n > 1} or counts
        weights = {term: n * log(1 + mean / frequency[term]) for term, n in shared.items()}
        best = sorted(weights, key=lambda term: (-weights[term], term))[:NAMING_WORDS]
        surfaces = [Counter(own[i][t] for i in group if t in own[i]).most_common(1) for t in best]
        names.append(", ".join(surface[0][0] for surface in surfaces))
    return names


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
