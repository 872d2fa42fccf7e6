from dataclasses import replace

import pytest

from argus.errors import InputError
from argus.retrievability.rank_kernels import DIRECT_RELATED
from argus.workflows.plan import Hardware, Workload, plan

MACHINE = Hardware(
    name="paper", cores=2, memory_bytes=24 << 30, encoder="e", encoder_parameters=10,
    start_s=5, encode_s=1e-3,
    multiply_s=1e-11, count_s=1e-10, pair_s=1e-6, edge_s=1e-7, entity_s=1e-4,
    wikipedia_byte_s=1e-6, wikidata_byte_s=2e-6, align_s=1e-5, words_s=1e-6, base_bytes=10**9,
    entity_bytes=1000, pair_bytes=100, stored_entity_bytes=400, stored_pair_bytes=10,
    price_per_hour=3.6,
)  # fmt: skip


def steps(work, machine=MACHINE):
    return {step.name: step for step in plan(work, machine)}


def test_ranks_cost_products_and_comparisons_with_every_candidate():
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("entities", 1), ("dim", 0), ("neighbours", -1.0), ("words", 0.0), ("machines", 0),
     ("reservoir", -1), ("parameters", 0), ("wikidata_bytes", -1), ("words", float("nan"))],
)  # fmt: skip
def test_numbers_out_of_range_are_refused_by_the_name_of_their_option(name, value):
    with pytest.raises(InputError, match=f"--{name.split('_')[0]}"):
        Workload(**({"entities": 100} | {name: value}))
