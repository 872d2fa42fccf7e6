from hypothesis import given
from hypothesis import strategies as st

from argus.generative.evidence import Key, merged


def test_of_keys_with_the_same_tokens_the_first_stays():
    body = [Key((1, 2), -1.0, "body"), Key((1,), -0.5, "body")]
    title = [Key((1, 2), -0.1, "title"), Key((3,), -0.2, "title")]
    assert merged(body, title) == [*body, title[1]]
    assert merged(title, body) == [*title, body[1]]


@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=2).map(tuple), max_size=12))
def test_merging_keeps_order_and_each_ngram_once(ngrams):
    keys = [Key(tokens, -float(i), "body") for i, tokens in enumerate(ngrams)]
    joined = merged(keys[:5], keys[5:])
    assert [key.tokens for key in joined] == list(dict.fromkeys(ngrams))
    assert all(key.log_probability == -ngrams.index(key.tokens) for key in joined)
    assert merged(joined, joined) == joined
