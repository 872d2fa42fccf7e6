"""Views of a document's title and one sentence each."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from argus.data.types import Document, View
from argus.indexes.blend import SENTENCE
from argus.retrievability.sentences import split_sentences

LONGEST = 600
"""Characters of one sentence: what is longer has none that the marks of one could tell."""
_WORD = re.compile(r"\w")
_WHOLE_END = re.compile(r"(?<=[。！？｡])(?=\S)")
"""Where a sentence ends in a script without spaces."""


@dataclass(frozen=True)
class SentenceViews:
    """The views, and which documents have fewer than they could, or none."""

    views: list[View]
    holders: list[list[int]]
    """Of each view, the positions of the documents that hold its sentence."""
    whole: dict[int, list[int]]
    """Documents of one sentence, by position, and those that hold it: their own view says it."""
    none: int
    """Documents of one sentence, or without a word: without a view."""
    joined: int
    """Documents of more sentences than views: neighbours stand together."""


def sentence_views(documents: Sequence[Document], remedy: str, most: int) -> SentenceViews:
    """Return a view of title and sentence for every sentence of documents that have several.

    Ids are `doc#remedy-i`. A document has `most` views at most: of more sentences, neighbours are
    joined, so that all of its text is in one; an encoder reads as much of it as its window holds.
    """
    views: list[View] = []
    held: list[str] = []
    whole: dict[int, str] = {}
    holders: dict[str, list[int]] = {}
    counts: Counter[str] = Counter()
    for position, document in enumerate(documents):
        windows = list(dict.fromkeys(windows_of(document)))
        is_whole = len(windows) < 2
        if len(windows) > most:
            counts["joined"] += 1
            windows = _joined(windows, most)
        for window in windows:
            holders.setdefault(window, []).append(position)
        if is_whole:
            counts["none"] += 1
            whole.update((position, window) for window in windows)
            continue
        held += windows
        views += [
            View(f"{document.id}#{remedy}-{i}", document.id, SENTENCE, _titled(document, window))
            for i, window in enumerate(windows)
        ]
    return SentenceViews(
        views,
        [holders[window] for window in held],
        {position: holders[window] for position, window in whole.items()},
        counts["none"],
        counts["joined"],
    )


def windows_of(document: Document) -> Iterator[str]:
    """Yield the sentences of a document's text, its title left out; only what has a word.

    A stretch without the marks of sentences (a table, code, a list) is cut at line ends, and where
    a line is long, too, between words.
    """
    body = document.text.removeprefix(document.title) if document.title else document.text
    for span in split_sentences(body):
        for whole in _WHOLE_END.split(body[span.start : span.end]):
            for piece in _pieces(whole):
                if _WORD.search(piece):
                    yield piece


def _pieces(text: str) -> Iterator[str]:
    if len(text) <= LONGEST:
        yield text.strip()
        return
    for line in text.splitlines():
        rest = line.strip()
        while len(rest) > LONGEST:
            end = rest.rfind(" ", 1, LONGEST)
            end = LONGEST if end < 0 else end
            yield rest[:end].strip()
            rest = rest[end:].strip()
        yield rest


def _joined(windows: Sequence[str], most: int) -> list[str]:
    bounds = [round(i * len(windows) / most) for i in range(most + 1)]
    return [" ".join(windows[a:b]) for a, b in pairwise(bounds)]


def _titled(document: Document, window: str) -> str:
    return replace(document, text=window).content
