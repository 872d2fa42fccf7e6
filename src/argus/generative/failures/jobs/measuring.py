"""Measure all questions of an output, one at a time, on all cores.

The record of a question is read, measured and dropped: a row of figures stays. Records go
to the workers as bytes, so that parsing is shared out, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Literal

from argus.data.json_list import Item
from argus.data.types import Qrels
from argus.engine import EngineConfig, Work, open_engine
from argus.generative.failures.case import Case
from argus.generative.failures.indexed import indexed, lookup_of, with_texts
from argus.generative.failures.jobs.inputs import Output
from argus.generative.failures.judge import Candidate, candidates
from argus.generative.failures.measures import measure
from argus.generative.failures.measures.columns import (
    IndexFigures,
    JudgeFigures,
    ReplayFigures,
    Row,
)
from argus.generative.failures.reading import Problems, Reading, read_case
from argus.generative.failures.tokens import PublishedTokens, Tokens, VocabularyTokens, WordTokens
from argus.generative.index import NgramIndex
from argus.progress import progress

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


class Measurer:
    """Measures records, one process's share."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.reading = Reading(
            tokens=self._tokens(),
            correct=setup.correct,
            qrels=setup.qrels,
            answers=setup.answers,
            ids=setup.ids,
            border=setup.border,
            strict=setup.strict,
        )

    def measure(self, items: Iterable[Item]) -> Measurements:
        """Return the rows of some records, in their order."""
        measured = Measurements()
        for item in items:
            case = read_case(item.content, item.number, self.reading, measured.problems)
            if case is None:
                continue
            if self._index is not None:
                case = with_texts(case, self._index)
                measured.known += self._known(case)
            measured.rows.append(self._row(case))
            measured.positives.append(self._numbers(case))
            judged = self.setup.judged
            measured.candidates.append(candidates(case, self.setup.k) if judged else [])
        return measured

    def _row(self, case: Case) -> Row:
        index, k = self._index, self.setup.k
        of_index = IndexFigures() if index is None else indexed(case, index, k)
        return {**measure(case, k), **of_index, **ReplayFigures(), **JudgeFigures()}

    def _numbers(self, case: Case) -> tuple[int, ...]:
        """Return the positives' numbers in the index. None without one."""
        if self._index is None:
            return ()
        numbers = map(lookup_of(self._index).number_of, case.positives or ())
        return tuple(n for n in numbers if n is not None)

    def _known(self, case: Case) -> int:
        assert self._index is not None
        number_of = lookup_of(self._index).number_of_id
        return sum(number_of(p.id) is not None for p in case.passages[: self.setup.k])

    @cached_property
    def _index(self) -> NgramIndex | None:
        return None if self.setup.index is None else NgramIndex.open(self.setup.index)

    def _tokens(self) -> Tokens:
        kind = PublishedTokens if self.setup.strict else VocabularyTokens
        if self.setup.tokenizer is not None:
            from argus.generative.vocabulary import open_vocabulary

            return kind(open_vocabulary(self.setup.tokenizer), "tokenizer")
        if self._index is not None:
            return kind(self._index.vocabulary, "index")
        return WordTokens()


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
        work = Work(setup=_measurer, shared=setup, what="measuring")
        for here, (number, part) in enumerate(engine.run(work, blocks), 1):
            early[number] = part
            first = here - len(early)
            while first in early:
                yield early.pop(first)
                first += 1


def _measurer(setup: Setup) -> Callable[[list[Item]], Measurements]:
    return Measurer(setup).measure
