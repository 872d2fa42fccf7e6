import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority import scopes
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Order, Record, Rule
from argus.authority.stream import Change, Stream
from argus.authority.times import Moment
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, records_of, rule_lists

SEVERAL = ("supersedes", "overrides")
LATER = Rule("note", "note", "k", name="later note")
IDS = [f"d{i}" for i in range(7)]


def at(i: int) -> Moment:
    return Moment(i, i + 1, str(i))


def note(id_: str, when: int | None, *values: str) -> Record:
    return Record(id_, "note", None if when is None else at(when), {"k": values or ("x",)})


class Model:
    """The records and edges that a stream should hold, and the plain reference over them."""

    def __init__(self, rules):
        """edges: all that were ever given; those hold of which both records are there."""
        self.rules, self.records, self.edges = rules, {}, []
        self.naive = Naive((), rules)

    def with_(self, records, edges) -> Naive:
        return Naive(records.values(), self.rules, self.holding(records, edges))

    def holding(self, records, edges) -> list[Edge]:
        return [e for e in edges if {e.superseder, e.superseded} <= records.keys()]

    def take(self, records, edges) -> None:
        self.records, self.edges = records, edges
        self.naive = self.with_(records, edges)

    def active(self) -> set[str]:
        return {id_ for id_ in self.records if self.naive.is_active(id_)}

    def result(self, anchors) -> tuple[set[str], set[str]]:
        there = [id_ for id_ in anchors if id_ in self.records]
        return self.naive.controlling(there), self.naive.closure(there)


@st.composite
def steps(draw):
    """Rules and a random stream; the same id may come, go and come again."""
    rules = draw(rule_lists(tuple(Order), SEVERAL, most=3))
    kinds = st.sampled_from(["insert", "insert", "insert", "delete", "watch", "ask"])
    stream = []
    for kind in draw(st.lists(kinds, min_size=4, max_size=16)):
        id_ = draw(st.sampled_from(IDS))
        if kind == "insert":
            ends = draw(st.lists(st.sampled_from(IDS), max_size=2))
            pairs = [draw(st.sampled_from([(id_, end), (end, id_)])) for end in ends if end != id_]
            name = draw(st.sampled_from(SEVERAL))
            edges = [Edge(newer, older, relation=name) for newer, older in pairs]
            stream.append((kind, draw(records_of(id_)), edges))
        elif kind == "watch":
            anchors = draw(st.lists(st.sampled_from(IDS), min_size=1, max_size=3))
            stream.append((kind, draw(st.sampled_from("pqr")), anchors))
        else:
            stream.append((kind, id_, None))
    return rules, stream


def asked_of(stream: Stream, model: Model, kind, what, extra) -> Change | None:
    """Make one change of both; None where both refuse it, or it is none."""
    if kind == "insert":
        edges = model.holding(model.records | {what.id: what}, extra)
        if what.id in model.records:
            with pytest.raises(InputError, match="there already"):
                stream.insert(what)
            return None
        records, all_edges = model.records | {what.id: what}, [*model.edges, *edges]
        change = lambda: stream.insert(what, edges)  # noqa: E731
    elif what not in model.records:
        return None
    else:
        records = {id_: r for id_, r in model.records.items() if id_ != what}
        all_edges = model.edges
        change = lambda: stream.delete(what)  # noqa: E731
    if model.with_(records, all_edges).has_cycle:
        with pytest.raises(InputError, match="a cycle of"):
            change()
        return None
    done = change()
    model.take(records, all_edges)
    return done


def same_state(stream: Stream, model: Model) -> None:
    """The stream's relation equals the reference, and one that is built from scratch."""
    streamed = stream.authority
    edges = model.holding(model.records, model.edges)
    rebuilt = Authority(model.records.values(), model.rules, edges)
    assert set(streamed.records) == set(model.records)
    for id_ in model.records:
        assert streamed.is_active(id_) == model.naive.is_active(id_)
        assert set(streamed.closure([id_])) == model.naive.closure([id_])
        assert set(streamed.controlling([id_])) == model.naive.controlling([id_])
    everything = list(model.records)
    assert set(streamed.frontier(everything)) == model.naive.frontier(everything)
    assert places(streamed) == places(rebuilt)


def places(authority: Authority):
    buckets = authority.index.buckets.items()
    return {place: (list(b.superseding), list(b.superseded)) for place, b in buckets}


def supersedes_directly(model: Model, newer: str, older: str) -> bool:
    return any((older, newer) in pairs for pairs in model.naive.direct.values())


@settings(max_examples=examples(250), deadline=None)
@given(steps(), st.sampled_from([0, 1, 64]))
def test_a_stream_equals_a_rebuild_after_every_step(stream_of, crowded):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        rules, stream_steps = stream_of
        stream, model, watched = Stream(Authority((), rules)), Model(rules), {}
        for kind, what, extra in stream_steps:
            if kind == "watch":
                anchors = [id_ for id_ in extra if id_ in model.records]
                stream.watch(what, anchors)
                watched[what] = anchors
            elif kind == "ask":
                for key, anchors in watched.items():
                    result = stream.result(key)
                    assert (set(result), closure(stream, anchors)) == model.result(anchors)
            else:
                check_change(stream, model, watched, (kind, what, extra))
            same_state(stream, model)


def closure(stream: Stream, anchors) -> set[str]:
    return set(stream.authority.closure(id_ for id_ in anchors if id_ in stream.authority))


def check_change(stream: Stream, model: Model, watched, step) -> None:
    """Lists, soundness and exactness of one change."""
    fresh = {
        key: (set(stream.result(key)), closure(stream, anchors))
        for key, anchors in watched.items()
        if not stream.is_stale(key)
    }
    active, known = model.active(), set(model.records)
    change = asked_of(stream, model, *step)
    if change is None:
        assert {key for key in watched if not stream.is_stale(key)} == set(fresh)
        return
    both = known & set(model.records)
    assert set(change.superseded) == (active - model.active()) & both
    assert set(change.reactivated) == (model.active() - active) & both
    assert set(change.invalidated) == {key for key in fresh if stream.is_stale(key)}
    id_, kind = change.record_id, step[0]
    for key, result in fresh.items():
        now = model.result(watched[key])
        changed = result != now
        named = key in change.invalidated
        assert named or not changed
        superseded = kind != "delete" and any(
            supersedes_directly(model, id_, member) for member in result[1]
        )
        held = id_ in result[1] or id_ in watched[key]
        if kind == "insert":
            assert named == changed == (superseded or held)
        elif kind == "delete":
            assert named == changed == held
        elif named:
            assert superseded or held


def test_an_insertion_names_what_it_retires_and_invalidates():
    stream = Stream(Authority([note("a", 0), note("b", 1), note("far", 0, "y")], [LATER]))
    assert stream.watch("q", ["a"]) == ("b",)
    assert stream.watch("other", ["far"]) == ("far",)
    assert stream.insert(note("c", 2)) == Change("c", ("b",), (), ("q",))
    assert stream.is_stale("q") and not stream.is_stale("other")
    assert stream.insert(note("d", 3)) == Change("d", ("c",), (), ())  # q is named once
    assert stream.result("q") == ("d",)
    assert stream.authority.closure(["a"]) == ["a", "b", "c", "d"]


def test_a_watched_result_costs_one_entry_per_scope():
    stream = Stream(Authority([note(f"d{i:04}", i) for i in range(2000)], [LATER]))
    stream.watch("q", ["d0000"])
    lookups = stream.authority.calls.lookups
    for i in range(50):
        stream.insert(note(f"n{i}", 2000 + i))
    assert stream.authority.calls.lookups - lookups == 50  # what was latest, once each
    lookups = stream.authority.calls.lookups
    assert stream.result("q") == ("n49",)
    assert stream.authority.calls.lookups - lookups < 10
