"""Examples of ranking: per question and epoch two pairs of passages, and texts to write.

The first pair is always the right and the wrong passage that rank highest, the second is drawn from
all that are right and all that are wrong (LTRGR's two rank losses).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argus.generative.training.examples import Drawn
from argus.generative.training.task import Pair
from argus.generative.tuning.lists import ListedPassage, RankList, ScoredKey, distinct
from argus.generative.vocabulary import Vocabulary

VALIDATION = 2**31
"""An epoch that no training reaches."""


@dataclass(frozen=True, slots=True)
class RankExample:
    """One question.

    sources: encoder inputs, one per marker that its keys are scored by. keys: with the number of
    their source. passages: the right and the wrong one of the first pair, then of the second. Each
    as numbers of keys and the part of their weights that repetition leaves. pairs: texts to write.
    """

    sources: tuple[tuple[int, ...], ...]
    keys: tuple[tuple[int, ScoredKey], ...]
    passages: tuple[tuple[tuple[int, float], ...], ...]
    pairs: tuple[Pair, ...]


class RankExamples:
    """Questions that teach to rank. Number, epoch and seed alone decide the draw.

    slots: by question, numbers of its texts in `written`. limit: tokens of an encoder
    input at most.
    """

    def __init__(
        self,
        lists: Sequence[RankList],
        written: Drawn,
        slots: Sequence[Sequence[int]],
        vocabulary: Vocabulary,
        *,
        seed: int,
        limit: int | None,
    ) -> None:
        self.lists, self.written, self.slots = lists, written, slots
        self.vocabulary, self.seed, self.limit = vocabulary, seed, limit

    def __len__(self) -> int:
        return len(self.lists)

    def batch(self, epoch: int, numbers: Sequence[int]) -> list[RankExample]:
        """Return the examples of those numbers in an epoch."""
        return [self._example(epoch, number) for number in numbers]

    def _example(self, epoch: int, number: int) -> RankExample:
        listed = self.lists[number]
        rng = np.random.default_rng([self.seed, epoch, number])
        right = [p for p in listed.passages if p.right]
        wrong = [p for p in listed.passages if not p.right]
        drawn = [side[int(rng.integers(len(side)))] for side in (right, wrong)]
        passages = [right[0], wrong[0], *drawn]
        keys = distinct(passages)
        markers = list(dict.fromkeys(key.marker for key in keys))
        number_of = {key: n for n, key in enumerate(keys)}
        return RankExample(
            sources=tuple(self._source(listed.query.text, marker) for marker in markers),
            keys=tuple((markers.index(key.marker), key) for key in keys),
            passages=tuple(_numbered(p, number_of) for p in passages),
            pairs=tuple(self.written.batch(epoch, self.slots[number])),
        )

    def _source(self, text: str, marker: str | None) -> tuple[int, ...]:
        return tuple(self.vocabulary.sources([text], marker, limit=self.limit)[0])


def _numbered(
    passage: ListedPassage, number_of: dict[ScoredKey, int]
) -> tuple[tuple[int, float], ...]:
    return tuple((number_of[key], factor) for key, factor in passage.keys)
