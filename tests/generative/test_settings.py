import pytest

from argus.errors import InputError
from argus.generative.settings import (
    QUERY_CEILING,
    ExampleConfig,
    FailureConfig,
    GenerativeTuneConfig,
    Scoring,
)


@pytest.mark.parametrize(
    ("config", "name", "value", "where", "expected"),
    [
        (Scoring, "exponent", 101, "--exponent", "a number from 0 to 100"),
        (Scoring, "repetition_penalty", "0.8", "--repetition-penalty", "a number from 0 to 1"),
        (Scoring, "full_documents", 1.5, "--documents", "a whole number"),
        (ExampleConfig, "bodies", 0, "--bodies", "a whole number from 1"),
        (ExampleConfig, "validation_share", 0, "validation_share", "a number"),
        (GenerativeTuneConfig, "passages", 1, "--passages", "a whole number from 2"),
        (FailureConfig, "k", 0, "--k", "a whole number from 1"),
    ],
)
def test_settings_out_of_range_are_refused_by_the_option_s_name(
    config, name, value, where, expected
):
    with pytest.raises(InputError) as caught:
        config(**{name: value})
    assert caught.value.where == where
    assert caught.value.expected.startswith(expected)


def test_the_defaults_are_the_published_ones():
    # docs/generative.md
    scoring = Scoring()
    assert (scoring.smoothing, scoring.exponent, scoring.repetition_penalty) == (5, 2, 0.8)
    assert (scoring.max_occurrences, scoring.full_documents) == (1500, 1500)
    assert (scoring.most_unigrams, scoring.shortest, scoring.length_penalty) == (5000, 1, 0)
    assert (scoring.query_bonus, QUERY_CEILING) == (14, -1)
