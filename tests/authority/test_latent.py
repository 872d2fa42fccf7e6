from __future__ import annotations

import math
import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority.entities import ScopeNames
from argus.authority.latent import (
    LatentConfig,
    expectation,
    map_frontier,
    map_scope,
    scope_posterior,
)
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Rule
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, relations

NOTE = Rule("note", "advisory", ("package",), order="type")


def record(id_: str, type_: str, **scope) -> Record:
    return Record(id_, type_, None, scope)


PACKAGES = [
    record("adv-lib", "advisory", package="mercury"),
    record("note-lib", "note", package="mercury"),
    record("adv-http", "advisory", package="mercury http"),
    record("note-http", "note", package="mercury http"),
    record("adv-parser", "advisory", package="mercury-parser"),
    record("note-parser", "note", package="mercury-parser"),
    record("plain", "page"),
]


@pytest.fixture
def authority() -> Authority:
    return Authority(PACKAGES, [NOTE])


@pytest.fixture
def names() -> ScopeNames:
    return ScopeNames(PACKAGES)


def package(name: str) -> tuple[str, str]:
    return "package", name


def test_without_names_the_anchors_softmaxed_scores_decide(authority, names):
    anchors = {"adv-lib": 2.0, "adv-http": 1.0, "plain": 9.0}
    posterior = scope_posterior("an old bug", anchors, authority, names)
    weight = 1 / (1 + math.exp(-1))
    assert posterior == pytest.approx(
        {package("mercury"): weight, package("mercury http"): 1 - weight}
    )
    hot = LatentConfig(temperature=1e9)
    even = scope_posterior("an old bug", anchors, authority, names, hot)
    assert list(even.values()) == pytest.approx([0.5, 0.5])


def test_without_scoped_anchors_the_names_decide(authority, names):
    for anchors in ({}, {"plain": 1.0}):
        posterior = scope_posterior("mercury", anchors, authority, names)
        assert posterior == {package("mercury"): 1.0}
        assert expectation(authority, posterior, anchors) == {}
        assert map_frontier(authority, posterior, anchors) == {}


def test_names_and_anchors_are_mixed_by_their_share(authority, names):
    anchors = {"adv-http": 1.0}
    config = LatentConfig(names=0.25)
    posterior = scope_posterior("mercury", anchors, authority, names, config)
    assert posterior == pytest.approx({package("mercury http"): 0.75, package("mercury"): 0.25})
    assert list(posterior) == [package("mercury http"), package("mercury")]
    # What is named and not found leads to no document: a quarter of the run is missing.
    assert expectation(authority, posterior, anchors) == pytest.approx({"note-http": 0.75})


def test_an_ambiguous_query_keeps_the_right_document(authority, names):
    """ "mercury" is a package and the beginning of two others; the bug is one of the parser."""
    anchors = {"adv-lib": 5.0, "adv-parser": 4.9, "adv-http": 2.0}
    text = "does mercury still choke on nested comments?"
    posterior = scope_posterior(text, anchors, authority, names)
    assert map_scope(posterior) == package("mercury")
    assert list(map_frontier(authority, posterior, anchors)) == ["note-lib"]
    run = expectation(authority, posterior, anchors)
    assert list(run) == ["note-lib", "note-parser", "note-http"]
    assert sum(run.values()) == pytest.approx(1)
    assert run["note-parser"] > 0.2


def test_nothing_named_and_nothing_found_is_an_empty_posterior(authority, names):
    posterior = scope_posterior("an old bug", {}, authority, names)
    assert posterior == {} and map_scope(posterior) is None
    assert expectation(authority, posterior, {}) == map_frontier(authority, posterior, {}) == {}


def test_an_anchor_of_several_scopes_shares_its_vote():
    records = [
        record("adv", "advisory", package=("one", "two")),
        record("n1", "note", package="one"),
        record("n2", "note", package="two"),
    ]
    authority = Authority(records, [NOTE])
    posterior = scope_posterior("?", {"adv": 3.0}, authority, ScopeNames(records))
    assert posterior == {package("one"): 0.5, package("two"): 0.5}
    assert expectation(authority, posterior, {"adv": 3.0}) == {"n1": 1.0, "n2": 1.0}


def test_equal_scopes_are_ordered_by_name():
    posterior = {("k", "b"): 0.5, ("k", "a"): 0.5}
    assert map_scope(posterior) == ("k", "a")


@settings(max_examples=examples(100), deadline=None)
@given(relations(edges=1), st.data())
def test_expectation_is_the_sum_over_scopes_by_rule_checks(relation, data):
    naive = Naive(*relation.parts)
    assume(not naive.has_cycle)
    authority, names = Authority(*relation.parts), ScopeNames(relation.records)
    scores = st.floats(-3, 3, allow_subnormal=False)
    anchors = data.draw(st.dictionaries(st.sampled_from(sorted(naive.records)), scores))
    text = " ".join(data.draw(st.lists(st.sampled_from(["x", "Y", "z", "what", "is"]))))
    posterior = scope_posterior(text, anchors, authority, names)
    assert not posterior or sum(posterior.values()) == pytest.approx(1)
    expected = dict.fromkeys(naive.records, 0.0)
    for (key, value), probability in posterior.items():
        inside = [id_ for id_ in anchors if value in naive.records[id_].values(key)]
        for id_ in naive.controlling(inside):
            expected[id_] += probability
    run = expectation(authority, posterior, anchors)
    assert run == pytest.approx({id_: p for id_, p in expected.items() if p})
    assert list(run) == sorted(run, key=lambda id_: (-run[id_], id_))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"names": 1.2}, "--scope-names: 1.2; expected a number from 0 to 1"),
        ({"names": math.nan}, "--scope-names: nan"),
        ({"temperature": 0}, "--scope-temperature: 0; expected a number above 0"),
        ({"temperature": math.inf}, "--scope-temperature: inf"),
    ],
)
def test_impossible_settings_are_refused_in_words(options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        LatentConfig(**options)


def test_unknown_documents_and_no_scores_are_refused(authority, names):
    with pytest.raises(InputError, match=r"no record 'nope'"):
        scope_posterior("mercury", {"nope": 1.0}, authority, names)
    with pytest.raises(InputError, match=r"document 'adv-lib' has the score nan; expected a numb"):
        scope_posterior("mercury", {"adv-lib": math.nan}, authority, names)
