"""Rank the best positive with keys added or switched off, without decoding again."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from argus.data.types import FloatArray
from argus.generative.evidence import aggregate
from argus.generative.index import NgramIndex
from argus.generative.keys import Key
from argus.generative.settings import Scoring

_AT_FIRST = (16, 128)
"""Passages ranked first, where the best positive mostly is. Then all."""


def best_rank(
    index: NgramIndex,
    keys: Sequence[Key],
    unigrams: FloatArray,
    scoring: Scoring,
    positives: Collection[int],
) -> int | None:
    """Return the best rank of several passages, from 1, among all that the keys rank.

    None if none is there. The ranking is that of the search. A longer one begins as a shorter
    one does, so short ones come first: the n-grams of each passage take most of the time.
    """
    for k in (*(n for n in _AT_FIRST if n < scoring.full_documents), scoring.full_documents):
        documents = aggregate(index, keys, unigrams, scoring, k).documents
        places = np.flatnonzero(np.isin(documents, list(positives)))
        if len(places):
            return int(places[0]) + 1
        if len(documents) < k:
            break
    return None


def without(index: NgramIndex, keys: Sequence[Key], what: str) -> list[Key] | None:
    """Return the keys but "titles", "queries" or "unigrams". None if the index has none.

    As in an output file, an n-gram is a title when it begins with the border, a pseudo-query when
    it begins with ` ||`. A unigram is another of one token, a closing ` @@` not counted.
    """
    v = index.vocabulary
    if what == "unigrams":
        return [key for key in keys if not _single(key.tokens, v.title_end)]
    there, opening = (
        (index.titles, v.border)
        if what == "titles"
        else (index.count([v.query_start]) > 0, v.query_start)
    )
    return [key for key in keys if key.tokens[0] != opening] if there else None


def rank_without(
    index: NgramIndex,
    keys: Sequence[Key],
    unigrams: FloatArray,
    scoring: Scoring,
    positives: Collection[int],
    what: str,
) -> int | None:
    """Return `best_rank` without some keys (see `without`). None, too, where the index has none.

    Without unigrams, single tokens do not count at free places either.
    """
    left = without(index, keys, what)
    if left is None:
        return None
    if what == "unigrams":
        scoring = replace(scoring, unigrams=0)
    return best_rank(index, left, unigrams, scoring, positives)


def _single(tokens: tuple[int, ...], title_end: int) -> bool:
    return len(tokens[:-1] if len(tokens) == 2 and tokens[1] == title_end else tokens) == 1
