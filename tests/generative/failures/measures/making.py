"""Small cases, written as one would note them down, and cases at random."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from argus.generative.failures.reading import (
    BODY,
    QUERY,
    TITLE,
    Case,
    Keys,
    Ngram,
    Passage,
    Positive,
    words,
)

BEGINNINGS = {"</s> ": TITLE, "|| ": QUERY, "": BODY}


def ngram(written, count=1):
    """Return the n-gram of "</s> a title", "|| a pseudo-query" or a text; tokens are words."""
    start, view = next((s, v) for s, v in BEGINNINGS.items() if written.startswith(s))
    text = written.removeprefix(start)
    return Ngram(text, view, words(text), words(text), count)


def found(correct, keys=None, *, title="", text=""):
    """Return what `made` makes a passage of. keys: n-gram as written -> weight."""
    return correct, keys, title, text


def made(*passages, question="", answers=(), positives=None, counts=None):
    """Return a case. positives: how many, or their texts, or pairs of title and text.

    counts: n-gram -> count, else 1.
    """
    counts = counts or {}
    written = list(dict.fromkeys(name for _, keys, *_ in passages for name in keys or ()))
    place = {name: i for i, name in enumerate(written)}
    if isinstance(positives, int):
        positives = [None] * positives
    return Case(
        id="q",
        question=question,
        question_tokens=words(question),
        answers=tuple(answers),
        positives=None
        if positives is None
        else tuple(
            Positive(f"p{i}", *(said if isinstance(said, tuple) else ("", said)))
            for i, said in enumerate(positives)
        ),
        passages=tuple(
            Passage(f"d{i}", title, text, correct, _keys(keys, place))
            for i, (correct, keys, title, text) in enumerate(passages)
        ),
        ngrams=tuple(ngram(name, counts.get(name, 1)) for name in written),
    )


def _keys(keys, place):
    if keys is None:
        return None
    return Keys(
        np.array([place[name] for name in keys], np.int64),
        np.array(list(keys.values()), np.float64),
    )


TEXTS = st.lists(st.sampled_from(["ash", "birch", "cedar", "the"]), max_size=4).map(" ".join)
WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, 3.0]) | st.integers(0, 300_000).map(lambda n: n / 1000)


@st.composite
def cases(draw):
    """Return a case at random: judged by positives, by answers, or not at all."""
    ngrams = draw(
        st.lists(
            st.builds(
                lambda text, view, count: Ngram(text, view, words(text), words(text), count),
                TEXTS,
                st.sampled_from([TITLE, BODY, QUERY]),
                st.none() | st.integers(0, 10**6),
            ),
            max_size=8,
            unique_by=lambda one: (one.text, one.view),
        )
    )
    judged = draw(st.sampled_from(["positives", "answers", "not"]))
    passages = []
    for place in range(draw(st.integers(0, 6))):
        order = draw(st.permutations(range(len(ngrams))))
        order = order[: draw(st.integers(0, len(order)))]
        weights = draw(st.lists(WEIGHTS, min_size=len(order), max_size=len(order)))
        keys = Keys(np.array(order, np.int64), np.array(weights, np.float64))
        passages.append(
            Passage(
                f"d{place}",
                draw(st.sampled_from(["", "T", "U"])),
                draw(TEXTS),
                None if judged == "not" else draw(st.booleans()),
                draw(st.sampled_from([keys, keys, None])),
            )
        )
    question = draw(TEXTS)
    texts = draw(st.lists(st.none() | TEXTS, min_size=1, max_size=4))
    return Case(
        id="q",
        question=question,
        question_tokens=words(question),
        answers=tuple(draw(st.lists(TEXTS, max_size=2))),
        positives=tuple(Positive(f"p{i}", draw(TEXTS), text) for i, text in enumerate(texts))
        if judged == "positives"
        else None,
        passages=tuple(passages),
        ngrams=tuple(ngrams),
        by_answer=judged == "answers",
    )
