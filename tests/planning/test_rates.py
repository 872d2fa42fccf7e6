"""Every slope gives back the rates that trials were made up from."""

from dataclasses import asdict

import pytest

from argus.planning import Workload, plan, rates
from argus.planning.model import displaced_s
from tests.planning.machine import MACHINE

ONCE = 7.0
"""Seconds that every made-up trial pays; they must be in no rate."""


def test_of_several_runs_the_least_of_everything_counts():
    runs = ({"entities": 9, "seconds": 2.0, "peak_bytes": 7}, {"entities": 9, "seconds": 1.5,
            "peak_bytes": 8})  # fmt: skip
    assert rates.fastest(runs) == {"entities": 9, "seconds": 1.5, "peak_bytes": 7}


def test_an_encoders_rate_is_what_more_tokens_take():
    trials = ({"tokens": n, "seconds": ONCE + n * 2e-4} for n in (1000, 9000))
    assert rates.of_encoding(*trials) == pytest.approx({"encode_s": 2e-4})


def test_products_and_comparisons_are_told_apart():
    def trial(queries, neighbours):
        per_candidate = 384 * 3e-11 + neighbours * 8e-10
        return {
            "queries": queries, "candidates": 5000, "neighbours": neighbours, "dim": 384,
            "seconds": ONCE + queries * 5000 * per_candidate,
        }  # fmt: skip

    found = rates.of_ranking(trial(1000, 2), trial(4000, 2), trial(4000, 40))
    assert found == pytest.approx({"count_s": 8e-10, "multiply_s": 3e-11})


def test_seeking_the_best_is_without_its_products():
    trials = [
        {"asked": a, "entities": 9000, "dim": 64, "seconds": ONCE + a * 9000 * (64 * 3e-11 + 5e-9)}
        for a in (100, 700)
    ]
    assert rates.of_displacing(*trials, 3e-11) == pytest.approx({"partition_s": 5e-9})


def test_a_relation_takes_time_and_memory():
    trials = (
        {"edges": n, "seconds": ONCE + n * 1e-7, "peak_bytes": 10**8 + 90 * n}
        for n in (10**5, 10**6)
    )
    assert rates.of_graph(*trials) == {"edge_s": pytest.approx(1e-7), "edge_bytes": 90}


def audit_trial(entities, neighbours, dim):
    """Return a trial as the model says that MACHINE would run it."""
    work = Workload(entities=entities, neighbours=neighbours, dim=dim)
    machine_steps = {step.name: step for step in plan(work, MACHINE)}
    seconds = sum(machine_steps[s].seconds for s in ("load and ground", "relation graph"))
    score = machine_steps["score and write"]
    return {
        "entities": entities, "pairs": work.pairs, "dim": dim, "seconds": seconds + score.seconds,
        "peak_bytes": score.memory_bytes - 4 * entities * dim, "stored_bytes": score.stored_bytes,
    }  # fmt: skip


def test_audits_give_back_the_machine_that_ran_them():
    found = rates.of_audits(
        audit_trial(10_000, 40, 32), audit_trial(30_000, 40, 32), audit_trial(10_000, 120, 32),
        audit_trial(30_000, 4, 512), measured=asdict(MACHINE),
    )  # fmt: skip
    once_s = found.pop("once_s")
    assert once_s == pytest.approx(MACHINE.start_s, rel=1e-3)
    assert found == pytest.approx({name: getattr(MACHINE, name) for name in found}, rel=1e-3)
    assert set(found) == {
        "pair_s", "entity_s", "number_s", "pair_bytes", "entity_bytes", "number_bytes",
        "stored_pair_bytes", "stored_entity_bytes", "report_bytes",
    }  # fmt: skip


def test_who_outranks_the_worst_is_asked_of_all_entities_by_those_related():
    assert displaced_s(10_000, 20, 100, 1e-11, 1e-9) == pytest.approx(4000 * 10_000 * 2e-9)
    assert displaced_s(1_000, 20, 100, 1e-11, 1e-9) == pytest.approx(1000 * 1_000 * 2e-9)


def test_aligning_and_its_shards_are_told_apart_by_entities_and_pairs():
    def trial(entities, neighbours):
        pairs = entities * neighbours
        return {
            "entities": entities, "pairs": pairs, "rows": entities + pairs,
            "seconds": ONCE + 4e-6 * (entities + pairs),
            "stored_bytes": 300 * entities + 12 * pairs + 5000,
        }  # fmt: skip

    found = rates.of_knowledge(trial(2000, 10), trial(9000, 10), trial(2000, 50))
    assert found == {
        "align_s": pytest.approx(4e-6), "kb_entity_bytes": 300, "kb_pair_bytes": 12
    }  # fmt: skip


def test_a_word_takes_time_memory_and_disk():
    trials = (
        {
            "words": n, "seconds": ONCE + 2e-6 * n, "peak_bytes": 10**8 + 60 * n,
            "stored_bytes": 999 + 7 * n,
        }
        for n in (10**5, 10**6)
    )  # fmt: skip
    assert rates.of_words(*trials) == {
        "words_s": pytest.approx(2e-6), "word_bytes": 60, "stored_word_bytes": 7
    }  # fmt: skip


def test_a_dumps_rate_is_without_the_start_of_its_workers():
    trials = ({"bytes": n, "seconds": ONCE + n * 1e-6} for n in (10**6, 4 * 10**6))
    assert rates.of_dump("wikidata", *trials) == {"wikidata_byte_s": pytest.approx(1e-6)}


def test_noise_gives_no_rate_of_zero_or_less():
    few, many = {"tokens": 10, "seconds": 2.0}, {"tokens": 20, "seconds": 1.0}
    assert rates.of_encoding(few, many)["encode_s"] > 0
