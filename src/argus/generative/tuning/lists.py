"""Rank passages for judged questions, with the keys that make up their scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from argus.data.types import Query
from argus.generative.evidence import Matched, Ranked, aggregate
from argus.generative.evidence.ranking import UNIGRAM
from argus.generative.searcher import GenerativeSearcher
from argus.generative.views import BODY
from argus.progress import progress


@dataclass(frozen=True, slots=True)
class ScoredKey:
    """A key as it is scored, for one question.

    marker: of the encoder input that it is scored by (see `KeyView.rescored_by`). written: its
    tokens that are scored. count: occurrences in the corpus. length: of all its tokens. pseudo:
    whether it is a pseudo-query, which has MINDER's bonus. single: a single token, whose weight has
    no exponent.
    """

    marker: str | None
    written: tuple[int, ...]
    count: int
    length: int
    pseudo: bool
    single: bool


@dataclass(frozen=True, slots=True)
class ListedPassage:
    """A passage of a list. keys: its weightiest, each with its weight after repetition.

    score: the sum of their weights, as the search found them.
    """

    right: bool
    keys: tuple[tuple[ScoredKey, float], ...]
    score: float


@dataclass(frozen=True)
class RankList:
    """A model's ranking for a question, best first.

    gold: ids of the passages that answer it. place: of the first of them, from 1. None if none
    is in the list.
    """

    query: Query
    gold: frozenset[str]
    passages: tuple[ListedPassage, ...]
    place: int | None

    @property
    def teaches(self) -> bool:
        """Whether there is a right passage and a wrong one."""
        return self.place is not None and not all(p.right for p in self.passages)


def rank_lists(
    searcher: GenerativeSearcher,
    queries: Sequence[Query],
    gold: Sequence[frozenset[str]],
    *,
    passages: int,
    keys: int,
) -> list[RankList]:
    """Return the list of each question. gold: ids of the passages that answer it.

    passages: in a list at most. keys: of a passage at most.
    """
    lists: list[RankList] = []
    with progress("ranking", len(queries)) as on:
        for query, right, ranked in _ranked(searcher, queries, gold, passages):
            listed = tuple(
                ListedPassage(
                    searcher.index.id_of(document) in right,
                    _keys(searcher, ranked, matched[:keys]),
                    sum(m.weight for m in matched[:keys]),
                )
                for document, matched in zip(ranked.documents.tolist(), ranked.matched, strict=True)
            )
            place = next((n for n, passage in enumerate(listed, 1) if passage.right), None)
            lists.append(RankList(query, right, listed, place))
            on(1)
    return lists


def _ranked(
    searcher: GenerativeSearcher,
    queries: Sequence[Query],
    gold: Sequence[frozenset[str]],
    passages: int,
) -> Iterator[tuple[Query, frozenset[str], Ranked]]:
    size = searcher.batch
    for begin in range(0, len(queries), size):
        part = queries[begin : begin + size]
        for query, right, written in zip(
            part, gold[begin : begin + size], searcher.keys([q.text for q in part]), strict=True
        ):
            index, scoring = searcher.index, searcher.scoring
            yield (
                query,
                right,
                aggregate(index, written.keys, written.unigrams, scoring, passages),
            )


def _keys(
    searcher: GenerativeSearcher, ranked: Ranked, matched: Sequence[Matched]
) -> tuple[tuple[ScoredKey, float], ...]:
    """Return keys with their coverage weight: 1 - beta * the share of tokens that came before."""
    views = {view.name: view for view in searcher.views}
    penalty = searcher.scoring.repetition_penalty
    before: set[int] = set()
    keys = []
    for match in matched:
        name = ranked.view_of(match)
        types = set(match.tokens)
        factor = 1 - penalty * len(types & before) / len(types)
        before |= types
        single = name == UNIGRAM
        key = ScoredKey(
            marker=BODY if single else views[name].rescored_by,
            written=match.tokens if single else views[name].scored(match.tokens),
            count=match.count,
            length=len(match.tokens),
            pseudo=not single and match.tokens[0] == searcher.model.vocabulary.query_start,
            single=single,
        )
        keys.append((key, factor))
    return tuple(keys)


def distinct(passages: Sequence[ListedPassage]) -> list[ScoredKey]:
    """Return the keys of passages, each once."""
    return list(dict.fromkeys(key for key, _ in chain(*(p.keys for p in passages))))
