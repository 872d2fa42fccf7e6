import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.entities import EntityIndex
from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.authority.theory import (
    ScopeAmbiguity,
    divergence,
    divergences,
    scope_ambiguity,
    scope_ceiling,
)
from argus.errors import InputError
from tests.support.authorities import LATER, at, chain, record, relations

TWO = Authority(chain("old", "new") + chain("other", scope="t"), [LATER])


def test_divergence_is_how_far_the_controlling_falls_behind():
    found = divergence({"old": 9.0, "other": 7.0, "new": 4.5}, TWO)
    assert found.top == "old"
    assert found.frontier == ("new",)
    assert found.controlling == "new"
    assert found.delta == 4.5
    assert found.n_plus == found.n_plus_all == 2
    assert found.excludes_hit(2)
    assert not found.excludes_hit(3)


def test_of_equal_scores_the_first_id_is_the_top():
    assert divergence({"other": 2.0, "new": 2.0, "old": 2.0}, TWO).top == "new"
    row = np.array([2.0, 2.0, 2.0], np.float32)
    assert next(divergences([row], ["other", "old", "new"], TWO)).top == "new"


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
    assert not found.excludes_hit(2)  # one of the two is at rank 2
    assert found.excludes_tca(2)
    assert found.excludes_tca(3)
    assert not found.excludes_tca(4)


def test_what_a_run_does_not_list_stands_below_all_of_it():
    cut = {"old": 9.0, "other": 7.0}
    found = divergence(cut, TWO)
    assert found.delta == math.inf
    assert found.n_plus == 2
    lexical = divergence(cut, TWO, absent=0.0)
    assert lexical.delta == 9.0
    assert lexical.n_plus == 2


def test_documents_without_record_control_themselves():
    found = divergence({"unknown": 1.0, "old": 0.5}, TWO)
    assert (found.frontier, found.delta, found.n_plus) == (("unknown",), 0.0, 0)


def test_at_an_earlier_time_only_what_was_in_force_is_ranked():
    records = chain("a", "b", "c")
    view = Authority(records, [LATER]).as_of(at(2))
    scores = {"c": 9.0, "a": 5.0, "b": 1.0}
    found = divergence(scores, view)
    assert (found.top, found.frontier, found.delta, found.n_plus) == ("a", ("b",), 4.0, 1)
    row = np.array([5.0, 1.0, 9.0], np.float32)
    assert list(divergences([row], ["a", "b", "c"], view)) == [found]


@settings(deadline=None)
@given(relations(), st.data())
def test_rows_of_a_whole_corpus_give_what_a_mapping_gives(relation, data):
    authority, ids = relation.authority, relation.ids
    score = st.integers(0, 4).map(float)
    rows = [
        np.array(data.draw(st.lists(score, min_size=len(ids), max_size=len(ids))), np.float32)
        for _ in range(3)
    ]
    expected = [divergence(dict(zip(ids, r.tolist(), strict=True)), authority) for r in rows]
    assert list(divergences(rows, ids, authority)) == expected


def test_theta_leaves_out_doubtful_supersessions():
    rule = Rule("doc", "doc", ("entity",), confidence=0.4)
    authority = Authority(chain("old", "new"), [rule])
    scores = {"old": 2.0, "new": 1.0}
    assert divergence(scores, authority, theta=0.5).delta == 0.0
    assert divergence(scores, authority, theta=0.4).delta == 1.0


@pytest.mark.parametrize(
    ("scores", "absent", "text"),
    [
        ({}, 0.0, "no document in force is scored"),
        ({"old": math.nan, "new": 1.0}, -1.0, "no number"),
        ({"old": math.inf}, 0.0, "infinite"),
        ({"old": 1.0, "new": -0.5}, 0.0, "absent=0.0, above the lowest score -0.5"),
    ],
)
def test_scores_that_cannot_be_ranked_are_named(scores, absent, text):
    with pytest.raises(InputError, match=text):
        divergence(scores, TWO, absent=absent)


def test_rows_of_another_length_and_impossible_depths_are_named():
    with pytest.raises(InputError, match=r"scores of shape \(2,\); expected \(3,\)"):
        list(divergences([np.zeros(2, np.float32)], ["old", "new", "other"], TWO))
    with pytest.raises(InputError, match="k=0"):
        divergence({"old": 1.0}, TWO).excludes_hit(0)


def test_kappa_is_documents_of_the_scope_per_one_of_the_chain():
    records = [*chain("old", "new"), record("noise", "note", 3, entity="s"), record("far", "doc")]
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    found = scope_ambiguity(["old"], authority, index)
    assert found == ScopeAmbiguity(documents=3, closure=2)
    assert (found.kappa, found.phi) == (1.5, pytest.approx(2 / 3))
    assert scope_ambiguity(["old"], authority, index, [("entity", "s")]) == found


def test_kappa_is_below_one_where_a_chain_leaves_the_scope():
    records = [
        record("d1", "doc", 1, x="1"),
        record("d2", "doc", 2, x="1", y="2"),
        record("d3", "doc", 3, y="2"),
    ]
    authority = Authority(records, [Rule("doc", "doc", ("x",)), Rule("doc", "doc", ("y",))])
    found = scope_ambiguity(["d1"], authority, EntityIndex(records))
    assert found == ScopeAmbiguity(documents=2, closure=3)
    assert (found.kappa, found.phi) == (pytest.approx(2 / 3), 1.0)


def test_an_empty_scope_and_no_anchors_identify_nothing():
    index = EntityIndex(TWO.records.values())
    empty = scope_ambiguity(["old"], TWO, index, [("entity", "nowhere")])
    assert (empty.kappa, empty.phi) == (0.0, 0.0)
    lost = scope_ambiguity([], TWO, index, [("entity", "s")])
    assert (lost.kappa, lost.phi) == (math.inf, 0.0)
    with pytest.raises(InputError, match="no record 'gone'"):
        scope_ambiguity(["gone"], TWO, index)


def test_ambiguity_counts_what_is_in_force():
    records = chain("a", "b", "c")
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    assert scope_ambiguity(["b"], authority, index) == ScopeAmbiguity(3, 2)
    assert scope_ambiguity(["b"], authority.as_of(at(2)), index) == ScopeAmbiguity(2, 1)


def test_the_ceiling_is_the_mean_of_phi_with_an_anchor():
    half, whole = ScopeAmbiguity(4, 2), ScopeAmbiguity(2, 2)
    assert scope_ceiling([half, whole, half], [True, True, False]) == pytest.approx(1.5 / 3)
    assert scope_ceiling([half, whole], [True, True], chains=2) == 1.0
    with pytest.raises(InputError, match="1 ambiguities for 2 queries"):
        scope_ceiling([half], [True, True])
    with pytest.raises(InputError, match="0 ambiguities for 0 queries"):
        scope_ceiling([], [])
