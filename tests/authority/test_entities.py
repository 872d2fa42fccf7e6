import pytest

from argus.authority.entities import EntityIndex, ScopeNames
from argus.authority.records import Record
from argus.authority.rules import Rule, ScopeKey
from argus.errors import InputError
from tests.support.authorities import at, record

PACKAGES = [
    record("lib", "advisory", 1, package="mercury"),
    record("http", "advisory", 1, package="mercury http"),
    record("parser", "advisory", 1, package="mercury-parser"),
    record("plain", "page"),
]


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
    assert index.sharing([("z", "3")]) == []
    assert index.sharing([]) == []


def test_equated_keys_are_one_and_global_rules_share_one():
    overrules = Rule("opinion", "opinion", (ScopeKey("overrules", "citation"),))
    old = Record("old", "opinion", at(1), {"citation": "1 U.S. 1"})
    new = Record("new", "opinion", at(2), {"citation": "9 U.S. 9", "overrules": "1 U.S. 1"})
    assert EntityIndex([old, new]).sharing(old.entities) == ["old"]
    assert EntityIndex([old, new], [overrules]).sharing(old.entities) == ["old", "new"]
    policy = Rule("policy", "policy", name="latest policy")
    policies = [record("p1", "policy", 1), record("p2", "policy", 2), record("x", "trade", 3)]
    index = EntityIndex(policies, [policy])
    assert index.sharing(index.entities(policies[0])) == ["p1", "p2"]


def test_a_key_equated_with_two_others_makes_them_one():
    rules = [
        Rule("a", "b", (ScopeKey("x", "y"),)),
        Rule("a", "b", (ScopeKey("z", "w"),)),
        Rule("a", "b", (ScopeKey("y", "w"),)),
    ]
    index = EntityIndex([record(key, "a", 1, **{key: "1"}) for key in "xyzwv"], rules)
    for key in "xyzw":
        assert index.sharing([(key, "1")]) == ["x", "y", "z", "w"]
    assert index.sharing([("v", "1")]) == ["v"]


def test_names_are_whole_words_in_any_case_and_the_longest_wins():
    assert ScopeNames(PACKAGES).bearers("Is MERCURY HTTP safe?") == [(("package", "mercury http"),)]
    assert ScopeNames(PACKAGES).bearers("mercury, mercury_parser") == [
        (("package", "mercury"),),
        (("package", "mercury-parser"),),
    ]
    assert ScopeNames(PACKAGES).bearers("mercurys and http") == []
    assert ScopeNames(PACKAGES).bearers("") == []


def test_the_longest_name_wins_over_an_earlier_shorter_one():
    records = [record("a", "x", 1, k="red oak"), record("b", "x", 1, k="oak park school")]
    found = ScopeNames(records).bearers("the red oak park school")
    assert found == [(("k", "oak park school"),)]


def test_a_name_may_be_borne_by_several_scopes_and_keys_choose():
    records = [record("a", "x", 1, city="Paris", person="Paris"), record("b", "x", 1, person="Ada")]
    both = ("city", "Paris"), ("person", "Paris")
    assert ScopeNames(records).bearers("paris") == [both]
    assert ScopeNames(records, ["city"]).bearers("Ada in paris") == [(("city", "Paris"),)]
    with pytest.raises(InputError, match=r"no record has the scope key 'citi'; expected keys of"):
        ScopeNames(records, ["citi"])


def test_values_of_stop_words_or_signs_are_no_names():
    records = [record("a", "x", 1, grade="A", mark="***", band="The Who", code="C")]
    assert ScopeNames(records).bearers("a who *** the who") == []
    assert ScopeNames(records).bearers("grade C") == [(("code", "C"),)]


def test_a_name_inside_a_longer_name_or_word_is_none():
    records = [
        record("a", "x", 1, product="SQL"),
        record("b", "x", 1, product="SQL Server"),
        record("c", "x", 1, product="It", cve=("CVE-1", "CVE-2")),
    ]
    names = ScopeNames(records)
    assert names.bearers("Is sql server safe?") == [(("product", "SQL Server"),)]
    assert names.bearers("Is it safe in mysql?") == []
    assert names.bearers("cve 2 and SQL") == [(("cve", "CVE-2"),), (("product", "SQL"),)]
