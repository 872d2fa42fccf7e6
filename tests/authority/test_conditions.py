from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import scopes
from argus.authority.conditions import check_conditions
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.rules import Edge
from argus.authority.times import Moment
from argus.errors import InputError
from tests.support.authorities import LATER, at, chain, relations
from tests.support.draws import examples
from tests.support.relations import Naive, times
from tests.support.relations import relations as crossed

THREE = Authority(chain("d1", "d2", "d3") + chain("x1", "x2", scope="t"), [LATER])


def test_a_missing_frontier_element_is_named_with_its_chain():
    found = check_conditions(["d1", "d2"], THREE)
    assert not found.hold
    (missing,) = found.missing
    assert (missing.document, missing.anchor) == ("d3", "d1")
    assert [(k.superseded, k.superseder, k.rule) for k in missing.chain] == [("d1", "d3", "later")]


def test_an_ignored_document_is_named_with_what_controls_it():
    (ignored,) = check_conditions(["d1"], THREE).ignored
    assert ignored.document == "d1"
    assert [(k.superseded, k.superseder) for k in ignored.chain] == [("d1", "d3")]


def test_one_superseder_of_each_superseded_document_is_enough():
    found = check_conditions(["d1", "d3"], THREE)
    assert found.hold
    assert found.superseded == ("d1",)


def test_with_gold_anchors_only_their_frontier_must_be_there():
    assert check_conditions(["d3"], THREE, ["d1"]).hold
    found = check_conditions(["d3", "x1"], THREE, ["d1"])
    assert found.missing == ()
    assert [ignored.document for ignored in found.ignored] == ["x1"]
    assert [m.document for m in check_conditions(["d3"], THREE, ["d1", "x1"]).missing] == ["x2"]


def test_a_missing_document_is_named_under_its_first_anchor():
    found = check_conditions(["x1"], THREE, ["d2", "d1", "x2"])
    assert [(m.document, m.anchor) for m in found.missing] == [("d3", "d2"), ("x2", "x2")]


def test_of_documents_without_record_nothing_is_said():
    found = check_conditions(["unknown", "d3", "d3"], THREE)
    assert found.hold
    assert found.superseded == ()
    with pytest.raises(InputError, match="no record 'unknown'"):
        check_conditions(["d3"], THREE, ["unknown"])


def test_an_empty_set_lacks_what_controls_the_anchors():
    assert check_conditions([], THREE).hold
    assert [m.document for m in check_conditions([], THREE, ["d1"]).missing] == ["d3"]


def test_what_was_not_in_force_yet_is_not_missed():
    assert check_conditions(["d2"], THREE.as_of(at(2))).hold
    assert not check_conditions(["d2"], THREE).hold


def test_a_witness_that_a_longer_chain_leads_to_counts():
    edges = [Edge("b", "a"), Edge("c", "b")]
    authority = Authority([r for id_ in "abc" for r in chain(id_, scope=id_)], edges=edges)
    found = check_conditions(["a", "c"], authority)
    assert found.hold
    (ignored,) = check_conditions(["a"], authority).ignored
    assert [k.superseder for k in ignored.chain] == ["b", "c"]


@settings(deadline=None)
@given(relations(), st.data())
def test_they_agree_with_both_conditions_read_off_all_pairs(relation, data):
    authority, above = relation.authority, relation.above()
    r = data.draw(st.sets(st.sampled_from(relation.ids)))
    gold = data.draw(st.none() | st.sets(st.sampled_from(relation.ids)))
    found = check_conditions(sorted(r), authority, None if gold is None else sorted(gold))
    closure = {new for a in (r if gold is None else gold) for new in {a} | above[a]}
    assert {m.document for m in found.missing} == {d for d in closure - r if not above[d]}
    assert set(found.superseded) == {d for d in r if above[d]}
    assert {i.document for i in found.ignored} == {d for d in r if above[d] and not above[d] & r}
    for ignored in found.ignored:
        assert ignored.chain[0].superseded == ignored.document
    for missing in found.missing:
        assert bool(missing.chain) == (missing.document != missing.anchor)
    for violation in (*found.missing, *found.ignored):
        if not violation.chain:
            continue
        ends = [violation.chain[0].superseded] + [k.superseder for k in violation.chain]
        assert not above[ends[-1]]
        assert all(new in above[old] for old, new in pairwise(ends))


@settings(max_examples=examples(150), deadline=None)
@given(crossed(), st.sampled_from([0, 1, 64]), st.none() | times, st.data())
def test_they_agree_in_crowded_scopes_and_at_earlier_times(relation, crowded, effective, data):
    assume(not Naive(*relation.parts).has_cycle)
    naive = Naive(*relation.parts, effective=effective)
    ids = [record.id for record in relation.records]
    r = data.draw(st.sets(st.sampled_from(ids)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        found = check_conditions(sorted(r), Authority(*relation.parts).as_of(effective))
    r &= set(naive.records)
    assert {m.document for m in found.missing} == naive.controlling(r) - r
    assert set(found.superseded) == {d for d in r if naive.joint[d]}
    assert {i.document for i in found.ignored} == {
        d for d in r if naive.joint[d] and not naive.joint[d] & r
    }
    for ignored in found.ignored:
        assert naive.is_active(ignored.chain[-1].superseder)


def test_a_stale_document_of_a_crowd_is_judged_without_a_walk():
    n = 2000
    records = [Record(f"d{i}", "doc", Moment(i, i + 1, ""), {"entity": "e"}) for i in range(n)]
    authority = Authority(records, [LATER])
    for served, ignored in ((["d7"], ["d7"]), (["d7", "d9"], ["d9"]), (["d9", "d1999"], [])):
        authority.calls.lookups = authority.calls.edges = 0
        found = check_conditions(served, authority)
        assert [i.document for i in found.ignored] == ignored
        assert authority.calls.lookups < 20 and authority.calls.edges < 20


def test_what_is_not_in_force_is_neither_served_nor_a_witness():
    found = check_conditions(["d1", "d3"], THREE.as_of(at(2)))
    assert [i.document for i in found.ignored] == ["d1"]
    assert [m.document for m in found.missing] == ["d2"]
    assert check_conditions(["d3"], THREE.as_of(at(2))).hold
