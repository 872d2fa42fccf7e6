"""What a model is shown: superseded documents, what controls them, and what systems serve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.authority.benchmarks.first_stages import FirstStages
from argus.authority.benchmarks.systems import Bench, System, choose
from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.harm.config import HarmConfig
from argus.data.folders import ArtifactFolder
from argus.encoders import Encoder, EncoderConfig
from argus.jobs.workspace import NO_ENCODER, Record, open_encoder

SUPERSEDED, CONTROLLING = "superseded", "controlling"
"""Arms: what the question is about and another controls; what controls it."""


@dataclass(frozen=True)
class Context:
    """One question in one arm. documents: ids, in the order in which they are shown.

    holds_gold: whether a controlling document is among them. failure: why nothing can be asked.
    """

    arm: str
    question: Question
    documents: tuple[str, ...]
    holds_gold: bool
    failure: str = ""


def contexts(
    benchmark: Benchmark,
    questions: Sequence[Question],
    served: dict[str, dict[str, tuple[tuple[str, ...], str]]],
) -> list[Context]:
    """Return every question in every arm. served: system -> question id -> (documents, failure).

    A question that is about nothing superseded has no superseded arm.
    """
    made = []
    for q in questions:
        older = tuple(id_ for id_ in q.anchor if id_ not in q.gold)
        if older:
            made.append(Context(SUPERSEDED, q, older, False))
        made.append(Context(CONTROLLING, q, q.gold, True))
        for system, outcomes in served.items():
            ids, failure = outcomes[q.id]
            why = failure or ("" if ids else "nothing was retrieved")
            gold = {*q.gold, *q.equivalent}
            made.append(Context(system, q, ids, any(i in gold for i in ids), why))
    return made


def serve(
    benchmark: Benchmark,
    config: HarmConfig,
    encoder: Encoder | EncoderConfig | str | None,
    record: Record,
    folder: ArtifactFolder,
    store: Path | None,
) -> dict[str, dict[str, tuple[tuple[str, ...], str]]]:
    """Return what every system serves each question, and why it fails where it does."""
    systems = (
        choose(config.systems, benchmark, encoder=encoder is not None, cross_encoder=False)
        if config.systems
        else []
    )
    if encoder is None or not any(system.dense for system in systems):
        record.encoder["fingerprint"] = NO_ENCODER
        record.open(folder)
        return _run(systems, Bench(benchmark, FirstStages(benchmark, k=config.k), k=config.k))
    sample = [r.document.content for r in benchmark.records if r.document.content.strip()]
    with open_encoder(folder, encoder, record, sample=sample, store=store) as (model, opened):
        stages = FirstStages(benchmark, encoder=model, store=opened, k=config.k)
        return _run(systems, Bench(benchmark, stages, k=config.k))


def _run(
    systems: Sequence[System], bench: Bench
) -> dict[str, dict[str, tuple[tuple[str, ...], str]]]:
    return {
        system.name: {
            question: (outcome.documents, outcome.failure)
            for question, outcome in system.run(bench).items()
        }
        for system in systems
    }


def shown(ids: Sequence[str], texts: dict[str, str], max_chars: int) -> list[str]:
    """Return the texts of documents, each cut to an equal part of the room."""
    room = max(1, max_chars // max(1, len(ids)))
    return [texts[id_][:room] for id_ in ids]
