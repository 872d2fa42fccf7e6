"""Every figure of a tiny benchmark, worked out by hand; TCA by answers and by Theorem 4 agree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import (
    BLOCKED,
    BY_CONDITIONS,
    CLEARED,
    EXCEPTION,
    NO_CLEARANCE,
    NO_EVIDENCE,
    REVIEW,
    Judge,
    Stages,
    answer_of,
    derive,
    factors,
    share,
)
from argus.authority.benchmarks.makers import TRADING
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Record
from argus.authority.times import parse_moment
from tests.support.draws import examples

# d1 is superseded by d2, d2 by d3; x by y, of which nobody asks; e3 says the same as d3.
CHAIN = Question(
    "q", "which?", gold=("d3",), anchor=("d1",), chain=("d1", "d2", "d3"), equivalent=("d3", "e3")
)


BENCHMARK = Benchmark(
    "tiny",
    [Record(id_, "note") for id_ in ("d1", "d2", "d3", "e3", "x", "y")],
    [CHAIN],
    [Edge("d2", "d1"), Edge("d3", "d2"), Edge("y", "x")],
)


@pytest.mark.parametrize(
    ("retrieved", "noticed", "tca", "hit", "equal", "provenance"),
    [
        (["d1", "d2", "d3"], True, True, True, True, 1.0),
        (["d1", "d3"], True, True, True, True, 2 / 3),  # one superseder of d1 is enough, by chain
        (["d3"], True, True, True, True, 1 / 3),
        (["d1", "d2"], False, False, False, False, 2 / 3),  # d2 is served without d3
        (["d1"], False, False, False, False, 1 / 3),
        (["d3", "x"], False, False, True, True, 1 / 3),  # a hit, and another stale document
        (["d3", "x", "y"], True, True, True, True, 1 / 3),
        (["e3"], True, False, False, True, 0.0),
        ([], True, False, False, False, 0.0),
    ],
)
def test_figures_of_every_kind_of_list(retrieved, noticed, tca, hit, equal, provenance) -> None:
    found = Judge(BENCHMARK).figures(CHAIN, retrieved)
    assert (found.no_ignored_superseder, found.tca) == (noticed, tca)
    assert (found.tca_by, found.answer_correct) == (BY_CONDITIONS, None)
    assert (found.controlling_hit, found.controlling_hit_equivalent) == (hit, equal)
    assert found.provenance_recall == pytest.approx(provenance)
    assert found.recall == float(hit)


@settings(max_examples=examples(200), deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12),
    st.lists(st.integers(0, 6), unique=True, max_size=5),
    st.integers(0, 6),
)
def test_tca_without_answers_is_theorem_4_over_pairwise_closures(pairs, retrieved, anchor) -> None:
    edges = [Edge(f"n{max(a, b)}", f"n{min(a, b)}") for a, b in pairs if a != b]
    records = [Record(f"n{i}", "note") for i in range(7)]
    above = {i: {max(p) for p in pairs if min(p) == i and p[0] != p[1]} for i in range(7)}
    for i in range(6, -1, -1):
        above[i] |= {j for direct in above[i] for j in above[direct]}
    frontier = {j for j in {anchor, *above[anchor]} if not above[j]}
    served = set(retrieved)
    noticed = all(not above[d] or above[d] & served for d in served)
    gold = tuple(f"n{j}" for j in sorted(frontier))
    question = Question("q", "?", gold, (f"n{anchor}",), (f"n{anchor}", *gold))
    judge = Judge(Benchmark("b", records, [question], edges))
    found = judge.figures(question, [f"n{d}" for d in retrieved])
    assert found.no_ignored_superseder is noticed
    assert found.tca is (frontier <= served and noticed)


def test_factors_multiply_to_tca_but_for_luck() -> None:
    reached = (3, 2, 1, 0, 0)  # anchor, chain, frontier
    stages = [Stages(n > 0, n > 1, n > 2) for n in reached]
    found = factors(stages, [True, False, False, True, False])
    assert found["anchor"] and found["chain"] and found["frontier"]
    assert found["anchor"]["value"] == pytest.approx(3 / 5)
    assert (found["chain"]["value"], found["chain"]["n"]) == (pytest.approx(2 / 3), 3)
    assert (found["frontier"]["value"], found["frontier"]["n"]) == (1 / 2, 2)
    assert found["product"] == pytest.approx(3 / 5 * 2 / 3 * 1 / 2)
    assert found["tca_without"] == pytest.approx(1 / 5)
    none = factors([Stages(False, False, False)], [False])
    assert none["anchor"] is not None and none["anchor"]["value"] == 0
    assert (none["chain"], none["frontier"], none["product"]) == (None, None, 0)


def test_a_share_has_wilsons_interval_and_leaves_none_out() -> None:
    found = share([True, False, None, True, True])
    assert found is not None
    assert (found["value"], found["n"]) == (0.75, 4)
    # Wilson (1927), z = 1.96, p = 3/4, n = 4
    assert (found["low"], found["high"]) == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert share([None]) is None


SCOPE = {"employee": "Ann", "ticker": "XYZ"}


def event(id_: str, type_: str, day: int, **scope: str) -> Record:
    return Record(id_, type_, time=parse_moment(f"2024-01-{day:02}"), scope=scope)


CLEARANCE = event("clearance", "PreClearanceApproved", 1, employee="Ann", ticker="XYZ")
BLACKOUT = event("blackout", "BlackoutAnnounced", 2, ticker="XYZ")
LIFTED = event("lifted", "BlackoutLifted", 3, ticker="XYZ")
EXEMPT = event("exempt", "EmergencyException", 4, employee="Ann", ticker="XYZ")
ADDED = event("added", "WatchlistAdded", 2, ticker="XYZ")
REMOVED = event("removed", "WatchlistRemoved", 3, ticker="XYZ")


def read(*served: Record) -> str:
    return answer_of([record.id for record in served], SCOPE, Authority(served, TRADING))


def test_the_priority_is_that_of_appendix_c() -> None:
    for active, answer in (
        ([EXEMPT, BLACKOUT, CLEARANCE, LIFTED], EXCEPTION),
        ([BLACKOUT, CLEARANCE, LIFTED], BLOCKED),
        ([ADDED, CLEARANCE], BLOCKED),
        ([CLEARANCE, LIFTED], CLEARED),
        ([LIFTED, REMOVED], NO_CLEARANCE),
        ([REMOVED], REVIEW),
        ([], NO_EVIDENCE),
    ):
        assert derive(active) == derive(active[::-1]) == answer


def test_a_reader_drops_what_another_served_document_supersedes() -> None:
    assert read(CLEARANCE) == CLEARED
    assert read(CLEARANCE, BLACKOUT) == BLOCKED
    assert read(BLACKOUT, CLEARANCE, LIFTED) == NO_CLEARANCE
    assert read(EXEMPT, BLACKOUT) == EXCEPTION
