from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings

from argus.authority.records import Record
from argus.authority.relation import Authority, describe
from argus.authority.rules import Edge, Order, Rule
from argus.authority.times import Moment
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, relations

NAMED = re.compile(r"'(\w+)'")


def at(i: int) -> Moment:
    return Moment(i, i + 1, str(i))


def note(id_: str, time: int, published: int | None = None, type_: str = "note") -> Record:
    known = None if published is None else at(published)
    return Record(id_, type_, at(time), {"k": "x"}, published=known)


BY_TIME = Rule("note", "note", "k", name="in force later")
BY_PUBLICATION = Rule("note", "note", "k", order="published", name="published later")


def refusal(records, rules=(), edges=()) -> str:
    with pytest.raises(InputError) as error:
        Authority(records, rules, edges)
    return str(error.value)


@settings(max_examples=examples(300), deadline=None)
@given(relations(names=("supersedes", "overrides"), edges=4))
def test_a_relation_is_refused_just_when_a_chain_leads_back(relation):
    naive = Naive(*relation.parts)
    if not naive.has_cycle:
        Authority(*relation.parts)
        return
    message = refusal(*relation.parts)
    chain = NAMED.findall(message.split(";")[0])
    pairs = set().union(*naive.direct.values())
    assert chain[0] == chain[-1] and len(chain) > 2
    assert all(pair in pairs for pair in itertools.pairwise(chain))
    assert message.startswith(f"a cycle of {len(chain) - 1}: ")


def test_two_times_that_contradict_each_other_are_shown():
    message = refusal([note("a", 0, 5), note("b", 1, 4)], [BY_TIME, BY_PUBLICATION])
    assert message == (
        "a cycle of 2: 'a', superseded by 'b' (in force later), superseded by 'a' (published "
        "later); expected an order: what supersedes a record is not superseded by it. Mend a time "
        "or remove an edge of the chain, or let a rule order by one time."
    )


def test_two_times_that_agree_are_no_cycle():
    authority = Authority([note("a", 0, 4), note("b", 1, 5)], [BY_TIME, BY_PUBLICATION])
    assert authority.controlling(["a"]) == ["b"]


def test_an_explicit_edge_against_time_is_shown():
    message = refusal(
        [note("a", 0), note("b", 1), note("c", 2)], [BY_TIME], [Edge("a", "c", rule="a clerk")]
    )
    assert message.startswith("a cycle of 2: ")
    assert "(a clerk)" in message and "(in force later)" in message


def test_edges_alone_make_cycles_and_the_shortest_is_shown():
    records = [Record(id_, "note") for id_ in "abcd"]
    edges = [Edge("b", "a"), Edge("c", "b"), Edge("a", "c"), Edge("d", "c")]
    assert refusal(records, (), edges).startswith("a cycle of 3: ")
    assert Authority(records, (), edges[:2]).closure(["a"]) == ["a", "b", "c"]


def test_types_that_supersede_each_other_are_a_cycle():
    rules = [
        Rule("court", "agency", "k", order="type", name="courts bind"),
        Rule("agency", "court", "k", order="type", name="rules bind"),
    ]
    court, agency = (Record(id_, id_, None, {"k": "x"}) for id_ in ("court", "agency"))
    message = refusal([court, agency], rules)
    assert "(courts bind)" in message and "(rules bind)" in message
    apart = Record("agency", "agency", None, {"k": "y"})
    assert Authority([court, apart], rules).is_active("court")


def test_a_type_that_would_supersede_itself_is_refused():
    with pytest.raises(InputError, match=r"rule 'same': type 'note' would supersede itself.*two"):
        Rule(("note", "letter"), "note", "k", name="same", order=Order.TYPE)


def test_a_record_never_supersedes_itself():
    with pytest.raises(InputError, match=r"'a' supersedes itself; expected two documents"):
        Edge("a", "a")
    scope = {"k": ("x", "y"), "overrides": "x"}
    own = Record("a", "note", at(0), scope)
    rules = [BY_TIME, Rule("note", "note", name="everywhere")]
    assert Authority([own], rules).controlling(["a"]) == ["a"]


def test_a_cycle_through_several_scopes_is_found():
    """x: a then b, by taking effect; y: b then a, by publication."""
    rules = [BY_TIME, Rule("note", "note", "j", order="published", name="published later")]
    a = Record("a", "note", at(0), {"k": "x", "j": "y"}, published=at(9))
    b = Record("b", "note", at(1), {"k": "x", "j": "y"}, published=at(8))
    assert refusal([a, b], rules).startswith("a cycle of 2: ")
    elsewhere = Record("b", "note", at(1), {"k": "x", "j": "z"}, published=at(8))
    assert Authority([a, elsewhere], rules).controlling(["a"]) == ["b"]


def test_an_insertion_that_closes_a_cycle_is_refused():
    authority = Authority([note("a", 0), note("b", 2)], [BY_TIME])
    with pytest.raises(InputError, match=r"a cycle of \d: 'c', superseded by 'b'"):
        authority.insert(note("c", 1), [Edge("c", "b")])
    assert authority.controlling(["a"]) == ["b"] and "c" not in authority
    authority.insert(note("c", 3), [Edge("c", "b")])
    assert authority.controlling(["a"]) == ["c"]


def test_a_chain_is_described_from_the_oldest_on():
    authority = Authority([note("a", 0), note("b", 1)], [BY_TIME])
    assert describe(authority.chain("a", "b")) == "'a', superseded by 'b' (in force later)"
    assert describe([]) == ""
