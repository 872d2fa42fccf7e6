"""Texts in batches of like length: each once, none too large, little of it padding."""

from __future__ import annotations

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from argus.encoders.sentence_transformer import (
    ALIKE,
    BATCH_TOKENS,
    ENOUGH_TOKENS,
    MAX_BATCH,
    batches_of,
)

counts_of_tokens = st.lists(st.integers(1, 512), max_size=300)


@given(counts_of_tokens)
def test_every_text_is_in_one_batch_within_the_bounds(counts):
    batches = batches_of(counts)
    assert sorted(chain.from_iterable(batches)) == list(range(len(counts)))
    for batch in batches:
        longest = max(counts[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= BATCH_TOKENS
        assert len(batch) <= MAX_BATCH


@given(counts_of_tokens)
def test_a_short_text_joins_a_long_one_only_while_the_batch_is_small(counts):
    for batch in batches_of(counts):
        longest = counts[batch[0]]
        short = [place for place, i in enumerate(batch) if counts[i] < ALIKE * longest]
        assert all(place * longest < ENOUGH_TOKENS for place in short)


def test_thirty_two_questions_are_no_single_batch_as_wide_as_the_longest():
    counts = [26, *[10] * 31]
    padded = sum(len(batch) * counts[batch[0]] for batch in batches_of(counts))
    assert padded < 1.3 * sum(counts) < 26 * 32
