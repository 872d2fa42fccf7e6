"""N-grams of a passage that a search could have written, and their scores."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from argus.generative.decode.beams import Search
from argus.generative.decode.model import Sources
from argus.generative.decode.rescore import Targets, score_all
from argus.generative.index import NgramIndex
from argus.generative.keys import ROUNDING, Key
from argus.generative.searcher import GenerativeSearcher
from argus.generative.views import BODY, TITLE, KeyView

Ngram = tuple[int, ...]
Places = dict[str | None, int]


def gold_ngrams(
    index: NgramIndex, documents: Sequence[int], view: KeyView, *, partial: bool = False
) -> list[Ngram]:
    """Return the n-grams a view's search could write of passages, each once, with prefixes.

    Texts give every n-gram up to the longest that the search writes. Titles and pseudo-queries
    give the whole one with its closing token, if it is not longer. With `partial` they give all
    beginnings. N-grams with a barred token are left out. So are the question's own words, which
    are not written.
    """
    search = view.search
    if search is None:
        return []
    ngrams: dict[Ngram, None] = {}
    for document in documents:
        _, array = index.tokens_of(np.array([document]))
        tokens = array.tolist()
        if search.last is None:
            begin, end = index.splits(np.array([document]))[0].tolist()
            of_document = _windows(tokens[begin:end], search)
        else:
            of_document = _closed(tokens, search, partial)
        allowed = (n for n in of_document if search.barred.isdisjoint(_free(n, search)))
        ngrams.update(dict.fromkeys(allowed))
    return list(ngrams)


def keeps_partial(searcher: GenerativeSearcher, view: KeyView) -> bool:
    """Return whether a search keeps n-grams of a view that were not written to their end."""
    return view.name == TITLE and searcher.decoding.partial_titles


def scored(
    searcher: GenerativeSearcher,
    view: KeyView,
    ngrams: Sequence[Ngram],
    sources: Sources,
    places: Places,
) -> list[Key]:
    """Return n-grams as keys with the scores that the search would give them.

    sources, places: of one question, as `GenerativeSearcher.encode` gives them. Teacher-forced by
    the view's rules, or with the sums of its beam search where it does not score again. N-grams
    without weight, since a beginning is too improbable, are left out. So short n-grams are scored
    first.
    """
    scored_keys: list[Key] = []
    least = _least(searcher, view)
    low: set[Ngram] = set()
    reach, left = 2 if least > -math.inf else sys.maxsize, list(ngrams)
    while left:
        now = [ngram for ngram in left if len(ngram) <= reach]
        keys = _scored_at_once(searcher, view, now, sources, places) if now else []
        scored_keys += keys
        low.update(key.tokens for key in keys if key.log_probability < least)
        left = [ngram for ngram in left if len(ngram) > reach and ngram[:reach] not in low]
        reach *= 2
    return scored_keys


def _least(searcher: GenerativeSearcher, view: KeyView) -> float:
    """Return a log-probability below which no n-gram of a view weighs anything, nor a longer one.

    It has to exceed the share in the corpus of an n-gram that occurs once (eq. 2). Whole titles
    and pseudo-queries are few. Other scorings have no such limit.
    """
    scoring, n = searcher.scoring, searcher.index.n_tokens
    if view.name != BODY or scoring.length_penalty:
        return -math.inf
    return math.log((1 + scoring.smoothing) / (n + scoring.smoothing)) - ROUNDING


def _scored_at_once(
    searcher: GenerativeSearcher,
    view: KeyView,
    ngrams: Sequence[Ngram],
    sources: Sources,
    places: Places,
) -> list[Key]:
    if searcher.decoding.rescore:
        keys = [Key(ngram, 0.0, view.name) for ngram in ngrams]
        return searcher.rescored(view, [keys], sources, places[view.rescored_by])[0]
    assert view.search is not None
    opening = view.search.opening
    paths = {ngram: (*opening, *_free(ngram, view.search)) for ngram in ngrams}
    targets = Targets(places[view.name], frozenset({opening, *paths.values()}))
    (logs,) = score_all(searcher.model, sources, [targets])
    before = logs.get(opening, 0.0)
    return [Key(n, min(0.0, logs[path] - before), view.name) for n, path in paths.items()]


def _free(ngram: Ngram, search: Search) -> Ngram:
    """Return the written part of an n-gram: all but the prefix."""
    return ngram[len(search.prefix) :]


def _windows(text: Sequence[int], search: Search) -> Iterator[Ngram]:
    for start in range(len(text)):
        for end in range(start + 1, min(start + search.longest, len(text)) + 1):
            yield (*search.prefix, *text[start:end])


def _closed(tokens: Sequence[int], search: Search, partial: bool) -> Iterator[Ngram]:
    """Yield beginnings after the prefix up to the closing token. That token alone is nothing."""
    n, prefix = len(search.prefix), list(search.prefix)
    for at in range(len(tokens) - n + 1):
        if tokens[at : at + n] != prefix or search.last not in tokens[at + n :]:
            continue
        end = tokens.index(search.last, at + n) + 1
        longest = min(end, at + n + search.longest)
        for stop in range(at + n + 2, longest + 1):
            if partial or stop == end:
                yield tuple(tokens[at:stop])
