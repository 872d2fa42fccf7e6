"""Follow pruned n-grams: where each left the beam, and the beam size that would keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from argus.generative.decode.model import Sources
from argus.generative.failures.replay.gold import Ngram, Places
from argus.generative.failures.replay.path import Left, follow, kept_by
from argus.generative.failures.summary import LostNgram
from argus.generative.keys import Key
from argus.generative.searcher import GenerativeSearcher
from argus.generative.views import QUERY, TITLE
from argus.generative.vocabulary import Vocabulary

_VIEWS = {TITLE: "title", QUERY: "pseudo-query"}


@dataclass(frozen=True, slots=True)
class Pruned:
    """An n-gram of a positive that the beam search did not write, and its weight."""

    key: Key
    weight: float


@dataclass(frozen=True, slots=True)
class Lost:
    """A pruned n-gram that was followed.

    text: without markers (border, ` @@`, ` ||`), stripped. view: "body", "title" or "query". at,
    rank: the token, from 1, at which its prefix left the beam, and its place there (see `Left`).
    None if the search wrote it this time, which takes a device that rounds differently from run
    to run. kept_by: the least beam size tried that writes it. None if none does.
    """

    text: str
    view: str
    weight: float
    at: int | None
    rank: int | None
    kept_by: int | None

    @property
    def label(self) -> str:
        """The text, with where it is from unless from a body: `trace (title)`."""
        return f"{self.text} ({_VIEWS[self.view]})" if self.view in _VIEWS else self.text

    def row(self) -> LostNgram:
        """Return it as a row of a table."""
        return {
            "ngram": self.text, "view": self.view, "weight": self.weight,
            "left_at": self.at, "rank": self.rank, "kept_by": self.kept_by,
        }  # fmt: skip


def followed(
    searcher: GenerativeSearcher,
    pruned: Sequence[Pruned],
    sources: Sources,
    places: Places,
    most_beams: int,
) -> tuple[Lost, ...]:
    """Return the paths of pruned n-grams, in their order.

    sources, places: of one question, as `GenerativeSearcher.encode` gives them. One search per view
    follows all its n-grams, and one per view and beam size those that are not written yet. These
    are plain ones, whatever cure the search has: an n-gram that a cure loses has left a plain beam.
    """
    fates: dict[Key, tuple[Left | None, int | None]] = {}
    for view in searcher.views:
        mine = [one.key for one in pruned if one.key.view == view.name]
        if view.search is None or not mine:
            continue
        ngrams = [key.tokens[len(view.search.prefix) :] for key in mine]
        at = np.s_[places[view.name] : places[view.name] + 1]
        source = Sources(sources.hidden[at], sources.mask[at])
        search = (searcher.model, source, searcher.index, view.search.plain, ngrams)
        left, beams = follow(*search).left, kept_by(*search, most_beams)
        fates |= {
            key: (left.get(ngram), beams.get(ngram))
            for key, ngram in zip(mine, ngrams, strict=True)
        }
    texts = _texts(searcher.index.vocabulary, [one.key.tokens for one in pruned])
    return tuple(_lost(one, text, *fates[one.key]) for one, text in zip(pruned, texts, strict=True))


def _lost(one: Pruned, text: str, left: Left | None, beams: int | None) -> Lost:
    at, rank = (left.at, left.rank) if left else (None, None)
    return Lost(text, one.key.view, one.weight, at, rank, beams)


def _texts(vocabulary: Vocabulary, ngrams: Sequence[Ngram]) -> list[str]:
    """Return n-grams as text, without markers at their ends. One of markers alone stays."""
    markers = {vocabulary.border, vocabulary.title_end, vocabulary.query_start}
    bare = []
    for ngram in ngrams:
        plain = [at for at, token in enumerate(ngram) if token not in markers]
        bare.append(ngram[plain[0] : plain[-1] + 1] if plain else ngram)
    return [text.strip() for text in vocabulary.decode_all(bare)]
