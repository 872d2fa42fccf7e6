from __future__ import annotations

import time
import tracemalloc
from datetime import UTC, date, datetime

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import rules, scopes
from argus.authority.records import Record
from argus.authority.relation import Authority, chain_to
from argus.authority.rules import Edge, Order, Rule
from argus.authority.times import Moment, parse_moment
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, records_of, relations, times

SEVERAL = ("supersedes", "overrides")


def at(i: int) -> Moment:
    return Moment(i, i + 1, str(i))


def chain_of(n: int, **scope) -> list[Record]:
    return [Record(f"d{i}", "note", at(i), scope or {"k": "x"}) for i in range(n)]


LATER_NOTE = Rule("note", "note", "k", name="later note")


def built(relation) -> tuple[Authority, Naive]:
    """The relation both ways; an example with a cycle is refused and of no use here."""
    naive = Naive(*relation.parts)
    assume(not naive.has_cycle)
    return Authority(*relation.parts), naive


def agree(authority: Authority, naive: Naive, groups: list[list[str]]) -> None:
    for id_ in authority.records:
        assert authority.is_active(id_) == naive.is_active(id_)
    for ids in groups:
        assert set(authority.closure(ids)) == naive.closure(ids)
        assert set(authority.frontier(ids)) == naive.frontier(ids)
        assert set(authority.controlling(ids)) == naive.controlling(ids)


def groups_of(ids, data) -> list[list[str]]:
    some = st.lists(st.sampled_from(sorted(ids)), min_size=1, max_size=4, unique=True)
    return [[id_] for id_ in ids] + [data.draw(some), sorted(ids)] if ids else []


@settings(max_examples=examples(250), deadline=None)
@given(relations(), st.data())
def test_closure_and_frontier_equal_rule_checks_on_all_pairs(relation, data):
    authority, naive = built(relation)
    agree(authority, naive, groups_of(naive.records, data))


@settings(max_examples=examples(250), deadline=None)
@given(relations(names=SEVERAL), st.data())
def test_relations_join_in_closures_and_each_rules_frontiers(relation, data):
    authority, naive = built(relation)
    agree(authority, naive, groups_of(naive.records, data))


@settings(max_examples=examples(250), deadline=None)
@given(relations(most=9), st.sampled_from([0, 1]), st.data())
def test_crowded_scopes_are_controlled_by_the_same_records(relation, crowded, data):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        authority, naive = built(relation)
        for ids in groups_of(naive.records, data):
            assert set(authority.controlling(ids)) == naive.controlling(ids)
        for older in naive.records:
            found = authority.heads([older])
            for newer in naive.controlling([older]):
                assert len(chain_to(newer, found)) == naive.steps(older, newer)


@settings(max_examples=examples(150), deadline=None)
@given(relations(names=SEVERAL), st.sampled_from([0.25, 0.5, 0.6, 1.0]), st.data())
def test_at_theta_less_sure_edges_are_none(relation, theta, data):
    naive_all = Naive(*relation.parts)
    assume(not naive_all.has_cycle)
    authority, naive = Authority(*relation.parts), Naive(*relation.parts, theta=theta)
    for crowded in (0, 64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scopes, "CROWDED", crowded)
            for ids in groups_of(naive.records, data):
                assert set(authority.closure(ids, theta)) == naive.closure(ids)
                assert set(authority.controlling(ids, theta)) == naive.controlling(ids)


@settings(max_examples=examples(150), deadline=None)
@given(relations(), st.data())
def test_a_chain_is_a_shortest_one_and_every_link_holds(relation, data):
    authority, naive = built(relation)
    rules = {rule.name: rule for rule in relation.rules}
    older = data.draw(st.sampled_from(sorted(naive.records)))
    for newer in naive.joint[older]:
        links = authority.chain(older, newer)
        assert len(links) == naive.steps(older, newer)
        assert [older, *(link.superseder for link in links)] == [
            *(link.superseded for link in links),
            newer,
        ]
        for link in links:
            if link.rule == "given":
                assert any(
                    (edge.superseded, edge.superseder) == (link.superseded, link.superseder)
                    for edge in relation.edges
                )
            else:
                pair = naive.records[link.superseded], naive.records[link.superseder]
                assert rules[link.rule].holds(*pair)
    for other in set(naive.records) - naive.joint[older]:
        assert authority.chain(older, other) == []


@settings(max_examples=examples(250), deadline=None)
@given(relations(names=SEVERAL), times, times, st.data())
def test_an_earlier_time_equals_rule_checks_on_what_was_in_force(relation, effective, known, data):
    authority, _ = built(relation)
    view = authority.as_of(effective, known)
    naive = Naive(*relation.parts, effective=effective, known=known)
    for record in relation.records:
        assert view.in_force(record.id) == (record.id in naive.records)
    for crowded in (0, 1, 64):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scopes, "CROWDED", crowded)
            agree(view, naive, groups_of(authority.records, data))
            for older in naive.records:
                found = view.heads([older])
                for newer in naive.controlling([older]):
                    assert len(chain_to(newer, found)) == naive.steps(older, newer)


@settings(max_examples=examples(100), deadline=None)
@given(relations(names=SEVERAL), times, st.data())
def test_below_and_among_equal_rule_checks(relation, effective, data):
    authority, _ = built(relation)
    view, naive = authority.as_of(effective), Naive(*relation.parts, effective=effective)
    for id_ in authority.records:
        below = {older for older, above in naive.joint.items() if id_ in above}
        assert view.superseded_by_any([id_]) == below
    some = data.draw(st.sets(st.sampled_from(sorted(authority.records))))
    records = [record for record in relation.records if record.id in some]
    edges = [edge for edge in relation.edges if {edge.superseder, edge.superseded} <= some]
    alone = Naive(records, relation.rules, edges, effective=effective)
    agree(view.among(some), alone, groups_of(sorted(some), data))


@settings(max_examples=examples(150), deadline=None)
@given(relations(edges=0), st.sampled_from([0, 1]), st.data())
def test_insertions_and_deletions_equal_building_at_once(relation, crowded, data):
    records, rules = relation.records, relation.rules
    assume(not Naive(records, rules).has_cycle)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        authority = Authority((), rules)
        for record in data.draw(st.permutations(records)):
            authority.insert(record)
            authority.controlling([record.id])  # makes heads, which later steps must keep right
        gone = data.draw(st.sets(st.sampled_from([record.id for record in records])))
        for id_ in gone:
            authority.delete(id_)
            authority.controlling(authority.records)
        naive = Naive([record for record in records if record.id not in gone], rules)
        agree(authority, naive, groups_of(naive.records, data))
    for id_ in list(naive.records):
        authority.delete(id_)
    assert len(authority) == 0 and authority.index.buckets == {}


@settings(max_examples=examples(150), deadline=None)
@given(relations(), records_of("new"), st.data())
def test_a_refused_insertion_changes_nothing(relation, record, data):
    authority, naive = built(relation)
    ids = sorted(naive.records)
    edges = [Edge("new", data.draw(st.sampled_from(ids))), Edge(ids[0], "new")]
    refused = Naive(
        [*relation.records, record], relation.rules, [*relation.edges, *edges]
    ).has_cycle
    try:
        authority.insert(record, edges)
    except InputError:
        assert refused
        assert "new" not in authority
        agree(authority, naive, groups_of(ids, data))
    else:
        assert not refused


def test_the_nearest_come_first_and_links_say_how():
    records = chain_of(3)
    authority = Authority(records, [LATER_NOTE], [Edge("d2", "d1", rule="told", confidence=0.5)])
    reached = authority.reach(["d0"])
    assert list(reached) == ["d0", "d1", "d2"]
    assert reached["d0"] is None
    assert (reached["d2"].rule, reached["d2"].superseded) == ("later note", "d0")
    assert authority.relations == ("supersedes",)


def test_equal_times_supersede_neither():
    records = [Record(i, "note", at(5), {"k": "x"}) for i in "ab"]
    authority = Authority(records, [LATER_NOTE])
    assert authority.controlling(["a", "b"]) == ["a", "b"]


def test_a_day_is_not_before_an_hour_in_it_but_the_next_day():
    when = {"day": "2024-03-01", "hour": "2024-03-01T10:00:00Z", "next": "2024-03-02"}
    records = [Record(i, "note", parse_moment(t), {"k": "x"}) for i, t in when.items()]
    authority = Authority(records[:2], [LATER_NOTE])
    assert authority.frontier(["day", "hour"]) == ["day", "hour"]
    authority.insert(records[2])
    assert authority.controlling(["day", "hour"]) == ["next"]


def test_a_record_without_time_takes_part_by_type_alone():
    records = [Record("a", "advisory", None, {"k": "x"}), Record("n", "note", None, {"k": "x"})]
    timed = Rule("note", "advisory", "k", name="by time")
    authority = Authority(records, [timed])
    assert authority.is_active("a")
    assert authority.index.coverage(records)[0].no_time == ["a", "n"]
    typed = Rule("note", "advisory", "k", order="type")
    assert Authority(records, [typed]).controlling(["a"]) == ["n"]


def test_a_record_without_a_scope_key_takes_no_part():
    records = [*chain_of(2), Record("d2", "note", at(9), {"other": "x"})]
    authority = Authority(records, [LATER_NOTE])
    assert authority.controlling(["d0"]) == ["d1"]
    coverage = authority.index.coverage(records)[0]
    assert (coverage.superseding, coverage.superseded, coverage.no_scope) == (2, 2, ["d2"])


def test_a_record_of_several_values_leads_between_scopes():
    first = Record("a", "note", at(0), {"k": "x"})
    both = Record("b", "note", at(1), {"k": ("x", "y")})
    second = Record("c", "note", at(2), {"k": "y"})
    authority = Authority([first, both, second], [LATER_NOTE])
    assert authority.closure(["a"]) == ["a", "b", "c"]
    assert [link.superseder for link in authority.chain("a", "c")] == ["b", "c"]
    assert authority.frontier(["a", "c"]) == ["c"]  # though b, between them, is not asked for


def test_maximal_under_one_relation_alone_is_no_frontier():
    rules = [
        Rule("note", "note", "k", relation="later"),
        Rule("court", "note", "k", order="type", relation="higher"),
    ]
    records = [*chain_of(2), Record("c", "court", None, {"k": "x"})]
    authority = Authority(records, rules)
    assert authority.relations == ("later", "higher")
    assert authority.frontier(["d0", "d1"]) == ["d1"]
    assert authority.frontier(["d1", "c"]) == ["c"]
    assert set(authority.closure(["d0"])) == {"d0", "d1", "c"}
    assert list(authority.older("c", "higher")) == ["d0", "d1"]
    assert list(authority.older("c", "later")) == []


def test_unknown_and_repeated_ids_and_edges_are_refused():
    authority = Authority(chain_of(2), [LATER_NOTE])
    with pytest.raises(InputError, match=r"no record 'nope'; expected the id of one of the 2 rec"):
        authority.closure(["nope"])
    with pytest.raises(InputError, match=r"no record 'nope'"):
        authority.controlling(["nope"])
    with pytest.raises(InputError, match=r"two records have the id 'd0'"):
        Authority([*chain_of(2), *chain_of(1)])
    with pytest.raises(InputError, match=r"record 'd0' is there already"):
        authority.insert(chain_of(1)[0])
    with pytest.raises(InputError, match=r"no record 'gone'"):
        Authority(chain_of(1), [], [Edge("gone", "d0")])
    new = Record("new", "note", at(7), {"k": "y"})
    with pytest.raises(InputError, match=r"an edge from 'd0' to 'd1' with 'new'.*of the record"):
        authority.insert(new, [Edge("d1", "d0")])
    with pytest.raises(InputError, match=r"no record 'gone'"):
        authority.insert(new, [Edge("new", "d0"), Edge("gone", "new")])
    assert "new" not in authority and authority.edges == {} and authority.reverse == {}


def test_calls_count_a_lookup_per_record_and_every_edge_once():
    authority = Authority(chain_of(10), [LATER_NOTE])
    authority.closure(["d0"])
    assert (authority.calls.lookups, authority.calls.edges) == (10, 9)


@pytest.mark.slow
def test_thirty_thousand_records_in_one_scope_are_no_pairs():
    n = 30_000
    start = time.perf_counter()
    authority = Authority(chain_of(n), [LATER_NOTE])
    assert len(authority.closure(["d0"])) == n
    assert authority.calls.edges == n - 1
    assert authority.frontier(authority.records) == [f"d{n - 1}"]
    assert authority.controlling(["d0"]) == [f"d{n - 1}"]
    assert time.perf_counter() - start < 60  # 5e8 rule checks would take minutes
    authority.calls.lookups = authority.calls.edges = 0
    assert authority.controlling(["d7"]) == [f"d{n - 1}"]
    assert authority.calls.lookups < 10 and authority.calls.edges < 10


def test_a_scope_takes_memory_by_the_record_not_by_the_pair():
    records = chain_of(5000)
    tracemalloc.start()
    try:
        authority = Authority(records, [LATER_NOTE])
        assert authority.frontier(authority.closure(["d0"])) == ["d4999"]
        assert authority.controlling(["d0"]) == ["d4999"]
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2000 * len(records)  # bytes; a bit per pair would be 3 MB, a tuple 1.2 GB


def test_what_leads_out_of_a_crowded_scope_is_followed():
    """Explicit edges, also those that come later, and orders by another time."""
    n = 200
    out = Record("out", "other", at(n), {"k": "x"})
    authority = Authority([*chain_of(n), out], [LATER_NOTE], [Edge("out", "d100")])
    last = f"d{n - 1}"
    assert set(authority.controlling(["d0"])) == {last, "out"}
    assert authority.controlling(["d101"]) == [last]
    late = Record("late", "other", at(n + 1), {"k": "x"})
    authority.insert(late, [Edge("late", "d150")])
    assert set(authority.controlling(["d101"])) == {last, "late"}
    authority.delete("d150")
    assert authority.controlling(["d101"]) == [last]
    published = Rule("other", "note", "k", order=Order.PUBLISHED, name="by publication")
    two = Authority([*chain_of(n), out], [LATER_NOTE, published])
    assert two.controlling(["d0"]) == ["out"]


def test_a_crowded_scope_of_two_times_is_walked(monkeypatch):
    """d2 takes effect after d1 and was published before it: it alone leads to the court."""
    monkeypatch.setattr(scopes, "CROWDED", 0)
    times_of = {"d0": (0, 200), "d1": (1, 100), "d2": (2, 2), "d3": (3, 150)}
    records = [
        Record(id_, "note", at(effective), {"k": "x"}, published=at(published))
        for id_, (effective, published) in times_of.items()
    ]
    court = Record("court", "court", at(0), {"k": "x"}, published=at(50))
    by_publication = Rule("court", "note", "k", order=Order.PUBLISHED, name="published later")
    authority = Authority([*records, court], [LATER_NOTE, by_publication])
    assert set(authority.controlling(["d0"])) == {"d3", "court"}


def test_one_text_is_no_list_of_records():
    authority = Authority(chain_of(2), [LATER_NOTE])
    for ask in (authority.controlling, authority.frontier, authority.closure, authority.among,
                authority.superseded_by_any):  # fmt: skip
        with pytest.raises(InputError, match="ids are the text 'd0'; expected a list of ids"):
            ask("d0")


@pytest.mark.parametrize("theta", [float("nan"), 2, 80, -0.1, "0.5", None])
def test_a_theta_that_is_no_confidence_is_refused_everywhere(theta):
    authority = Authority([Record("a", "t"), Record("b", "t")], edges=[Edge("b", "a")])
    for ask in (
        authority.controlling, authority.closure, authority.reach, authority.heads,
        authority.controlling_chains,
    ):  # fmt: skip
        with pytest.raises(InputError, match=r"theta=.*expected a confidence from 0 to 1"):
            ask(["a"], theta)
    with pytest.raises(InputError, match="theta="):
        authority.is_active("a", theta)
    with pytest.raises(InputError, match="theta="):
        list(authority.links("a", theta=theta))


def test_a_theta_costs_a_relation_nothing_that_grows_with_its_records(monkeypatch):
    class Asked(type):
        def __instancecheck__(cls, _):
            raise AssertionError("a plain number was looked at by its abstract class")

    authority = Authority(chain_of(5), [LATER_NOTE])
    monkeypatch.setattr(rules, "Real", Asked("Real", (), {}))
    assert authority.controlling(["d0"]) == authority.controlling(["d0"], 0.5) == ["d4"]
    assert len(authority.closure(["d0"], 1.0)) == 5


@pytest.mark.parametrize("confidence", ["0.5", float("nan"), 0, 1.5, None])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(InputError, match=r"'b' supersedes 'a' with confidence .*at most 1"):
        Edge("b", "a", confidence=confidence)
    with pytest.raises(InputError, match=r"rule 't > u': confidence .*at most 1"):
        Rule("t", "u", confidence=confidence)


def test_scopes_may_come_one_by_one_and_are_kept():
    old = Record.of("a", "t", {"s": (c for c in ["x", "y"])}, time="2020")
    new = Record.of("b", "t", {"s": {"y"}}, time="2021")
    assert Authority([old, new], [Rule("t", "t", "s")]).controlling(["a"]) == ["b"]
    assert (old.values("s"), new.values("s")) == (("x", "y"), ("y",))
    assert old.entities == {("s", "x"), ("s", "y")}


@pytest.mark.parametrize("values", [1, None, [1, 2], ["x", None], b"x", {"x": "y"}])
def test_values_of_a_scope_that_are_no_text_are_refused(values):
    with pytest.raises(InputError, match=r"as 's' in the scope of 'a'; expected a text"):
        Record("a", "t", None, {"s": values})


def test_ids_and_types_that_are_no_text_are_refused():
    with pytest.raises(InputError, match="id=1 of 1; expected text"):
        Record.of(1, "t", {})
    with pytest.raises(InputError, match="type=None of 'a'; expected text"):
        Record.of("a", None, {})


def test_an_earlier_time_is_read_as_those_of_records():
    times_of = {"a": "2020", "b": "2021"}
    records = [Record.of(id_, "note", {"k": "x"}, time=time) for id_, time in times_of.items()]
    authority = Authority(records, [Rule("note", "note", "k")])
    for before in ("2021-01", date(2020, 12, 31), datetime(2021, 6, 1, tzinfo=UTC)):
        assert authority.as_of(before).controlling(["a"]) == ["a"]
        assert authority.as_of(None, before).controlling(["a"]) == ["a"]
    assert authority.as_of(date(2022, 1, 1)).controlling(["a"]) == ["b"]
    with pytest.raises(InputError, match="as_of, known: 2020 is a number"):
        authority.as_of(None, 2020)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({"rules": Rule("t", "t")}, r"a single Rule, .*expected a list of Rules.*brackets"),
        ({"edges": Edge("b", "a")}, r"a single Edge, .*expected a list of Edges"),
        ({"edges": [("b", "a")]}, r"\('b', 'a'\) among Edges; expected Edges alone"),
        ({"edges": 3}, r"3; expected a list of Edges"),
        ({"records": {"a": Record("a", "t")}}, r"'a' among Records"),
    ],
)
def test_what_is_given_is_of_its_kind(given_, message):
    with pytest.raises(InputError, match=message):
        Authority(**{"records": [Record("a", "t"), Record("b", "t")], **given_})


def test_rules_and_edges_of_words_unknown_are_refused():
    with pytest.raises(InputError, match=r"order='x'; expected 'effective' or 'published'"):
        Rule("t", "t", "s", order="x")
    with pytest.raises(InputError, match="ties='x'"):
        Rule("t", "t", "s", ties="x")
    with pytest.raises(InputError, match="1 as an end of an edge"):
        Edge("a", 1)
