"""Every slope gives back the rates that trials were made up from."""

from dataclasses import replace

import pytest

from argus.planning import Workload, plan, rates
from argus.planning.model import displaced_s
from argus.planning.records import (
    AuditTrial,
    DisplacingTrial,
    DumpTrial,
    EncodingTrial,
    GraphTrial,
    KnowledgeTrial,
    RankingTrial,
    WordsTrial,
)
from tests.planning.machine import MACHINE

ONCE = 7.0
"""Seconds that every made-up trial pays; they must be in no rate."""


def encoding_trial(tokens, seconds):
    return EncodingTrial(
        encoder="e", encoder_parameters=10, encoder_window=256, accelerator="",
        base_bytes=10**9, load_s=3.0, tokens=tokens, seconds=seconds,
    )  # fmt: skip


def test_of_several_runs_the_least_of_everything_counts():
    one = AuditTrial(entities=9, pairs=8, dim=2, seconds=2.0, peak_bytes=7, stored_bytes=5)
    other = replace(one, seconds=1.5, peak_bytes=8, stored_bytes=4)
    assert rates.fastest((one, other)) == replace(one, seconds=1.5, stored_bytes=4)


def test_an_encoders_rate_is_what_more_tokens_take():
    trial = encoding_trial((1000, 9000), (ONCE + 1000 * 2e-4, ONCE + 9000 * 2e-4))
    assert rates.of_encoding(trial) == {
        "encoder": "e", "encoder_parameters": 10, "encoder_window": 256, "accelerator": "",
        "base_bytes": 10**9, "encode_s": pytest.approx(2e-4),
    }  # fmt: skip


def test_products_and_comparisons_are_told_apart():
    def trial(queries, neighbours):
        per_candidate = 384 * 3e-11 + neighbours * 8e-10
        return RankingTrial(
            queries=queries, candidates=5000, neighbours=neighbours, dim=384,
            seconds=ONCE + queries * 5000 * per_candidate,
        )  # fmt: skip

    products = rates.of_ranking(trial(1000, 2), trial(4000, 2), trial(4000, 40))
    assert products == pytest.approx({"count_s": 8e-10, "multiply_s": 3e-11})


def test_seeking_the_best_is_without_its_products():
    few, many = (
        DisplacingTrial(
            queries=n, entities=9000, dim=64, seconds=ONCE + n * 9000 * (64 * 3e-11 + 5e-9)
        )
        for n in (100, 700)
    )
    assert rates.of_displacing(few, many, 3e-11) == pytest.approx(5e-9)


def test_a_relation_takes_time_and_memory():
    few, many = (
        GraphTrial(edges=n, seconds=ONCE + n * 1e-7, peak_bytes=10**8 + 90 * n)
        for n in (10**5, 10**6)
    )
    assert rates.of_graph(few, many) == {"edge_s": pytest.approx(1e-7), "edge_bytes": 90}


def audit_trial(entities, neighbours, dim):
    """Return a trial as the model says that MACHINE would run it."""
    work = Workload(entities=entities, neighbours=neighbours, dim=dim)
    machine_steps = {step.name: step for step in plan(work, MACHINE)}
    seconds = sum(machine_steps[s].seconds for s in ("load and ground", "relation graph"))
    score = machine_steps["score and write"]
    return AuditTrial(
        entities=entities, pairs=work.pairs, dim=dim, seconds=seconds + score.seconds,
        peak_bytes=score.memory_bytes - 4 * entities * dim, stored_bytes=score.stored_bytes,
    )  # fmt: skip


def test_audits_give_back_the_machine_that_ran_them():
    audits, once_s = rates.of_audits(
        audit_trial(10_000, 40, 32), audit_trial(30_000, 40, 32), audit_trial(10_000, 120, 32),
        audit_trial(30_000, 4, 512), edge_s=MACHINE.edge_s, multiply_s=MACHINE.multiply_s,
        partition_s=MACHINE.partition_s,
    )  # fmt: skip
    assert once_s == pytest.approx(MACHINE.start_s, rel=1e-3)
    assert audits == pytest.approx({name: getattr(MACHINE, name) for name in audits}, rel=1e-3)
    assert set(audits) == {
        "pair_s", "entity_s", "number_s", "pair_bytes", "entity_bytes", "number_bytes",
        "stored_pair_bytes", "stored_entity_bytes", "report_bytes",
    }  # fmt: skip


def test_the_worst_are_sought_by_those_related_among_all():
    assert displaced_s(10_000, 20, 100, 1e-11, 1e-9) == pytest.approx(4000 * 10_000 * 2e-9)
    assert displaced_s(1_000, 20, 100, 1e-11, 1e-9) == pytest.approx(1000 * 1_000 * 2e-9)


def test_aligning_and_its_shards_are_told_apart():
    def trial(entities, neighbours):
        pairs = entities * neighbours
        return KnowledgeTrial(
            entities=entities, pairs=pairs, rows=entities + pairs,
            seconds=ONCE + 4e-6 * (entities + pairs),
            stored_bytes=300 * entities + 12 * pairs + 5000,
        )  # fmt: skip

    aligning = rates.of_knowledge(trial(2000, 10), trial(9000, 10), trial(2000, 50))
    assert aligning == {
        "align_s": pytest.approx(4e-6), "kb_entity_bytes": 300, "kb_pair_bytes": 12
    }  # fmt: skip


def test_a_word_takes_time_memory_and_disk():
    few, many = (
        WordsTrial(
            words=n, seconds=ONCE + 2e-6 * n, peak_bytes=10**8 + 60 * n, stored_bytes=999 + 7 * n
        )
        for n in (10**5, 10**6)
    )
    assert rates.of_words(few, many) == {
        "words_s": pytest.approx(2e-6), "word_bytes": 60, "stored_word_bytes": 7
    }  # fmt: skip


def test_a_dumps_rate_is_without_the_start_of_its_workers():
    once, repeated = (DumpTrial(bytes=n, seconds=ONCE + n * 1e-6) for n in (10**6, 4 * 10**6))
    assert rates.of_dump(once, repeated) == pytest.approx(1e-6)


def test_noise_gives_no_rate_of_zero_or_less():
    assert rates.of_encoding(encoding_trial((10, 20), (2.0, 1.0)))["encode_s"] > 0
