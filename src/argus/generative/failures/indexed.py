"""Measure a question against the n-gram index: words that the corpus lacks, cut answers (§3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import groupby

import numpy as np

from argus.data.provenance import content_hash
from argus.data.types import IntArray
from argus.generative.failures.case import Case, Positive
from argus.generative.failures.measures.columns import IndexFigures
from argus.generative.failures.words import holds_any, words
from argus.generative.index import NgramIndex
from argus.measures.implicitness import STOP_WORDS


def indexed(case: Case, index: NgramIndex, k: int) -> IndexFigures:
    """Return the columns `IndexFigures` (docs/autopsy.md).

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
