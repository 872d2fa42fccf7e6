"""Cases at random: judged by positives, by answers, or not at all."""

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
