"""Measure all questions of a generative search on all cores, by its output and by the index.

`measure_output`: an `Output` -> rows of figures, with problems counted. The record of a question is
read, measured and dropped. Records go to the workers as bytes, so that parsing is shared out, too.
`indexed` measures one question against the n-gram index: coverage of its words, answers cut by
passages. `analyse` calls it, `measures` has the other figures.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import groupby, islice
from pathlib import Path

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import IntArray, Query
from argus.engine import EngineConfig, Work, open_engine
from argus.errors import InputError
from argus.generative.failures.judging import Candidate, candidates
from argus.generative.failures.measures import Row, measure
from argus.generative.failures.outputs import Output
from argus.generative.failures.reading import (
    Case,
    Positive,
    Problem,
    Problems,
    Reading,
    holds_any,
    read_case,
    words,
)
from argus.generative.index import NgramIndex
from argus.measures.measures import STOP_WORDS
from argus.progress import progress


def indexed(case: Case, index: NgramIndex, k: int) -> tuple[Row, list[int]]:
    """Measure a question against the index: the columns of OF_INDEX (docs/autopsy.md).

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
        content = [w for text in texts for w in _spelled(text) if w.casefold() not in STOP_WORDS]
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
BLOCK = 8
"""Records that go to a worker at once, of some MB each."""


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

    rows: columns of docs/autopsy.md. positives: numbers in the index, for each
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
