from hypothesis import given
from hypothesis import strategies as st

from argus.generative.evidence import Key, merged


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=2).map(tuple), max_size=12))
def test_merging_keeps_order_and_each_ngram_once(ngrams):
    keys = [Key(tokens, -float(i), "body") for i, tokens in enumerate(ngrams)]
    joined = merged(keys[:5], keys[5:])
    assert [key.tokens for key in joined] == list(dict.fromkeys(ngrams))
    assert all(key.log_probability == -ngrams.index(key.tokens) for key in joined)
    assert merged(joined, joined) == joined
