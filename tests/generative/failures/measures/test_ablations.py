import pytest

from argus.generative.failures.measures.ablations import ablations
from tests.generative.failures.measures.making import found, made


def figures(case, what, k=10):
    row = ablations(case, k)
    names = (f"{name}_without_{what}" for name in ("r_precision", "hit_1", "hit_k"))
    return tuple(row[name] for name in names)


def test_without_titles_a_correct_passage_comes_first():
    # Weights without titles: 1, 3, 2: the second (correct) is first; R = 2: 1/2.
    # Without unigrams ("a"): 9, 3, 2, as it was.
    case = made(
        found(False, {"</s> rome": 9, "a": 1}),
        found(True, {"b c": 3}),
        found(False, {"b d": 2}),
        positives=2,
    )
    assert figures(case, "titles") == (0.5, 1, 1)
    assert figures(case, "unigrams", k=1) == (0.5, 0, 0)


def test_pseudo_queries_are_switched_off_alone():
    # Without pseudo-queries: 1 against 2; without unigrams: 5 against 2; without titles: 6, 2.
    case = made(found(False, {"|| who": 5, "a": 1}), found(True, {"b c": 2}), positives=1)
    assert figures(case, "queries") == (1, 1, 1)
    assert figures(case, "unigrams", k=1) == figures(case, "titles", k=1) == (0, 0, 0)


def test_a_title_of_one_token_is_no_unigram():
    case = made(found(False, {"</s> rome": 9, "a": 1}), found(True, {"b c": 3}), positives=1)
    assert figures(case, "unigrams") == (0, 0, 1)


def test_ties_keep_the_order_of_the_file():
    # Without titles, 0.1 + 0.2 + 0.3 in either order: the wrong one stays first.
    case = made(
        found(False, {"</s> rome": 9, "a b": 0.3, "a c": 0.2, "a d": 0.1}),
        found(True, {"a b": 0.1, "a c": 0.2, "a d": 0.3}),
        positives=1,
    )
    assert figures(case, "titles") == (0, 0, 1)


def test_passages_without_n_grams_weigh_nothing():
    # Without titles: 0, 0 (none), 1.
    case = made(
        found(False, {"</s> rome": 9}), found(False, None), found(True, {"a": 1}), positives=1
    )
    assert figures(case, "titles", k=2) == (1, 1, 1)


def test_without_ngrams_of_that_kind_the_order_stays():
    case = made(found(True, {"a b": 1}), found(False, {"a b": 5}), positives=1)
    for what in ("titles", "queries", "unigrams"):
        assert figures(case, what) == (1, 1, 1)


@pytest.mark.parametrize(
    "case",
    [
        made(found(None, {"</s> a": 1})),
        made(found(True), positives=1),
        made(found(True, {}), positives=1),
        made(positives=1),
    ],
)
def test_without_judgements_or_n_grams_nothing_applies(case):
    row = ablations(case, 10)
    assert len(row) == 9
    assert set(row.values()) == {None}


def test_correctness_by_answers_has_hits_but_no_r_precision():
    case = made(found(False, {"</s> a": 2}), found(True, {"b": 1}))
    assert figures(case, "titles") == (None, 1, 1)
