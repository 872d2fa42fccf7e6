"""Measure all questions of an output, one at a time, on all cores.

The record of a question is read, measured and dropped: a row of figures stays. Records go
to the workers as bytes, so that parsing is shared out, too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import groupby
from pathlib import Path
from typing import Literal

import numpy as np

from argus.data.fields import FieldNames
from argus.data.json_list import Item
from argus.data.provenance import content_hash
from argus.data.topics import TOPIC_ID_FIELDS, read_topics
from argus.data.types import IntArray, Qrels, Query, Run
from argus.engine import EngineConfig, Work, open_engine
from argus.errors import InputError
from argus.generative.failures.case import (
    Case,
    Positive,
    PublishedTokens,
    Tokens,
    VocabularyTokens,
    WordTokens,
    holds_any,
    words,
)
from argus.generative.failures.columns import Row
from argus.generative.failures.judging import Candidate, candidates
from argus.generative.failures.measures import measure
from argus.generative.failures.outputs import Output, open_outputs
from argus.generative.failures.problems import Notes, Problem, Problems
from argus.generative.failures.reading import (
    QUESTION_FIELDS,
    Reading,
    id_of,
    listed_passages,
    parsed,
    read_case,
    text_of,
)
from argus.generative.failures.settings import FailureConfig
from argus.generative.index import NgramIndex
from argus.measures.implicitness import STOP_WORDS
from argus.progress import progress


def indexed(case: Case, index: NgramIndex, k: int) -> Row:
    """Measure a question against the index: the columns of OF_INDEX (docs/autopsy.md).

    k: how many passages of the list may be a part of a cut answer. The first question of an index
    sorts the hashes of its ids, 16 bytes per passage.
    """
    lookup = lookup_of(index)
    known = [lookup.number_of(positive) for positive in case.positives or ()]
    positives = [number for number in known if number is not None]
    listed = (lookup.number_of_id(passage.id) for passage in case.passages[:k])
    near = dict.fromkeys([*positives, *(number for number in listed if number is not None)])
    pieces, word = most_pieces(case, index)
    return {
        "coverage": coverage(case.question, index),
        "pieces": pieces,
        "pieces_word": word,
        "cut_answer": cut_answer(index, case.answers, list(near)),
        "positives_indexed": len(set(positives)) if case.positives else None,
    }


def with_texts(case: Case, index: NgramIndex) -> Case:
    """Return a case whose positives have the index's title and text where the file has none."""
    if not any(positive.text is None for positive in case.positives or ()):
        return case
    lookup = lookup_of(index)
    return replace(case, positives=tuple(_with_text(p, lookup) for p in case.positives or ()))


def _with_text(positive: Positive, lookup: IndexLookup) -> Positive:
    number = lookup.number_of(positive) if positive.text is None else None
    if number is None:
        return positive
    title, text = lookup.index.title_and_text(number)
    return replace(positive, title=positive.title or title, text=text or None)


def coverage(question: str, index: NgramIndex) -> float | None:
    """Return the share of a question's different words that the corpus has (thesis, Table 12).

    A word is there when its tokens are, as they stand after a space: as written, or with its first
    letter in upper case. Where a word's tokens begin those of a longer word, that one suffices.
    A token that stands for unknown text is no word. None without words.
    """
    spellings: dict[str, set[str]] = {}
    for word in spelled(question):
        spellings.setdefault(word.casefold(), set()).update((word, word[0].upper() + word[1:]))
    if not spellings:
        return None
    tokens = index.vocabulary.encode([s for one in spellings.values() for s in one])
    unknown = index.vocabulary.unknown
    known = iter(
        [
            count > 0 and unknown not in ngram
            for ngram, count in zip(tokens, index.counts(tokens).tolist(), strict=True)
        ]
    )
    there = [any([next(known) for _ in one]) for one in spellings.values()]
    return sum(there) / len(there)


def most_pieces(case: Case, index: NgramIndex) -> tuple[int | None, str | None]:
    """Return the most tokens that a content word is split into, and that word as it is written.

    Looks in the answers. Without such a word, looks in the positives' titles, then in the
    question. Of equal words the first counts.
    """
    titles = [positive.title for positive in case.positives or ()]
    for texts in (case.answers, titles, [case.question]):
        content = [w for text in texts for w in spelled(text) if w.casefold() not in STOP_WORDS]
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


def spelled(text: str) -> Iterator[str]:
    """Yield the runs of letters and digits of a text as they are written."""
    for inside, run in groupby(text, lambda c: bool(words(c))):
        if inside:
            yield "".join(run)


class IndexLookup:
    """Find passages of an index by ids or texts. Memory: 16 bytes per passage."""

    def __init__(self, index: NgramIndex) -> None:
        self.index = index

    def number_of(self, positive: Positive) -> int | None:
        """Return the number of a positive: by its id, else by title and text. None if not there."""
        if positive.id is not None:
            return self.number_of_id(positive.id)
        return self._number_of_text(positive.title, positive.text or "")

    def number_of_id(self, id_: str) -> int | None:
        """Return the number of the passage with an id. None if the index has none."""
        hashes, numbers = self._sorted
        hash_ = np.uint64(int.from_bytes(content_hash(id_, size=8), "little"))
        begin, end = (int(np.searchsorted(hashes, hash_, side)) for side in ("left", "right"))
        return next((n for n in numbers[begin:end].tolist() if self.index.id_of(n) == id_), None)

    def _number_of_text(self, title: str, text: str) -> int | None:
        """Return the first passage of the same words. Its tokens are looked up as an n-gram."""
        (tokens,) = self.index.vocabulary.encode([text])
        if not tokens:
            return None
        same = words(title), words(text)
        for number in self.index.documents(tokens).tolist():
            own_title, own_text = self.index.title_and_text(number)
            if (words(own_title), words(own_text)) == same:
                return int(number)
        return None

    @cached_property
    def _sorted(self) -> tuple[np.ndarray, IntArray]:
        """Hashes of ids, ascending, and the passages' numbers."""
        hashes = self.index.order(np.arange(self.index.n_documents))
        numbers = np.argsort(hashes, kind="stable")
        return hashes[numbers], numbers


@lru_cache(maxsize=1)
def lookup_of(index: NgramIndex) -> IndexLookup:
    """Return the lookup of an index. The last one is cached."""
    return IndexLookup(index)


BLOCK, BLOCK_BYTES = 32, 4 << 20
"""Records, and bytes of them, that go to a worker at once, at most (but one record)."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Setup of a worker: plain values, which go to other processes.

    tokenizer: folder of a tokenizer, index: of an n-gram index. None without. qrels, answers: in
    place of the file's own. ids: of questions by their words, for records without. border: begins
    titles. judged: keep passages for a language model to judge. strict: count as the thesis does.
    """

    k: int
    correct: Literal["annotated", "answer"]
    tokenizer: Path | None = None
    index: Path | None = None
    qrels: Qrels | None = None
    answers: Mapping[str, tuple[str, ...]] | None = None
    ids: Mapping[tuple[str, ...], str] | None = None
    border: str = "</s>"
    judged: bool = False
    strict: bool = False


@dataclass
class Measurements:
    """Figures of an output.

    rows: columns of docs/autopsy.md. No id comes twice. positives: numbers in the index, for each
    row. candidates: for a judge, for each row. known: passages among the first k that the index
    holds. renamed: questions whose id had come before, as they are called now. problems: those of
    the file.
    """

    rows: list[Row] = field(default_factory=list)
    positives: list[tuple[int, ...]] = field(default_factory=list)
    candidates: list[list[Candidate]] = field(default_factory=list)
    known: int = 0
    renamed: list[str] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    _ids: set[str] = field(default_factory=set)

    def add(self, other: Measurements) -> None:
        """Add the contents of another part."""
        for row, positives, of_row in zip(
            other.rows, other.positives, other.candidates, strict=True
        ):
            self._add(row, positives, of_row)
        self.known += other.known
        self.problems.merge(other.problems)

    def _add(self, row: Row, positives: tuple[int, ...], candidates: list[Candidate]) -> None:
        """Take over a question. One whose id has come before is given another."""
        own = id_ = row["query_id"]
        times = 1
        while id_ in self._ids:
            times += 1
            id_ = f"{own} ({times})"
        if id_ != own:
            self.renamed.append(id_)
        self._ids.add(id_)
        self.rows.append({**row, "query_id": id_})
        self.positives.append(positives)
        self.candidates.append([replace(candidate, query_id=id_) for candidate in candidates])


def measurer(setup: Setup) -> Callable[[list[Item]], Measurements]:
    """Return the function that measures a block of records, in one process."""
    index = NgramIndex.open(setup.index) if setup.index else None
    kind = PublishedTokens if setup.strict else VocabularyTokens
    tokens: Tokens = kind(index.vocabulary, "index") if index else WordTokens()
    if setup.tokenizer is not None:
        from argus.generative.vocabulary import open_vocabulary

        tokens = kind(open_vocabulary(setup.tokenizer), "tokenizer")
    reading = Reading(
        tokens=tokens, correct=setup.correct, qrels=setup.qrels, answers=setup.answers,
        ids=setup.ids, border=setup.border, strict=setup.strict,
    )  # fmt: skip

    def measure_block(items: list[Item]) -> Measurements:
        measured = Measurements()
        for item in items:
            case = read_case(item.content, item.number, reading, measured.problems)
            if case is None:
                continue
            numbers: list[int | None] = []
            of_index: Row = {}
            if index is not None:
                case, lookup = with_texts(case, index), lookup_of(index)
                listed = [lookup.number_of_id(p.id) for p in case.passages[: setup.k]]
                measured.known += sum(number is not None for number in listed)
                numbers = [lookup.number_of(positive) for positive in case.positives or ()]
                of_index = indexed(case, index, setup.k)
            measured.rows.append(measure(case, setup.k) | of_index)
            measured.positives.append(tuple(n for n in numbers if n is not None))
            measured.candidates.append(candidates(case, setup.k) if setup.judged else [])
        return measured

    return measure_block


def measure_output(output: Output, setup: Setup, workers: int) -> Measurements:
    """Measure all questions of an output. `output.broken` then says where it breaks off.

    workers: processes. 1 measures in this one.
    """
    measured = Measurements()
    with progress(f"measuring {output.name}", None) as advance:
        for part in _parts(_blocks(output.items()), setup, workers):
            measured.add(part)
            advance(len(part.rows))
    return measured


def _blocks(items: Iterator[Item]) -> Iterator[list[Item]]:
    block: list[Item] = []
    size = 0
    for item in items:
        if block and (len(block) == BLOCK or size + len(item.content) > BLOCK_BYTES):
            yield block
            block, size = [], 0
        block.append(item)
        size += len(item.content)
    if block:
        yield block


def _parts(blocks: Iterator[list[Item]], setup: Setup, workers: int) -> Iterator[Measurements]:
    """Yield the part of every block, in their order."""
    early: dict[int, Measurements] = {}
    with open_engine(EngineConfig(workers=workers)) as engine:
        work = Work(setup=measurer, shared=setup, what="measuring")
        for here, (number, part) in enumerate(engine.run(work, blocks), 1):
            early[number] = part
            first = here - len(early)
            while first in early:
                yield early.pop(first)
                first += 1


def make_setup(
    config: FailureConfig,
    home: Path | None,
    queries: Path | None,
    qrels: Qrels | None,
    fields: FieldNames,
) -> Setup:
    """Return the setup of the workers. Opens index and tokenizer once, to check them."""
    if home is not None:
        NgramIndex.open(home)
    if config.tokenizer is not None:
        from argus.generative.vocabulary import open_vocabulary

        open_vocabulary(config.tokenizer)
    topics = read_topics(queries, coerce_ids=fields.coerce_ids) if queries else []
    return Setup(
        k=config.k, correct=config.correct.value, tokenizer=config.tokenizer, strict=config.strict,
        index=home,
        qrels=qrels,
        answers={t.query.id: t.answers for t in topics if t.answers} or None,
        ids=ids_of_questions(t.query for t in topics) or None, judged=config.llm is not None,
    )  # fmt: skip


def ids_of_questions(queries: Iterable[Query]) -> dict[tuple[str, ...], str]:
    """Return the ids of questions by their words. Those that several have are left out."""
    questions = [(words(query.text), query.id) for query in queries]
    times = Counter(question for question, _ in questions)
    return {question: id_ for question, id_ in questions if times[question] == 1}


def check_measured(output: Output, measured: Measurements, setup: Setup) -> None:
    """Refuse an output without anything to measure.

    Raises InputError if it holds no question, no passage, none of the questions that are
    judged, or passages of another index.
    """
    _need_questions(output, measured)
    if setup.qrels is not None and all(row["query_id"] not in setup.qrels for row in measured.rows):
        raise InputError(
            f"--qrels judges {len(setup.qrels):,} questions ({next(iter(setup.qrels))!r}, ...), "
            f"none of the {len(measured.rows):,} of this output "
            f"({measured.rows[0]['query_id']!r}, ...)",
            expected="judgements of the questions that were asked",
            fix="Check that both belong together. A file whose questions have no ids needs "
            "--queries, too, which has ids and texts.",
            where=output.file,
        )
    listed = any(row["passages"] for row in measured.rows)
    matched = measured.known or any(measured.positives)
    if setup.index is not None and listed and not matched:
        raise InputError(
            "no passage and no positive of this output is in --corpus-index",
            expected="the index of the passages that were searched",
            fix="Check that both belong together; ids must be the same.",
            where=output.file,
        )


def _need_questions(output: Output, measured: Measurements) -> None:
    rows = measured.rows
    if any(row["passages"] for row in rows):
        return
    what = f"{len(rows):,} questions, no passage" if rows else "no question in it"
    unreadable = measured.problems.counts.get(Problem.RECORDS, 0)
    if unreadable:
        what += f"; {unreadable:,} records are no question"
    if output.broken:
        what += f": {output.broken}"
    raise InputError(
        what,
        expected="at least one question with the passages that were found for it (ctxs)",
        fix="Check that these are results, not questions alone.",
        where=output.file,
    )


def ranked(output: Path, queries: Sequence[Query]) -> Run:
    """Return the passages of each question, by ids. Scores fall with the place.

    output: as `analyse_failures` takes it, but no run. A question without an id has that of the
    query of its words. A passage without one keeps its place in the file. Raises InputError for a
    run, and for files without answers.
    """
    (opened,) = open_outputs([output], corpus=None, queries=None, fields=FieldNames())
    ids, problems = ids_of_questions(queries), Problems()
    run: Run = {}
    for item in opened.items():
        note = Notes(problems, item.number)
        try:
            record = parsed(item.content, note)
        except ValueError:
            continue  # the analysis counts it
        if not isinstance(record, dict):
            continue
        question = next(filter(None, (text_of(record, name) for name in QUESTION_FIELDS)), "")
        id_ = id_of(record, TOPIC_ID_FIELDS) or ids.get(words(question))
        if id_ is None:
            continue
        passages = listed_passages(record, note)
        run[id_] = {
            p.place if p.id is None else p.id: float(len(passages) - place)
            for place, p in enumerate(passages)
        }
    return run
