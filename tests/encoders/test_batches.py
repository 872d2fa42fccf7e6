"""Texts in batches of like length: each once, none too large, little of it padding."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.encoders.sentence_transformer import ALIKE, ON_CPU, ON_GPU, batches_of

counts_of_tokens = st.lists(st.integers(1, 512), max_size=300)
sizes_anywhere = pytest.mark.parametrize("sizes", [ON_CPU, ON_GPU])


@sizes_anywhere
@given(counts=counts_of_tokens)
def test_every_text_is_in_one_batch_within_the_bounds(sizes, counts):
    batches = batches_of(counts, sizes)
    assert sorted(chain.from_iterable(batches)) == list(range(len(counts)))
    for batch in batches:
        longest = max(counts[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= sizes.tokens
        assert len(batch) <= sizes.texts


@sizes_anywhere
@given(counts=counts_of_tokens)
def test_a_short_text_joins_a_long_one_only_while_the_batch_is_small(sizes, counts):
    for batch in batches_of(counts, sizes):
        longest = counts[batch[0]]
        short = [place for place, i in enumerate(batch) if counts[i] < ALIKE * longest]
        assert all(place * longest < sizes.enough for place in short)


def test_a_gpu_reads_more_at_once():
    assert len(batches_of([100] * 256, ON_GPU)) < len(batches_of([100] * 256, ON_CPU)) / 5


def test_thirty_two_questions_are_no_single_batch_as_wide_as_the_longest():
    counts = [26, *[10] * 31]
    padded = sum(len(batch) * counts[batch[0]] for batch in batches_of(counts))
    assert padded < 1.3 * sum(counts) < 26 * 32
