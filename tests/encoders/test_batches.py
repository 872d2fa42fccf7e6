"""Texts in batches of like length: each once, none too large, little of it padding."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.encoders.sentence_transformer import ON_CPU, ON_GPU, batches_of

counts_of_tokens = st.lists(st.integers(1, 512), max_size=300)
sizes_anywhere = pytest.mark.parametrize("sizes", [ON_CPU, ON_GPU])


@sizes_anywhere
@given(counts=counts_of_tokens)
def test_every_text_is_in_one_batch_within_the_bounds(sizes, counts):
    batches = batches_of(counts, sizes)
    assert sorted(chain.from_iterable(batches)) == list(range(len(counts)))
    for batch in batches:
        longest = max(counts[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= sizes[0]
        assert len(batch) <= sizes[1]
