"""The three views of a passage, and how keys of each are searched and scored.

SEAL writes n-grams of the body and titles, MINDER pseudo-queries, too. A view's n-gram follows a
prefix (a title follows the border) and may have to end in a token (` @@`). To score a key again,
the tokens that only frame it are left out, and the question is given with the marker that the
published systems use there: the body's without any. As a table: docs/ngrams.md, "Passages and
views".
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

from argus.generative.decode.beams import Search
from argus.generative.decode.settings import Cure, Decoding
from argus.generative.settings import Mode
from argus.generative.vocabulary import Vocabulary

BODY, TITLE, QUERY, QUESTION = "body", "title", "query", "question"


@dataclass(frozen=True)
class KeyView:
    """One view. name: also its marker for the model. search: None for the question's own words.

    rescored_by: the marker of the encoder input when keys are scored again, None for the plain
    question. before, after: tokens left out there, at the beginning and at the end.
    """

    name: str
    search: Search | None
    rescored_by: str | None
    before: frozenset[int]
    after: frozenset[int]

    def scored(self, key: tuple[int, ...]) -> tuple[int, ...]:
        """Return the tokens of a key that are scored."""
        begin, end = 0, len(key)
        while begin < end and key[begin] in self.before:
            begin += 1
        while end > begin and key[end - 1] in self.after:
            end -= 1
        return key[begin:end]


def key_views(
    mode: Mode,
    vocabulary: Vocabulary,
    decoding: Decoding,
    *,
    titles: bool,
    start: int,
    limit: int | None = None,
) -> list[KeyView]:
    """Return the views of SEAL or MINDER, in the order in which their keys are merged.

    titles: whether the index has titles. start: the decoder's start token. limit: tokens that the
    model writes at most, None for any number: views are searched no longer than that.
    """
    v = vocabulary
    room = sys.maxsize if limit is None else limit - 1  # one place is the pseudo-query's opening
    never = frozenset(t for t in (v.border, v.pad, v.unknown) if t is not None)
    frame = frozenset({v.border, v.title_end, start})
    closing = frozenset({v.title_end, v.query_start, v.border})
    nothing: frozenset[int] = frozenset()

    rounds = decoding.rounds if decoding.cure == Cure.BACKTRACKING else 0
    plain = Search(0, decoding.beams, barred=never, rounds=rounds)
    body = replace(plain, longest=min(decoding.body_tokens, room))
    views = [KeyView(BODY, body, None, frame, closing)]
    if decoding.question_ngrams:
        views.append(KeyView(QUESTION, None, BODY, nothing, nothing))
    if titles:
        longest = min(decoding.title_tokens, room)
        title = replace(plain, longest=longest, prefix=(v.border,), last=v.title_end)
        views.append(KeyView(TITLE, title, TITLE, frame, frozenset({v.border})))
    if mode is Mode.MINDER:
        opening = (v.query_start,)
        longest = min(decoding.query_tokens, room)
        query = replace(plain, longest=longest, prefix=opening, opening=opening, last=v.title_end)
        framed = frame | {v.query_start}
        views.append(KeyView(QUERY, query, QUERY, framed, frozenset({v.border})))
    return views
