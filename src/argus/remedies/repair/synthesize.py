"""`remedy synthesize`: one more text per document at risk, with short descriptions (ARGUS §5.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

import pyarrow as pa
from typing_extensions import TypedDict

from argus.corpora import NamedCorpus
from argus.data.types import Qrels, Query, State, View
from argus.data.writing import one_writer
from argus.encoders import Encoder, EncoderConfig
from argus.engine import Engine, EngineConfig
from argus.errors import InputError
from argus.jobs.on_engine import opened as open_engine
from argus.jobs.recorded_model import Answers, RecordedModel, require_answers
from argus.llm import ChatConfig, Estimate, Ledger, LocalConfig, estimate, open_model
from argus.llm.ledger import ledger_to_read
from argus.remedies.diagnosis.config import TAU
from argus.remedies.expand import Pair, check_context, look_up
from argus.remedies.paper import is_paper, paper_notes
from argus.remedies.repair.config import ReferenceConfig, SynthesizeConfig
from argus.remedies.repair.opened import open_index
from argus.remedies.repair.receipt import RepairResult, check_judged, settle
from argus.remedies.repair.remedy import Making, Proposal, Remedy, apply, prepare
from argus.remedies.repair.summary import Origin
from argus.remedies.synthesize import (
    Candidate,
    Synthesis,
    from_descriptions,
    prompts_for,
    with_model,
)
from argus.retrievability.probes import Probe
from argus.settings import TOP_K

KIND: Literal["synthesis"] = "synthesis"
LEDGER = "answers.sqlite"


@dataclass(frozen=True)
class Syntheses:
    """The syntheses, and what a language model took for them; None without one."""

    texts: list[Synthesis]
    language_model: Answers | None = None


class InsertionRow(TypedDict):
    """An insertion in synthesis.parquet; see `argus.remedies.guard.Insertion`."""

    at: int
    entity: str
    description: str


class SynthesisRow(TypedDict):
    """One row per document whose text a model was asked to complete.

    insertions: where, entity and description of each insertion.
    """

    doc_id: str
    state: str
    reason: str
    insertions: list[InsertionRow]


@one_writer
def synthesize_index(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    config: SynthesizeConfig | None = None,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    queries: Path | str | Sequence[Query] | None = None,
    qrels: Path | str | Qrels | None = None,
    corpus: NamedCorpus | None = None,
    k: int = TOP_K,
    device: str | None = None,
    out: Path | None = None,
    engine: EngineConfig | Engine | None = None,
) -> RepairResult:
    """Add a synthesis per document at risk and write the receipt.

    engine: what embeds, and answers where the model is one that transformers runs; endpoints are
    asked from this process anyway.

    Answers of a model are kept in `INDEX/answers.sqlite`; a run that stops (endpoint down, budget
    spent), and one that leaves any document without an answer, has added nothing, and the same
    command goes on where it was. Documents whose synthesis the guard rejects, or whose answer
    cannot be used, keep their original alone, counted and listed in synthesis.parquet.
    """
    config = config or SynthesizeConfig()
    questions = check_judged(queries, qrels, corpus)
    settings = config.described()
    remedy = Remedy("synthesize", config.label, settings, partial(_propose, config=config))
    with open_engine(engine) as running:
        opened = open_index(
            index, reference=reference.under(config.preset), probe=probe, encoder=encoder, tau=tau,
            device=device, engine=running,
        )  # fmt: skip
        applied = apply(opened, remedy, out=out)
        return settle(applied, questions, k=k)


def _propose(making: Making, *, config: SynthesizeConfig) -> Proposal:
    """Return a view per document whose synthesis is fit to be indexed."""
    syntheses = _syntheses(making, config)
    views = [
        View(f"{s.doc_id}#{making.remedy}", s.doc_id, KIND, s.text, s.source)
        for s in syntheses.texts
        if s.text is not None
    ]
    notes = _notes(syntheses, config)
    if is_paper(config.preset):
        notes["paper"] = paper_notes(
            KIND, mentions=making.opened.reference.config.finder, tau=making.opened.tau
        )
    return Proposal(views, notes, {"synthesis": _table(syntheses.texts)})


def estimate_synthesis(
    index: Path | str,
    *,
    reference: ReferenceConfig,
    config: SynthesizeConfig,
    probe: Path | str | Probe | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    tau: float = TAU,
    device: str | None = None,
) -> Estimate:
    """Return what `synthesize_index` would ask and cost, asking and adding nothing."""
    if config.model is None:
        raise InputError(
            "nothing to estimate without a model",
            expected="--model NAME",
            fix="Synthesis from the knowledge base's descriptions asks nobody and costs nothing.",
            where="--estimate",
        )
    opened = open_index(
        index,
        reference=reference.under(config.preset),
        probe=probe,
        encoder=encoder,
        tau=tau,
        device=device,
    )
    with prepare(opened) as making:
        candidates, _ = _candidates(making, config)
        prompts = prompts_for(opened.documents, candidates)
        with ledger_to_read(opened.index.path / LEDGER) as ledger:
            return estimate(prompts, ledger, config.model)


def _candidates(
    making: Making, config: SynthesizeConfig
) -> tuple[dict[str, list[Candidate]], list[Pair]]:
    """Return the entities at risk with their passages, by document."""
    opened, flagged = making.opened, making.diagnosis.flagged()
    pairs = look_up(opened.documents, flagged, opened.reference.lookup, config.lookup)
    groups: dict[tuple[str, str], list[Pair]] = {}
    for pair in pairs:
        groups.setdefault((pair.document.id, pair.risk.entity), []).append(pair)
    candidates: dict[str, list[Candidate]] = {}
    for (doc_id, _), group in groups.items():
        candidate = Candidate(group[0].risk, tuple(pair.passage for pair in group))
        candidates.setdefault(doc_id, []).append(candidate)
    return candidates, pairs


def _syntheses(making: Making, config: SynthesizeConfig) -> Syntheses:
    """Return a synthesis of every document with entities at risk that passages were found for."""
    opened = making.opened
    candidates, pairs = _candidates(making, config)
    if config.model is not None:
        return _answered(making, candidates, config, config.model)
    best: dict[tuple[str, str], float] = {}
    for pair in check_context(pairs, opened.encoder, making.store):
        key = (pair.document.id, pair.risk.entity)
        best[key] = max(pair.similarity or -1.0, best.get(key, -1.0))
    least = config.min_similarity
    return Syntheses(list(from_descriptions(opened.documents, candidates, best, threshold=least)))


def _answered(
    making: Making,
    candidates: Mapping[str, Sequence[Candidate]],
    config: SynthesizeConfig,
    model: ChatConfig | LocalConfig,
) -> Syntheses:
    """Ask the model; ArgusError, before anything is added, where answers are missing."""
    opened = making.opened
    patient = replace(model, retry_failed=False) if config.accept_unanswered else model
    with Ledger(opened.index.path / LEDGER) as ledger:
        answers = RecordedModel(open_model(patient, ledger, opened.engine))
        texts = list(with_model(opened.documents, candidates, answers))
    require_answers(
        answers, accept=config.accept_unanswered, undone=" and nothing was added to the index"
    )
    return Syntheses(texts, answers.summary())


def _notes(syntheses: Syntheses, config: SynthesizeConfig) -> Origin:
    texts = syntheses.texts
    states = Counter(s.state for s in texts)
    notes: Origin = {
        "written_by": config.model.label if config.model else "descriptions of the knowledge base",
        "documents": {
            "measured": states[State.MEASURED],
            "failed": states[State.FAILED],
            "not applicable": states[State.NOT_APPLICABLE],
        },
        "insertions": sum(len(s.insertions) for s in texts),
        "fallen_back": dict(Counter(s.reason for s in texts if s.state is State.FAILED)),
    }
    if syntheses.language_model is not None:
        notes["language_model"] = syntheses.language_model
    return notes


def _table(texts: Sequence[Synthesis]) -> pa.Table:
    rows: list[SynthesisRow] = [
        {
            "doc_id": s.doc_id,
            "state": str(s.state),
            "reason": s.reason,
            "insertions": [
                {"at": i.at, "entity": i.entity, "description": i.description} for i in s.insertions
            ],
        }
        for s in texts
    ]
    return pa.Table.from_pylist(rows)
