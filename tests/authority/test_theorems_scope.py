"""What scope can and cannot tell: CAR Propositions 1 to 3 and Lemma 1 as tests."""

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import Judge, Outcome, Stages, factors, score
from argus.authority.relation import Authority
from argus.authority.resolution import resolve
from argus.authority.rules import Edge, Record, Rule
from argus.authority.theory import EntityIndex, ScopeTimes, check_conditions, scope_ambiguity
from tests.support.authorities import LATER, at, chain, record, relations
from tests.support.draws import examples


def exchangeable(pairing: Sequence[int]) -> Authority:
    """Return K chains of one scope: old{i} is superseded by new{pairing[i]}, and only by it.

    Scopes, times and ids are the same for every pairing: the rules alone, by type, tell.
    """
    n = len(pairing)
    records = [record(f"old{i}", f"A{i}", 1, entity="s") for i in range(n)]
    records += [record(f"new{i}", f"B{i}", 2 + i, entity="s") for i in range(n)]
    rules = [Rule(f"B{j}", f"A{i}", ("entity",)) for i, j in enumerate(pairing)]
    return Authority(records, rules)


def ambiguity_of(anchor: str, n: int):
    """Return κ and φ of an anchor among n exchangeable chains."""
    authority = exchangeable(range(n))
    return scope_ambiguity([anchor], authority, EntityIndex(authority.records.values()))


View = list[tuple[str, object, object]]


def seen_by_scope(authority: Authority) -> View:
    """What a scope-indexed algorithm sees (Def. 14): ids, times, scopes."""
    return [(r.id, r.time, r.entities) for r in authority.records.values()]


def latest(view: View, anchor: str) -> list[str]:
    records = [Record(id_, "", time, dict(scope)) for id_, time, scope in view]
    return ScopeTimes(records).latest([anchor], 1)


def next_after(view: View, anchor: str) -> list[str]:
    time = {id_: moment for id_, moment, _ in view}
    later = [id_ for id_ in time if time[anchor].before(time[id_])]
    return [min(later, key=lambda id_: time[id_].start)]


def middle(view: View, anchor: str) -> list[str]:
    later = sorted(id_ for id_, moment, _ in view if moment.start > at(1).start)
    return [later[len(later) // 2]]


def itself(view: View, anchor: str) -> list[str]:
    return [anchor]


ALGORITHMS = [latest, next_after, middle, itself]
CHAINS = pytest.mark.parametrize("n", [1, 2, 4])


def mean_tca(n: int, serve: Callable[[Authority, str], Sequence[str]], anchor: str) -> Fraction:
    """Return the exact mean of TCA over all pairings of n chains."""
    pairings = [exchangeable(p) for p in permutations(range(n))]
    passed = sum(check_conditions(serve(a, anchor), a, [anchor]).hold for a in pairings)
    return Fraction(passed, len(pairings))


@CHAINS
def test_proposition_2_no_scope_index_beats_phi_on_average(n):
    pairings = [exchangeable(p) for p in permutations(range(n))]
    assert all(seen_by_scope(a) == seen_by_scope(pairings[0]) for a in pairings)
    found = ambiguity_of("old0", n)
    assert (found.kappa, found.phi) == (n, pytest.approx(1 / n))
    for algorithm in ALGORITHMS:
        for anchor in ("old0", f"old{n - 1}"):
            mean = mean_tca(n, lambda a, q, f=algorithm: f(seen_by_scope(a), q), anchor)
            assert mean <= Fraction(1, n)
            assert mean == (0 if algorithm is itself else Fraction(1, n))


@settings(max_examples=examples(25), deadline=None)
@given(st.integers(1, 4), st.data())
def test_proposition_2_bounds_any_choice_by_the_view_alone(n, data):
    ids = [id_ for id_, _, _ in seen_by_scope(exchangeable(range(n)))]
    served = data.draw(st.sets(st.sampled_from(ids)))  # a fixed view: a fixed answer
    heads = sum(id_.startswith("new") for id_ in served)
    assert mean_tca(n, lambda a, q: served, "old0") <= Fraction(min(heads, n), n)


@CHAINS
def test_proposition_2_is_exceeded_by_rules(n):
    assert mean_tca(n, lambda a, q: list(resolve({"q": {q: 1.0}}, a)["q"]), "old0") == 1


@pytest.mark.parametrize("n", [2, 3, 4])
def test_proposition_2_bounds_phi_times_anchor_recall(n):
    retrieved = [[f"old{i}"] if i % 2 == 0 else ["elsewhere"] for i in range(n)]
    anchored = [f"old{i}" in anchors for i, anchors in enumerate(retrieved)]
    total = Fraction(0)
    for pairing in permutations(range(n)):
        authority = exchangeable(pairing)
        elsewhere = record("elsewhere", "note", 1, entity="t")
        scopes = ScopeTimes([*authority.records.values(), elsewhere])
        for i, anchors in enumerate(retrieved):
            served = scopes.latest(anchors, 1)
            total += check_conditions(served, authority, [f"old{i}"]).hold
    mean = total / (n * math.factorial(n))
    assert mean == Fraction(sum(anchored), n) / n
    assert float(mean) == pytest.approx(ambiguity_of("old0", n).phi * sum(anchored) / n)


def test_remark_4_a_newer_document_misleads_time_not_rules():
    records = [*chain("d1", "d2"), record("noise", "note", 9, entity="s")]
    authority = Authority(records, [LATER])
    assert ScopeTimes(records).latest(["d1"], 1) == ["noise"]
    assert not check_conditions(["noise"], authority, ["d1"]).hold
    assert authority.controlling(["d1"]) == ["d2"]


def events(
    authority: Authority,
    anchors: Sequence[str],
    reached: Sequence[str],
    served: Sequence[str],
    gold_anchor: str,
) -> tuple[Stages, bool]:
    """Return Proposition 1's events as `argus research authority score` counts them, and TCA.

    reached: the pipeline's closure of its anchors. The gold documents control the gold anchor.
    """
    gold = tuple(authority.controlling([gold_anchor]))
    question = Question("q", "?", gold, (gold_anchor,), (gold_anchor, *gold))
    edges = [edge for edges in authority.edges.values() for edge in edges]
    assert not (edges and authority.rules), "a judge goes by edges, or by rules"
    made = Benchmark("b", list(authority.records.values()), [question], edges, authority.rules)
    outcomes = {"q": Outcome(tuple(served), tuple(anchors))}
    (scored,) = score(made, outcomes, Judge(made), k=99, closure=lambda ids: set(reached))
    return scored.stages, scored.figures.tca


def counted(found: Sequence[tuple[Stages, bool]]) -> dict:
    return factors([stages for stages, _ in found], [tca for _, tca in found])


def values(found: dict) -> tuple[float | None, ...]:
    """Return the three factors; None where one has no case."""
    shares = (found["anchor"], found["chain"], found["frontier"])
    return tuple(share and share["value"] for share in shares)


def test_lemma_1_each_factor_fails_alone():
    lone = Authority(chain("d1", "d2"), [LATER])
    found = [
        events(lone, anchors, lone.closure(anchors), lone.controlling(anchors), "d1")
        for anchors in (["d1"], [])
    ]
    assert values(counted(found)) == (0.5, 1.0, 1.0)
    found = []
    for pairing in permutations(range(3)):
        authority = exchangeable(pairing)
        served = latest(seen_by_scope(authority), "old0")
        found.append(events(authority, ["old0"], ["old0", *served], served, "old0"))
    assert values(counted(found)) == (1.0, pytest.approx(ambiguity_of("old0", 3).phi), 1.0)
    deep = Authority(
        [record(d) for d in ("d1", "d2", "d3")], edges=[Edge("d2", "d1"), Edge("d3", "d2")]
    )
    one_hop = [link.superseder for link in deep.links("d1")]
    found = counted([events(deep, ["d1"], deep.closure(["d1"]), one_hop, "d1")])
    assert values(found) == (1.0, 1.0, 0.0)


def test_proposition_1_without_an_anchor_tca_can_be_one():
    authority = Authority(chain("d1", "d2") + chain("x1", "x2", scope="t"), [LATER])
    found = counted([events(authority, ["x1"], authority.closure(["x1"]), ["d2"], "d1")])
    assert values(found) == (0.0, None, None)
    assert (found["product"], found["tca_without"]) == (0.0, 1.0)


@settings(deadline=None)
@given(relations(), st.data())
def test_proposition_1_the_factors_multiply_to_tca_less_luck(relation, data):
    explicit = [Edge(newer, older) for older, above in relation.above().items() for newer in above]
    authority = Authority(relation.records, edges=explicit)
    one = st.sampled_from(relation.ids)
    some = st.lists(one, unique=True)
    found = []
    for _ in range(4):
        anchors = data.draw(some)
        reached = data.draw(st.sampled_from([anchors, authority.closure(anchors)]))
        found.append(events(authority, anchors, reached, data.draw(some), data.draw(one)))
    for stages, tca in found:
        assert stages.anchor >= stages.chain >= stages.frontier
        assert tca >= stages.frontier
    whole = counted(found)
    assert math.prod(value or 0 for value in values(whole)) == pytest.approx(whole["product"])
    assert whole["product"] == sum(stages.frontier for stages, _ in found) / 4
    total = sum(tca for _, tca in found) / 4
    assert whole["product"] + whole["tca_without"] == pytest.approx(total)


@settings(deadline=None)
@given(relations(), st.data())
def test_proposition_3_a_closure_takes_a_lookup_per_record(relation, data):
    authority = relation.authority
    anchors = data.draw(st.lists(st.sampled_from(relation.ids), unique=True))
    closure = authority.closure(anchors)
    assert authority.calls.lookups == len(closure)


def test_proposition_3_lookups_are_linear_where_pairs_are_quadratic():
    n = 60
    authority = Authority(chain(*(f"d{i:02}" for i in range(n))), [LATER])
    assert authority.controlling(["d00"]) == [f"d{n - 1}"]
    assert authority.calls.lookups <= 2 * n
    assert authority.calls.edges <= 2 * n


def test_proposition_3_any_document_can_change_the_frontier():
    records = [*chain("d1", "d2"), *(record(f"n{i}", "note", 9, entity="s") for i in range(6))]
    assert Authority(records, [LATER]).controlling(["d1"]) == ["d2"]
    for changed in records[2:]:  # whoever skips this one cannot tell the two corpora apart
        other = [record(r.id, "doc", 9, entity="s") if r is changed else r for r in records]
        assert Authority(other, [LATER]).controlling(["d1"]) == [changed.id]


def test_the_entity_scope_axiom_holds_of_rules_not_of_chains():
    records = [
        record("d1", "doc", 1, x="1"),
        record("d2", "doc", 2, x="1", y="2"),
        record("d3", "doc", 3, y="2"),
    ]
    authority = Authority(records, [Rule("doc", "doc", ("x",)), Rule("doc", "doc", ("y",))])
    assert authority.closure(["d1"]) == ["d1", "d2", "d3"]
    assert not records[0].entities & records[2].entities
