"""Measure the questions of a generative search: one row of failures.parquet each.

`measure`: a `Case` (question, passages, n-grams) -> a row: hits, answers, weights of titles and
pseudo-queries, n-grams of right and wrong passages. `COLUMNS` lists all, and docs/failures.md
defines them. A function per group of columns returns those that apply. The others are None.
`measure_output`: an `Output` -> rows of all questions on all cores, with problems counted. The
record of a question is read, measured and dropped. Records go to the workers as bytes, so that
parsing is shared out, too. `indexed` measures one question against the n-gram index: coverage of
its words, answers cut by passages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import chain, groupby, islice, pairwise
from math import fsum
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.provenance import content_hash
from argus.data.types import IntArray, Query
from argus.engine import EngineConfig, Work, open_engine
from argus.errors import InputError
from argus.generative.failures.judging import Candidate, candidates
from argus.generative.failures.reading import (
    BODY,
    QUERY,
    TITLE,
    Case,
    Output,
    Positive,
    Problem,
    Problems,
    Reading,
    holds_any,
    read_case,
    words,
)
from argus.generative.index import NgramIndex
from argus.indexes.lexical import STOP_WORDS
from argus.measures.measures import STOP_WORDS as NO_NAMES
from argus.progress import progress

# The heaviest n-grams of the first passage whose frequency is averaged (thesis, Table 4).
TOP_NGRAMS = 5

# Part of a numerator. A smaller divisor counts as 0, and there is no ratio.
NEGLIGIBLE = 1e-12
# Kinds of keys without which a replay ranks, too.
SWITCHED_OFF = ("titles", "queries", "unigrams")

Row = dict[str, Any]
"""One row per system and question. Columns that no question has are left out."""
_TYPES = {"text": pa.string(), "int": pa.int64(), "float": pa.float64()}


def _columns(names: str) -> dict[str, pa.DataType]:
    """Return name to type, of lines `type: name name ...`."""
    parts = (line.split(":") for line in names.strip().splitlines())
    return {name: _TYPES[kind.strip()] for kind, of_kind in parts for name in of_kind.split()}


# Columns that need only an output file.
OF_OUTPUT = _columns("""
    text: query_id question
    int: passages positives
    float: r_precision
    int: hit_1 hit_k first_correct
    text: outcome
    int: answer_hit_1 answer_hit_k
    float: score_all score_title score_query score_correct score_title_correct
    float: score_query_correct answer_title_gain answer_title_gain_correct
    float: title_score_correct title_score_wrong frequency_top frequency_all
    int: rarest_top
    float: unigram_share ngram_words overlap
    int: answer_ngram_1 answer_ngram_k
    float: dominance
    int: ngrams_all title_ngrams_all query_ngrams_all ngrams_first query_ngrams_first
    float: unigram_score_share title_score_share query_score_share diversity
    int: title_repetition
    float: keys_correct keys_wrong keys_shared weight_correct weight_wrong weight_shared
    text: answer_outcome
    int: answer_rank gold_holds_answer gold_terms gold_adjacent
""")
# Columns that need the index. pieces: most tokens that a content word of the answers is split into.
# cut_answer: two neighbouring passages that hold an answer only together, as `id + id`.
OF_INDEX = _columns("""
    float: coverage
    int: pieces
    text: pieces_word cut_answer
    int: positives_indexed
""")
# Columns that need a replay of the search. pruned: n-grams of positives that would weigh more than
# 0 and were not written. The next two are of the heaviest of them. rank_: of the best positive,
# now, with the pruned n-grams as keys, and without some.
OF_REPLAY = _columns("""
    int: pruned
    text: pruned_ngram
    float: pruned_weight
    int: rank_now rank_unpruned rank_without_titles rank_without_queries
    int: rank_without_unigrams
""")
# A language model's best verdict over unannotated passages: YES, PARTIAL, NO or failed.
OF_JUDGE = _columns("""
    text: judged
""")
# Name to type, in the order of the table.
COLUMNS = OF_OUTPUT | OF_INDEX | OF_REPLAY | OF_JUDGE


def number(row: Row, column: str) -> float | None:
    """Return the number in a column of a row. None if there is none."""
    value = row.get(column)
    return float(value) if isinstance(value, int | float) else None


HIT, UNANNOTATED, ABSENT = "hit", "unannotated", "absent"
IS_TITLE, IS_BODY, IS_QUERY = range(3)
_CODES = {TITLE: IS_TITLE, BODY: IS_BODY, QUERY: IS_QUERY}
Words = tuple[str, ...]
Floats = npt.NDArray[np.float64]


def to_table(rows: Sequence[Row]) -> pa.Table:
    """Return rows as a table with the COLUMNS that some row has. Missing values are null.

    Without rows, the columns of OF_OUTPUT.
    """
    names = {name for row in rows for name in row} if rows else set(OF_OUTPUT)
    schema = pa.schema([(name, kind) for name, kind in COLUMNS.items() if name in names])
    return pa.Table.from_pylist(list(rows), schema=schema)


def measure(case: Case, k: int) -> Row:
    """Return the measures that need only an output: the columns of OF_OUTPUT, in order.

    A figure that does not apply is None.
    """
    arrays = _Arrays.of(case)
    answers = [answer for answer in dict.fromkeys(map(words, case.answers)) if answer]
    correct, views = arrays.correct.tolist(), arrays.views[arrays.ngrams]
    titles = Counter(passage.title for passage in case.passages[:k] if passage.title)
    row: Row = dict.fromkeys(OF_OUTPUT) | {
        "query_id": case.id,
        "question": case.question,
        "passages": len(case.passages),
        "positives": len(case.positives) if case.positives else None,
        "title_repetition": max(titles.values(), default=None),
        "answer_ngram_1": _holds_answer_ngram(case, arrays.first(1), answers),
        "answer_ngram_k": _holds_answer_ngram(case, arrays.first(k), answers),
    }
    if case.judged:
        r = len(case.positives or ())
        row |= {
            "r_precision": sum(correct[:r]) / r if r else None,
            "hit_1": int(any(correct[:1])),
            "hit_k": int(any(correct[:k])),
            "first_correct": correct.index(True) + 1 if any(correct) else None,
            "outcome": "".join("P" if one else "N" for one in [*correct, False, False][:2]),
        }
    if answers:  # also where nobody annotated the passage that holds one
        held = [hold_answer([words(p.text)], answers) for p in case.passages[:k]]
        row |= {"answer_hit_1": int(any(held[:1])), "answer_hit_k": int(any(held))}
        if case.positives and any(correct[:k]):
            row["answer_outcome"] = HIT
        elif case.positives:
            row["answer_outcome"] = UNANNOTATED if any(held) else ABSENT
            row["answer_rank"] = held.index(True) + 1 if any(held) else None
    if len(views):
        row |= {
            "ngrams_all": len(views),
            "title_ngrams_all": int((views == IS_TITLE).sum()),
            "query_ngrams_all": int((views == IS_QUERY).sum()),
        }
    return (
        row
        | _scores(case, arrays)
        | _title_gains(case, arrays, answers)
        | _first_passage(case, arrays)
        | _telling_keys(case, arrays, k)
        | _positive_texts(case, answers)
    )


@dataclass(frozen=True, slots=True)
class _Arrays:
    """A question's n-grams, and its passages' keys end to end (n_keys in all).

    views: (n_ngrams,) int8, IS_TITLE, IS_BODY or IS_QUERY. counts: (n_ngrams,) float64,
    occurrences in the corpus, NaN where unknown. unigrams: (n_ngrams,) bool, body n-grams of one
    token. ngrams: (n_keys,) places in these three. weights: (n_keys,) float64. passages: (n_keys,)
    of each, from 0. starts: (n_passages + 1,) the keys of passage i are starts[i] to starts[i + 1].
    correct: (n_passages,) bool, False where it is not known.
    """

    views: npt.NDArray[np.int8]
    counts: Floats
    unigrams: npt.NDArray[np.bool_]
    ngrams: IntArray
    weights: Floats
    passages: IntArray
    starts: IntArray
    correct: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, case: Case) -> _Arrays:
        views = np.array([_CODES[ngram.view] for ngram in case.ngrams], np.int8)
        is_single = np.array([len(ngram.tokens) == 1 for ngram in case.ngrams], bool)
        counts = [np.nan if ngram.count is None else ngram.count for ngram in case.ngrams]
        sizes = np.array([len(p.keys or ()) for p in case.passages], np.int64)
        keys = [passage.keys for passage in case.passages if passage.keys is not None]
        none = np.zeros(0, np.int64)
        return cls(
            views=views,
            counts=np.array(counts, np.float64),
            unigrams=(views == IS_BODY) & is_single,
            ngrams=np.concatenate([none, *(key.ngrams for key in keys)]),
            weights=np.concatenate([none.astype(np.float64), *(key.weights for key in keys)]),
            passages=np.repeat(np.arange(len(sizes)), sizes),
            starts=np.concatenate([[0], np.cumsum(sizes)]),
            correct=np.array([bool(passage.correct) for passage in case.passages], bool),
        )

    def first(self, k: int) -> IntArray:
        """Return the n-grams of the keys of the first k passages."""
        return self.ngrams[: int(self.starts[min(k, len(self.starts) - 1)])]


def hold_answer(parts: Iterable[Words], answers: Sequence[Words]) -> bool:
    """Return whether one of several texts, given as words, holds one of the answers."""
    beginnings = {answer[0] for answer in answers}
    return any(not beginnings.isdisjoint(part) and holds_any(part, answers) for part in parts)


def _scores(case: Case, arrays: _Arrays) -> Row:
    """Return sums of weights by view, and the mean weight of titles where there are some.

    A part never exceeds its whole: both add up the same sums.
    """
    of_correct = arrays.correct[arrays.passages]
    groups = arrays.views[arrays.ngrams] * 2 + of_correct
    sums = np.bincount(groups, arrays.weights, minlength=6).astype(np.float64)
    wrong, right = sums.reshape(3, 2).T
    row: Row = {}
    for whole, end, by_view, applies in (
        ("score_all", "", wrong + right, len(of_correct)),
        ("score_correct", "_correct", right, of_correct.any()),
    ):
        title, body, query = by_view.tolist()
        if applies:
            row[whole] = title + body + query
            row |= {f"score_title{end}": title, f"score_query{end}": query}
    titles, n = arrays.views[arrays.ngrams] == IS_TITLE, len(case.passages)
    weights = np.bincount(arrays.passages[titles], arrays.weights[titles], minlength=n)
    has = np.bincount(arrays.passages[titles], minlength=n) > 0
    return row | {
        "title_score_correct": _mean(weights[has & arrays.correct].tolist()),
        "title_score_wrong": _mean(weights[has & ~arrays.correct & case.judged].tolist()),
    }


def _title_gains(case: Case, arrays: _Arrays, answers: Sequence[Words]) -> Row:
    """Return by how much an answer weighs more as a title than as another n-gram, per passage.

    The heaviest title and the heaviest other n-gram of an answer count. If there are several
    answers, use the one that weighs most as a title, then the one listed first.
    """
    places = {answer: place for place, answer in enumerate(answers)}
    exact = np.array([places.get(ngram.words, -1) for ngram in case.ngrams], np.int64)
    keys = np.flatnonzero(exact[arrays.ngrams] >= 0)
    if not len(keys):
        return {}
    other = (arrays.views[arrays.ngrams[keys]] != IS_TITLE).astype(np.int64)
    heaviest = np.full((2, len(case.passages), len(answers)), -1.0)  # title, other; -1: it is none
    at = (other, arrays.passages[keys], exact[arrays.ngrams[keys]])
    np.maximum.at(heaviest, at, arrays.weights[keys])
    titles, others = heaviest
    titles = np.where((others > 0) & (others >= NEGLIGIBLE * titles), titles, -1.0)
    best = titles.argmax(axis=1)
    gains = {
        p: float(titles[p, best[p]] / others[p, best[p]] - 1)
        for p in np.flatnonzero(titles.max(axis=1) >= 0).tolist()
    }
    return {
        "answer_title_gain": _mean(gains.values()),
        "answer_title_gain_correct": _mean(gains[p] for p in gains if arrays.correct[p]),
    }


def _mean(values: Iterable[float]) -> float | None:
    values = list(values)
    return sum(values) / len(values) if values else None


def _first_passage(case: Case, arrays: _Arrays) -> Row:
    """Measure the n-grams of the first passage (thesis, Tables 4 to 6, 8 and 14).

    Shares of its score are exactly rounded, so that no part exceeds the sum. They do not apply
    where no n-gram has any weight, or one has a weight below 0.
    """
    keys = case.passages[0].keys if case.passages else None
    if keys is None or not len(keys):
        return {}
    counts, views = arrays.counts[keys.ngrams], arrays.views[keys.ngrams]
    unigrams = arrays.unigrams[keys.ngrams]
    top = counts[np.argsort(-keys.weights, kind="stable")[:TOP_NGRAMS]]
    top, counts = top[~np.isnan(top)], counts[~np.isnan(counts)]
    mine = [case.ngrams[i] for i in keys.ngrams.tolist()]
    asked = set(case.question_tokens)
    tokens = list(chain.from_iterable(ngram.tokens for ngram in mine))
    row: Row = {
        "frequency_top": float(top.mean()) if len(top) else None,
        "frequency_all": float(counts.mean()) if len(counts) else None,
        "rarest_top": int(top.min()) if len(top) else None,
        "unigram_share": float(unigrams.mean()),
        "ngram_words": sum(len(ngram.words) for ngram in mine) / len(mine),
        "overlap": len(asked.intersection(tokens)) / len(asked) if asked else None,
        "diversity": len(set(tokens)) / len(tokens) if tokens else None,
        "ngrams_first": len(mine),
        "query_ngrams_first": int((views == IS_QUERY).sum()),
    }
    total = fsum(keys.weights)
    if keys.weights.min() >= 0 and total > 0:
        row |= {
            "dominance": float(keys.weights.max()) / total,
            "unigram_score_share": fsum(keys.weights[unigrams]) / total,
            "title_score_share": fsum(keys.weights[views == IS_TITLE]) / total,
            "query_score_share": fsum(keys.weights[views == IS_QUERY]) / total,
        }
    return row


def _holds_answer_ngram(case: Case, ngrams: IntArray, answers: Sequence[Words]) -> int | None:
    """Return whether an n-gram holds an answer (thesis, Table 7). None without either."""
    if not len(ngrams) or not answers:
        return None
    return int(hold_answer((case.ngrams[i].words for i in {*ngrams.tolist()}), answers))


def _telling_keys(case: Case, arrays: _Arrays, k: int) -> Row:
    """Return how many n-grams of the first k passages tell correct from other ones (Table 17).

    Shares are of different n-grams. A mean weight counts an n-gram in every passage that it is in.
    """
    ngrams = arrays.first(k)
    if not case.judged or not len(ngrams):
        return {}
    weights = arrays.weights[: len(ngrams)]
    correct = arrays.correct[arrays.passages[: len(ngrams)]]
    marks = np.zeros(len(case.ngrams), np.int64)  # 1: in a correct passage, 2: in another, 3: both
    marks[ngrams[correct]] = 1
    marks[ngrams[~correct]] += 2  # once, however many passages it is in
    n = int((marks > 0).sum())
    row: Row = {}
    for mark, name in enumerate(("correct", "wrong", "shared"), 1):
        inside = weights[marks[ngrams] == mark]
        row[f"keys_{name}"] = int((marks == mark).sum()) / n
        row[f"weight_{name}"] = float(inside.mean()) if len(inside) else None
    return row


def _positive_texts(case: Case, answers: Sequence[Words]) -> Row:
    """Measure the contents of the positives whose text is known.

    Answers are looked for in texts, the question's content words in titles, too.
    """
    gold = [(words(p.title), words(p.text)) for p in case.positives or () if p.text is not None]
    if not gold:
        return {}
    terms = set(words(case.question)) - STOP_WORDS
    most = max(len(terms.intersection((*title, *text))) for title, text in gold)
    content = ([word for word in part if word not in STOP_WORDS] for both in gold for part in both)
    adjacent = any(
        a != b and a in terms and b in terms for part in content for a, b in pairwise(part)
    )
    held = hold_answer((text for _, text in gold), answers)
    return {
        "gold_holds_answer": int(held) if answers else None,
        "gold_terms": most if terms else None,
        "gold_adjacent": int(adjacent) if most > 1 else None,
    }


def indexed(case: Case, index: NgramIndex, k: int) -> tuple[Row, list[int]]:
    """Measure a question against the index: the columns of OF_INDEX (docs/failures.md).

    And the numbers of its positives there. These and the first k passages may be a part of a cut
    answer. The first question of an index sorts the hashes of its ids, 16 bytes per passage.
    """
    of_positives = [number_of(index, positive) for positive in case.positives or ()]
    of_passages = [number_of_id(index, passage.id) for passage in case.passages[:k]]
    positives, listed = (
        [number for number in numbers if number is not None]
        for numbers in (of_positives, of_passages)
    )
    pieces, word = most_pieces(case, index)
    row = {
        "coverage": coverage(case.question, index),
        "pieces": pieces,
        "pieces_word": word,
        "cut_answer": cut_answer(index, case.answers, dict.fromkeys([*positives, *listed])),
        "positives_indexed": len(set(positives)) if case.positives else None,
    }
    return row, positives


def coverage(question: str, index: NgramIndex) -> float | None:
    """Return the share of a question's different words that the corpus has (thesis, Table 12).

    A word is there when its tokens are, as they stand after a space: as written, or with its first
    letter in upper case. Where a word's tokens begin those of a longer word, that one suffices.
    A token that stands for unknown text is no word. None without words.
    """
    spellings: dict[str, set[str]] = {}
    for word in _spelled(question):
        spellings.setdefault(word.casefold(), set()).update((word, word[0].upper() + word[1:]))
    if not spellings:
        return None
    written = [spelling for one in spellings.values() for spelling in one]
    tokens, unknown = index.vocabulary.encode(written), index.vocabulary.unknown
    counts = zip(written, tokens, index.counts(tokens).tolist(), strict=True)
    there = {spelling for spelling, ngram, n in counts if n > 0 and unknown not in ngram}
    return sum(not one.isdisjoint(there) for one in spellings.values()) / len(spellings)


def most_pieces(case: Case, index: NgramIndex) -> tuple[int | None, str | None]:
    """Return the most tokens that a content word is split into, and that word as it is written.

    Looks in the answers. Without such a word, looks in the positives' titles, then in the
    question. Of equal words the first counts.
    """
    titles = [positive.title for positive in case.positives or ()]
    for texts in (case.answers, titles, [case.question]):
        content = [w for text in texts for w in _spelled(text) if w.casefold() not in NO_NAMES]
        if content:
            sizes = [len(tokens) for tokens in index.vocabulary.encode(content)]
            most = int(np.argmax(sizes))
            return sizes[most], content[most]
    return None, None


def cut_answer(index: NgramIndex, answers: Sequence[str], near: Iterable[int]) -> str | None:
    """Return `id + id` of the first two neighbours that hold an answer together and not alone.

    near: numbers of passages. Each is tried with the one before and the one after it, where these
    bear the same title. Texts alone are read, as words. A word that is itself cut is not seen.
    None if there is no such pair, or no answer.
    """
    parts = [words(answer) for answer in answers]
    if all(len(part) < 2 for part in parts):
        return None  # a single word cannot be cut
    for first in dict.fromkeys(at for number in near for at in (number - 1, number)):
        if not 0 <= first < index.n_documents - 1:
            continue
        title, text = index.title_and_text(first)
        other, text_after = index.title_and_text(first + 1)
        before, after = words(text), words(text_after)
        if not title or title != other or holds_any(before, parts) or holds_any(after, parts):
            continue
        if holds_any((*before, *after), parts):
            return f"{index.id_of(first)} + {index.id_of(first + 1)}"
    return None


def _spelled(text: str) -> Iterator[str]:
    """Yield the runs of letters and digits of a text as they are written."""
    for inside, run in groupby(text, lambda c: bool(words(c))):
        if inside:
            yield "".join(run)


@lru_cache(maxsize=1)
def _hashed_ids(index: NgramIndex) -> tuple[np.ndarray, IntArray]:
    """Return the hashes of an index's ids, ascending, and its passages' numbers."""
    hashes = index.order(np.arange(index.n_documents))
    numbers = np.argsort(hashes, kind="stable")
    return hashes[numbers], numbers


def number_of_id(index: NgramIndex, id_: str) -> int | None:
    """Return the number of the passage with an id. None if the index has none."""
    hashes, numbers = _hashed_ids(index)
    hash_ = np.uint64(int.from_bytes(content_hash(id_, size=8), "little"))
    begin, end = (int(np.searchsorted(hashes, hash_, side)) for side in ("left", "right"))
    return next((n for n in numbers[begin:end].tolist() if index.id_of(n) == id_), None)


def number_of(index: NgramIndex, positive: Positive) -> int | None:
    """Return the number of a positive: by its id, else by title and text. None if not there."""
    if positive.id is not None:
        return number_of_id(index, positive.id)
    (tokens,) = index.vocabulary.encode([positive.text or ""])
    same = words(positive.title), words(positive.text or "")
    for number in index.documents(tokens).tolist() if tokens else ():
        title, text = index.title_and_text(number)
        if (words(title), words(text)) == same:
            return int(number)
    return None


def with_texts(case: Case, index: NgramIndex) -> Case:
    """Return a case whose positives have the index's texts where the file has none."""
    positives = []
    for one in case.positives or ():
        number = number_of(index, one) if one.text is None else None
        if number is not None:
            title, text = index.title_and_text(number)
            one = replace(one, title=one.title or title, text=text or None)
        positives.append(one)
    return replace(case, positives=tuple(positives)) if positives else case


Item = tuple[int, bytes]
"""A record and its number in the file, from 0."""
# Records that go to a worker at once, of some MB each.
BLOCK = 8


@dataclass(frozen=True, kw_only=True)
class Setup(Reading):
    """Setup of a worker: how records are read, and plain values, which go to other processes.

    tokenizer: folder of a tokenizer, index: of an n-gram index. None without. judged: keep passages
    for a language model to judge.
    """

    k: int
    tokenizer: Path | None = None
    index: Path | None = None
    judged: bool = False


@dataclass
class Measurements:
    """Figures of an output.

    rows: columns of docs/failures.md. positives: numbers in the index, for each
    row. candidates: for a judge, for each row. problems: those of the file.
    """

    rows: list[Row] = field(default_factory=list)
    positives: list[list[int]] = field(default_factory=list)
    candidates: list[list[Candidate]] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def add(self, other: Measurements) -> None:
        """Add another part."""
        self.rows += other.rows
        self.candidates += other.candidates
        self.positives += other.positives
        self.problems.merge(other.problems)


def open_measurer(setup: Setup) -> Callable[[list[Item]], Measurements]:
    """Return the function that measures a block of records, in one process."""
    index = NgramIndex.open(setup.index) if setup.index else None
    vocabulary = index.vocabulary if index else None
    if setup.tokenizer is not None:
        from argus.generative.vocabulary import open_vocabulary

        vocabulary = open_vocabulary(setup.tokenizer)
    reading: Reading = setup
    if vocabulary is not None:
        split = vocabulary.encode_as_is if setup.strict else vocabulary.encode
        reading = replace(setup, split=split)

    def measure_block(items: list[Item]) -> Measurements:
        measured = Measurements()
        for number, content in items:
            case = read_case(content, number, reading, measured.problems)
            if case is None:
                continue
            numbers: list[int] = []
            of_index: Row = {}
            if index is not None:
                case = with_texts(case, index)
                of_index, numbers = indexed(case, index, setup.k)
            measured.rows.append(measure(case, setup.k) | of_index)
            measured.positives.append(numbers)
            measured.candidates.append(candidates(case, setup.k) if setup.judged else [])
        return measured

    return measure_block


def measure_output(output: Output, setup: Setup, workers: int) -> Measurements:
    """Measure all questions of an output. Raises InputError where it breaks off.

    workers: processes. 1 measures in this one.
    """
    measured = Measurements()
    numbered = enumerate(output.items())
    blocks = iter(lambda: list(islice(numbered, BLOCK)), [])
    early: dict[int, Measurements] = {}  # parts that came before those of earlier blocks
    done = 0
    work = Work(setup=open_measurer, shared=setup, what="measuring")
    with (
        progress(f"measuring {output.name}", None) as advance,
        open_engine(EngineConfig(workers=workers)) as engine,
    ):
        for number, part in engine.run(work, blocks):
            early[number] = part
            while done in early:
                measured.add(early[done])
                advance(len(early.pop(done).rows))
                done += 1
    return measured


def ids_of_questions(queries: Iterable[Query]) -> dict[tuple[str, ...], str]:
    """Return the ids of questions by their words. Those that several have are left out."""
    questions = [(words(query.text), query.id) for query in queries]
    times = Counter(question for question, _ in questions)
    return {question: id_ for question, id_ in questions if times[question] == 1}


def check_measured(output: Output, measured: Measurements, setup: Setup) -> None:
    """Refuse an output without anything to measure.

    Raises InputError if it holds no question, no passage, or none of the questions that are judged.
    """
    rows = measured.rows
    listed = any(row["passages"] for row in rows)
    if not listed:
        what = f"{len(rows):,} questions, no passage" if rows else "no question in it"
        if unreadable := measured.problems.counts[Problem.RECORDS]:
            what += f"; {unreadable:,} records are no question"
        expected = "at least one question with the passages that were found for it (ctxs)"
        fix = "Check that these are results, not questions alone."
    elif setup.qrels is not None and all(row["query_id"] not in setup.qrels for row in rows):
        what = (
            f"--qrels judges {len(setup.qrels):,} questions ({next(iter(setup.qrels))!r}, ...), "
            f"none of the {len(rows):,} of this output ({rows[0]['query_id']!r}, ...)"
        )
        expected = "judgements of the questions that were asked"
        fix = (
            "Check that both belong together. A file whose questions have no ids needs "
            "--queries, too, which has ids and texts."
        )
    else:
        return
    raise InputError(what, expected=expected, fix=fix, where=output.file)
