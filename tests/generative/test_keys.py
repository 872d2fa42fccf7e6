import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.generative.passage_scores import Key, merged


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


def test_a_key_without_tokens_is_an_error():
    with pytest.raises(InputError, match="a key without tokens; expected at least one token"):
        Key((), -1.0, "body")


@pytest.mark.parametrize("log", [math.nan, 0.5, math.inf])
def test_what_is_no_log_probability_is_an_error(log):
    with pytest.raises(InputError, match=f"log-probability {log}; expected at most 0"):
        Key((1,), log, "body")


def test_rounding_and_minus_infinity_are_log_probabilities():
    assert Key((1,), 1e-7, "body").log_probability == 1e-7
    assert Key((1,), -math.inf, "body").log_probability == -math.inf
