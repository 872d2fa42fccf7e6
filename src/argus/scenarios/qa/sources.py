"""Inputs of a comparison, read and checked before anybody is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.data.qrels import read_judgements
from argus.data.types import Qrels, Query
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.indexes.header import parse_index_spec
from argus.indexes.retriever import IndexRetriever, open_retriever
from argus.indexes.snapshot import Snapshot
from argus.scenarios.qa.cases import Gold, gold_of, scenarios_in
from argus.scenarios.qa.config import QAConfig
from argus.scenarios.qa.inputs import Questions, read_questions, read_reasoned


@dataclass(frozen=True)
class Inputs:
    """Inputs of a comparison, read and checked, before anybody is asked."""

    name: str
    """Name of the index, with its state."""
    retriever: IndexRetriever
    snapshot: Snapshot
    scenarios: int
    questions: Questions
    reasoned: Mapping[str, str] | None
    gold: Gold | None


def read_inputs(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    config: QAConfig,
    answers: Path | str | Mapping[str, str] | None,
    qrels: Path | str | Qrels | None,
    reasoned: Path | str | Mapping[str, str] | None,
    encoder: Encoder | EncoderConfig | str | None,
    device: str | None,
    coerce_ids: bool,
) -> Inputs:
    """Read and check everything that is given. InputError names the misfit."""
    if config.reason and reasoned is not None:
        raise InputError(
            "reformulated queries, and a model that is to write them",
            expected="one of --reasoned and --reason",
            fix="Leave one out.",
            where="--reason",
        )
    if isinstance(reasoned, (str, Path)):
        reasoned = read_reasoned(reasoned, coerce_ids=coerce_ids)
    questions = read_questions(
        queries, answers, reasoned, limit=config.limit, seed=config.seed, coerce_ids=coerce_ids
    )
    judged = None if qrels is None else read_judgements(qrels)
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, exact=True, device=device, weight=config.weight)
    snapshot = retriever.index.snapshot(retriever.as_of)
    scenarios = scenarios_in(snapshot, str(spec))
    gold = gold_of(questions.sample, judged, snapshot, str(spec)) if judged is not None else None
    return Inputs(str(spec), retriever, snapshot, scenarios, questions, reasoned, gold)
