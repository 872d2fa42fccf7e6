"""All questions of an output measured, one at a time, on all cores.

What was found for a question is read, measured and forgotten: a row of figures stays. Records go
to the workers as bytes, so that parsing is shared out, too.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

from argus.data.json_list import Item
from argus.data.types import Qrels
from argus.generative.failures.indexed import indexed, lookup_of, with_texts
from argus.generative.failures.judge import Candidate, candidates
from argus.generative.failures.measures import measure
from argus.generative.failures.reading import Problems, Reading, read_case
from argus.generative.failures.tokens import Tokens, VocabularyTokens, WordTokens
from argus.generative.index import NgramIndex
from argus.progress import progress
from argus.workflows.generative.failures.inputs import Output

BLOCK = 8
"""Records that go to a worker at once: a few megabytes."""
AHEAD = 2
"""Blocks that wait per worker: what is in memory at most."""


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a worker needs to know; plain values, which go to other processes.

    tokenizer: folder of a tokenizer, index: of an n-gram index; None without. qrels, answers: in
    place of the file's own. border: begins titles. judged: keep what a language model may judge.
    """

    k: int
    correct: Literal["annotated", "answer"]
    tokenizer: Path | None = None
    index: Path | None = None
    qrels: Qrels | None = None
    answers: Mapping[str, tuple[str, ...]] | None = None
    border: str = "</s>"
    judged: bool = False


@dataclass
class Measured:
    """What an output comes to.

    rows: columns of docs/failures.md. positives: by question, their numbers in the index. problems:
    what was amiss in the file.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    positives: dict[str, tuple[int, ...]] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)

    def add(self, other: Measured) -> None:
        """Take over what another part holds."""
        self.rows += other.rows
        self.positives |= other.positives
        self.candidates += other.candidates
        self.problems.merge(other.problems)


class Measurer:
    """Measures records, one process's share."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.reading = Reading(
            tokens=self._tokens(),
            correct=setup.correct,
            qrels=setup.qrels,
            answers=setup.answers,
            border=setup.border,
        )

    def measure(self, items: Iterable[Item]) -> Measured:
        """Return the rows of some records, in their order."""
        found = Measured()
        for item in items:
            case = read_case(item.content, item.number, self.reading, found.problems)
            if case is None:
                continue
            if self._index is not None:
                case = with_texts(case, self._index)
            row = measure(case, self.setup.k)
            if self._index is not None:
                row |= indexed(case, self._index, self.setup.k)
                lookup = lookup_of(self._index)
                numbers = map(lookup.number_of, case.positives or ())
                found.positives[case.id] = tuple(n for n in numbers if n is not None)
            found.rows.append(row)
            if self.setup.judged:
                found.candidates += candidates(case, self.setup.k)
        return found

    @cached_property
    def _index(self) -> NgramIndex | None:
        return None if self.setup.index is None else NgramIndex.open(self.setup.index)

    def _tokens(self) -> Tokens:
        if self.setup.tokenizer is not None:
            from argus.generative.vocabulary import open_vocabulary

            return VocabularyTokens(open_vocabulary(self.setup.tokenizer), "tokenizer")
        if self._index is not None:
            return VocabularyTokens(self._index.vocabulary, "index")
        return WordTokens()


def measure_output(output: Output, setup: Setup, workers: int) -> Measured:
    """Measure all questions of an output; `output.broken` then says where it breaks off.

    workers: processes; 1 measures in this one.
    """
    found = Measured()
    with progress(f"measuring {output.name}", None) as advance:
        for part in _parts(_blocks(output.items()), setup, workers):
            found.add(part)
            advance(len(part.rows))
    return found


def _blocks(items: Iterator[Item]) -> Iterator[tuple[Item, ...]]:
    while block := tuple(islice(items, BLOCK)):
        yield block


def _parts(blocks: Iterator[tuple[Item, ...]], setup: Setup, workers: int) -> Iterator[Measured]:
    """Yield what every block comes to, in their order."""
    if workers == 1:
        measurer = Measurer(setup)
        yield from map(measurer.measure, blocks)
        return
    with ProcessPoolExecutor(
        workers, mp_context=get_context("spawn"), initializer=_begin, initargs=(setup,)
    ) as pool:
        waiting: deque[Future[Measured]] = deque()
        while True:
            room = workers * AHEAD - len(waiting)
            waiting.extend(pool.submit(_measure, block) for block in islice(blocks, room))
            if not waiting:
                return
            yield waiting.popleft().result()


_own: Measurer | None = None


def _begin(setup: Setup) -> None:
    global _own
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # the cores have their processes
    _own = Measurer(setup)


def _measure(items: tuple[Item, ...]) -> Measured:
    assert _own is not None
    return _own.measure(items)
