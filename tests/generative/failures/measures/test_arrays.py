from hypothesis import given

from argus.generative.failures.measures.arrays import Arrays
from tests.generative.failures.measures.making import cases, found, made


def test_keys_are_laid_end_to_end():
    case = made(
        found(True, {"a": 1, "b c": 2}), found(None), found(False, {"b c": 3}), counts={"a": None}
    )
    arrays = Arrays.of(case)
    assert arrays.ngrams.tolist() == [0, 1, 1]
    assert arrays.weights.tolist() == [1, 2, 3]
    assert arrays.passages.tolist() == [0, 0, 2]
    assert arrays.starts.tolist() == [0, 2, 2, 3]
    assert arrays.correct.tolist() == [True, False, False]
    assert str(arrays.counts.tolist()) == "[nan, 1.0]"
    assert [arrays.first(k).stop for k in (1, 2, 3, 100)] == [2, 2, 3, 3]


def test_arrays_are_made_once_for_a_case():
    case = made(found(True, {"a": 1}))
    assert Arrays.of(case) is Arrays.of(case)
    assert Arrays.of(case) is not Arrays.of(made(found(True, {"a": 1})))


@given(cases())
def test_unigrams_are_those_of_the_n_grams(case):
    assert Arrays.of(case).unigrams.tolist() == [
        ngram.view == "body" and len(ngram.tokens) == 1 for ngram in case.ngrams
    ]
