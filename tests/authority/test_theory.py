import math

import pytest

from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.authority.theory import (
    EntityIndex,
    ScopeAmbiguity,
    divergence,
    scope_ambiguity,
)
from argus.errors import InputError
from tests.support.authorities import LATER, chain, record

TWO = Authority(chain("old", "new") + chain("other", scope="t"), [LATER])


def test_a_frontier_goes_by_score_and_tca_needs_its_last():
    rules = [Rule("recall", "label", ("drug",)), Rule("warning", "label", ("drug",))]
    records = [
        record("label", "label", 1, drug="d"),
        record("recall", "recall", 2, drug="d"),
        record("warning", "warning", 3, drug="d"),
    ]
    scores = {"label": 5.0, "recall": 1.0, "warning": 3.0, "noise": 2.0}
    found = divergence(scores, Authority(records, rules))
    assert found.frontier == ("warning", "recall")
    assert (found.delta, found.n_plus, found.n_plus_all) == (2.0, 1, 3)


@pytest.mark.parametrize(
    ("scores", "absent", "text"),
    [
        ({}, 0.0, "no document in force is scored"),
        ({"old": math.nan, "new": 1.0}, -1.0, "no document in force is scored"),
        ({"old": 1.0, "new": -0.5}, 0.0, "absent=0.0, above the lowest score -0.5"),
    ],
)
def test_scores_that_cannot_be_ranked_are_named(scores, absent, text):
    with pytest.raises(InputError, match=text):
        divergence(scores, TWO, absent=absent)


def test_kappa_is_documents_of_the_scope_per_one_of_the_chain():
    records = [*chain("old", "new"), record("noise", "note", 3, entity="s"), record("far", "doc")]
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    found = scope_ambiguity(["old"], authority, index)
    assert found == ScopeAmbiguity(documents=3, closure=2)
    assert (found.kappa, found.phi) == (1.5, pytest.approx(2 / 3))
    assert scope_ambiguity(["old"], authority, index, [("entity", "s")]) == found
