from argus.authority.rules import Record, Rule, ScopeKey
from argus.authority.theory import EntityIndex, ScopeNames
from tests.support.authorities import at, record


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
    assert overrules.holds(old, new) and not old.entities & new.entities  # the keys differ
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
