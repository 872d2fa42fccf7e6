from dataclasses import replace

import pytest

from argus.errors import InputError
from argus.planning import Workload, plan
from argus.planning.bounds import bounds
from argus.retrievability.limits import DIRECT_RELATED
from tests.planning.machine import MACHINE


def steps(work, machine=MACHINE):
    return {step.name: step for step in plan(work, machine)}


def test_ranks_cost_a_product_and_comparisons_per_candidate():
    work = Workload(entities=1000, dim=100, neighbours=8)
    expected = 1000 * 1000 * 100 * 1e-11 + 1000 * 1000 * 8 * 1e-10
    assert steps(work)["rank"].seconds == pytest.approx(expected)
    many = replace(work, neighbours=500)  # beyond this each candidate is bisected, once
    compared = 1000 * 1000 * DIRECT_RELATED * 1e-10
    assert steps(many)["rank"].seconds == pytest.approx(1000 * 1000 * 100 * 1e-11 + compared)


def test_a_reservoir_makes_ranking_linear_in_entities():
    assert Workload(entities=50_000).candidates == 50_000
    assert Workload(entities=50_001).candidates == 20_000
    assert Workload(entities=10**6, reservoir=0).candidates == 10**6
    assert Workload(entities=100, reservoir=5000).candidates == 100
    one, ten = (steps(Workload(entities=n))["rank"].seconds for n in (10**6, 10**7))
    assert ten == pytest.approx(10 * one)


def test_a_larger_encoder_takes_longer_in_proportion_and_only_it():
    small, large = steps(Workload(entities=100)), steps(Workload(entities=100, parameters=1000))
    assert large["encode"].seconds == pytest.approx(100 * small["encode"].seconds)
    assert large["rank"].seconds == small["rank"].seconds


def test_machines_share_what_can_be_shared_and_are_paid_for_it():
    alone = Workload(entities=10**6, wikipedia_bytes=10**9)
    one, four = steps(alone), steps(replace(alone, machines=4))
    for name, step in one.items():
        shared = name in ("read the dumps", "encode", "rank")
        assert step.shared == shared
        assert four[name].seconds == pytest.approx(step.seconds / (4 if shared else 1))
        assert four[name].cost(MACHINE, 4) == pytest.approx(step.cost(MACHINE, 1))
    assert one["rank"].cost(MACHINE, 1) == pytest.approx(one["rank"].seconds / 1000)
    assert one["rank"].cost(replace(MACHINE, price_per_hour=None), 1) is None


def test_dumps_are_planned_only_where_there_are_some():
    assert "read the dumps" not in steps(Workload(entities=100))
    read = steps(Workload(entities=100, wikipedia_bytes=10**6, wikidata_bytes=10**6))
    assert read["read the dumps"].seconds == pytest.approx(1 + 2)


BASE, ENTITY, GRAPHS = 10**9, 5000, 16


def resident(n, pairs):
    return BASE + n * ENTITY + pairs * GRAPHS


def test_memory_of_every_step_is_what_is_there_in_it():
    n, dim, pairs = 10_000, 100, 200_000
    memory = {s.name: s.memory_bytes for s in plan(Workload(entities=n, dim=dim), MACHINE)}
    vectors = n * dim * 4
    exact_products = 2 * 512 * n * 4  # two workers, blocks of 512 queries
    assert memory == {
        "load and ground": resident(n, pairs),
        "relation graph": resident(n, pairs) + max(pairs / 2 * 200, vectors + pairs * 52),
        "encode": resident(n, pairs) + vectors,
        "rank": resident(n, pairs) + vectors + exact_products + pairs * 20,
        "score and write": resident(n, pairs) + vectors + pairs * (20 + 28)
        + 2 * bounds().block_bytes,
    }  # fmt: skip


def test_scoring_peaks_at_a_pass_the_projection_or_the_worst():
    def beyond(**work):
        workload = Workload(**work)
        vectors = min(workload.entities * workload.dim * 4, bounds().gathered_bytes)
        before = resident(workload.entities, workload.pairs) + vectors + workload.pairs * 48
        return steps(workload)["score and write"].memory_bytes - before

    assert beyond(entities=40_000, dim=32) == pytest.approx(800_000 * 300)
    assert beyond(entities=40_000, dim=1024, neighbours=2) == pytest.approx(40_000 * 1024 * 12)
    many = beyond(entities=10**7, dim=32)  # in passes, of a sample of the entities
    assert many == pytest.approx(bounds().pass_pairs * 300)


def test_vectors_of_more_than_the_bound_are_a_file():
    small, large = (steps(Workload(entities=10**6, dim=d))["encode"] for d in (500, 4000))
    resident_bytes = resident(10**6, 2 * 10**7)
    assert small.memory_bytes == pytest.approx(resident_bytes + 4 * 500 * 10**6)
    assert large.memory_bytes == pytest.approx(resident_bytes + bounds().gathered_bytes)


def test_a_reservoir_has_its_candidates_rows_once_per_worker():
    work = Workload(entities=10**6, dim=100)
    working = 2 * 1024 * 20_000 * 4 + 2 * 20_000 * 100 * 4
    expected = resident(10**6, work.pairs) + 4 * 100 * 10**6 + work.pairs * 20 + working
    assert steps(work)["rank"].memory_bytes == pytest.approx(expected)
    every = Workload(entities=10**6, dim=100, reservoir=0)
    room = steps(every)["rank"].memory_bytes - expected + working
    assert 0.9 * bounds().working_bytes < room <= bounds().working_bytes


def test_steps_leave_on_disk_what_audit_and_build_leave():
    work = Workload(entities=10_000, dim=100, wikipedia_bytes=10**9)
    assert {s.name: s.stored_bytes for s in plan(work, MACHINE)} == {
        "read the dumps": 0,
        "align, write shards": 10_000 * 400 + 200_000 * 9,
        "index the paragraphs": 10_000 * 80 * 6,
        "load and ground": 0,
        "relation graph": 0,
        "encode": 10_000 * (400 + 16),
        "rank": 0,
        "score and write": 10**6 + 10_000 * 150 + 200_000 * 10,
    }


def test_all_that_the_dumps_state_is_joined():
    planned = steps(Workload(entities=1000, wikidata_bytes=10**6, stated=50))
    assert planned["align, write shards"].seconds == pytest.approx(1000 * 51 * 1e-5)
    assert planned["align, write shards"].memory_bytes > bounds().joins_bytes


def test_an_encoder_reads_no_more_than_its_window():
    short, long = (steps(Workload(entities=100, words=w))["encode"] for w in (100, 5000))
    assert short.seconds == pytest.approx(100 * 135 * 1e-3)
    assert long.seconds == pytest.approx(100 * 256 * 1e-3)
    endless = steps(Workload(entities=100, words=5000), replace(MACHINE, encoder_window=None))
    assert endless["encode"].seconds == pytest.approx(100 * 6750 * 1e-3)


def test_the_bound_on_queries_of_a_product_is_the_codes():
    import numpy as np

    from argus.planning.model import EXACT_QUERIES
    from argus.planning.synthetic import random_graph
    from argus.retrievability.ranks import Ranker

    ranker = Ranker(np.eye(4, dtype=np.float32), random_graph(4, 2))
    assert ranker.block == EXACT_QUERIES


@pytest.mark.parametrize(
    ("name", "value"),
    [("entities", 1), ("dim", 0), ("neighbours", -1.0), ("words", 0.0), ("machines", 0),
     ("reservoir", -1), ("parameters", 0), ("wikidata_bytes", -1), ("words", float("nan"))],
)  # fmt: skip
def test_numbers_out_of_range_are_refused_by_option(name, value):
    with pytest.raises(InputError, match=f"--{name.split('_')[0]}"):
        Workload(**({"entities": 100} | {name: value}))
