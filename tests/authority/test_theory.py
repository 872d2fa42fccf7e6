import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule, ScopeKey
from argus.authority.theory import (
    EntityIndex,
    ScopeAmbiguity,
    ScopeNames,
    ScopeTimes,
    scope_ambiguity,
)
from tests.support.authorities import LATER, at, chain, divergence, record, relations
from tests.support.relations import holds


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


def test_kappa_is_documents_of_the_scope_per_one_of_the_chain():
    records = [*chain("old", "new"), record("noise", "note", 3, entity="s"), record("far", "doc")]
    authority, index = Authority(records, [LATER]), EntityIndex(records)
    found = scope_ambiguity(["old"], authority, index)
    assert found == ScopeAmbiguity(documents=3, closure=2)
    assert (found.kappa, found.phi) == (1.5, pytest.approx(2 / 3))
    assert scope_ambiguity(["old"], authority, index, [("entity", "s")]) == found


def test_the_index_finds_what_shares_an_entity_in_order():
    records = [
        record("b", "doc", 1, x="1", y=("2", "3")),
        record("a", "doc", 1, y="3"),
        record("c", "doc", 1, x="3"),
        record("none"),
    ]
    index = EntityIndex(records)
    assert index.sharing([("y", "3")]) == ["b", "a"]
    assert index.sharing([("x", "3"), ("x", "1")]) == ["b", "c"]
    assert index.sharing([("z", "3")]) == index.sharing([]) == []


def test_equated_keys_are_one_and_global_rules_share_one():
    overrules = Rule("opinion", "opinion", (ScopeKey("overrules", "citation"),))
    old = Record("old", "opinion", at(1), {"citation": "1 U.S. 1"})
    new = Record("new", "opinion", at(2), {"citation": "9 U.S. 9", "overrules": "1 U.S. 1"})
    assert holds(overrules, old, new) and not old.entities & new.entities  # the keys differ
    assert EntityIndex([old, new]).sharing(old.entities) == ["old"]
    assert EntityIndex([old, new], [overrules]).sharing(old.entities) == ["old", "new"]
    policy = Rule("policy", "policy", name="latest policy")
    policies = [record("p1", "policy", 1), record("p2", "policy", 2), record("x", "trade", 3)]
    index = EntityIndex(policies, [policy])
    assert index.sharing(index.entities(policies[0])) == ["p1", "p2"]


def test_names_are_whole_words_in_any_case_and_the_longest_wins():
    packages = ("mercury", "mercury http", "mercury-parser")
    names = ScopeNames([record(name, package=name) for name in packages] + [record("plain")])
    assert names.bearers("Is MERCURY HTTP safe?") == [(("package", "mercury http"),)]
    both = [(("package", "mercury"),), (("package", "mercury-parser"),)]
    assert names.bearers("mercury, mercury_parser") == both
    assert names.bearers("mercurys and http") == names.bearers("") == []


def test_of_a_record_without_time_the_keys_decide_and_it_follows_none_that_has_one():
    records = [*chain("a1", "a2", scope="a"), *chain("b"), record("timeless", entity="a")]
    scopes = ScopeTimes(records)
    assert scopes.later("timeless") == ["a2", "a1"]
    assert "timeless" not in scopes.later("a1")


@settings(deadline=None)
@given(relations(), st.data())
def test_it_finds_what_a_look_at_every_record_finds(relation, data):
    scopes = ScopeTimes(relation.records)
    one = data.draw(st.sampled_from(relation.records))
    expected = {
        other.id
        for other in relation.records
        if other.id != one.id
        and (one.time is None or (other.time and one.time.before(other.time)))
        and one.entities & other.entities
        and all(
            set(one.values(key)) & set(other.values(key)) for key in one.scope if key in other.scope
        )
    }  # fmt: skip
    found = scopes.later(one.id)
    assert len(found) == len(expected) and set(found) == expected
    assert found == scopes.latest_first(reversed(found))
