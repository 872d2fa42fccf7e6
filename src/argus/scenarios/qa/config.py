"""What a comparison of answers takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from argus.data.qrels import read_qrels
from argus.data.types import Qrels, Query
from argus.encoders import Encoder, EncoderConfig
from argus.errors import InputError
from argus.indexes.fold import RELEVANCE_WEIGHT, check_weight
from argus.indexes.retriever import IndexRetriever, open_retriever, parse_index_spec
from argus.indexes.snapshot import Snapshot
from argus.measures.significance import LEAST_RESAMPLES, RESAMPLES
from argus.scenarios.context import MAX_CHARS
from argus.scenarios.qa.cases import Gold, gold_of, scenarios_in
from argus.scenarios.qa.inputs import Questions, read_questions, read_reasoned
from argus.scenarios.qa.stages import AnyConfig

LEAST_CONTEXT = 1_000


@dataclass(frozen=True, kw_only=True)
class QAConfig:
    """What is compared, and who answers and judges.

    model: answers, and reformulates with `reason`; its budget is that of all stages together.
    judge: None for the same. votes: judgements per answer. weight: λ of the fused ranking. reason:
    the model reformulates each question to search with. limit: so many questions, drawn at random.
    max_chars: of a context. resamples, seed: of intervals and tests; the seed draws questions, too.
    """

    model: AnyConfig
    judge: AnyConfig | None = None
    votes: int = 1
    k: int = 10
    weight: float = RELEVANCE_WEIGHT
    reason: bool = False
    limit: int | None = None
    max_chars: int = MAX_CHARS
    resamples: int = RESAMPLES
    seed: int = 0

    def __post_init__(self) -> None:
        check_weight(self.weight)
        least = {
            "--votes": (self.votes, 1),
            "--k": (self.k, 1),
            "--limit": (self.limit, 1),
            "--max-chars": (self.max_chars, LEAST_CONTEXT),
            "--resamples": (self.resamples, LEAST_RESAMPLES),
        }
        for option, (value, lowest) in least.items():
            if value is not None and value < lowest:
                raise InputError(
                    f"{value}",
                    expected=f"a whole number from {lowest:,}",
                    fix="Leave it out for the default.",
                    where=option,
                )

    @property
    def judging(self) -> AnyConfig:
        """Who judges."""
        return self.judge or self.model

    def described(self) -> dict[str, object]:
        """Return the settings that change the outcome; no secret, no pace, no budget."""
        return {
            "votes": self.votes,
            "k": self.k,
            "weight": self.weight,
            "reason": self.reason,
            "max_chars": self.max_chars,
            "resamples": self.resamples,
            "seed": self.seed,
            "questions": self.limit,
            "model": _described(self.model),
            "judge": _described(self.judging),
        }


def _described(model: AnyConfig) -> dict[str, object]:
    return {
        "model": model.identity,
        "temperature": model.temperature,
        "extra": dict(model.extra),
    }


@dataclass(frozen=True)
class Inputs:
    """What a comparison is made of, read and checked, before anybody is asked."""

    name: str
    """Of the index, with its state."""
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
    """Read and check everything that is given; InputError says what does not fit."""
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
    judged = read_qrels(Path(qrels)) if isinstance(qrels, (str, Path)) else qrels
    spec = parse_index_spec(index)
    retriever = open_retriever(spec, encoder, exact=True, device=device, weight=config.weight)
    snapshot = retriever.index.snapshot(retriever.as_of)
    scenarios = scenarios_in(snapshot, str(spec))
    gold = gold_of(questions.sample, judged, snapshot, str(spec)) if judged is not None else None
    return Inputs(str(spec), retriever, snapshot, scenarios, questions, reasoned, gold)
