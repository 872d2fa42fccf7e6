"""Prompts and cost of a comparison of answers, by stage, without asking anybody."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory

from argus.data.types import Qrels, Query, State
from argus.encoders import EmbeddingStore, Encoder, EncoderConfig
from argus.llm import Estimate, Ledger, ModelConfig, Prompt, estimate
from argus.llm import State as PromptState
from argus.llm.ledger import ledger_to_read
from argus.llm.model import answer_bound, request_keys
from argus.llm.structured import without_thoughts
from argus.scenarios.qa.cases import cases, retrieve
from argus.scenarios.qa.compare import Answered, Case, answer_prompts, judge_prompts
from argus.scenarios.qa.config import QAConfig
from argus.scenarios.qa.job import LEDGER
from argus.scenarios.qa.prompts import answer_prompt, reason_prompt
from argus.scenarios.qa.sources import Inputs, read_inputs
from argus.scenarios.qa.summary import QAEstimate

_CHARS_PER_TOKEN = 4


def estimate_answers(
    index: Path | str,
    queries: Path | str | Sequence[Query],
    *,
    config: QAConfig,
    out: Path | str,
    answers: Path | str | Mapping[str, str] | None = None,
    qrels: Path | str | Qrels | None = None,
    reasoned: Path | str | Mapping[str, str] | None = None,
    encoder: Encoder | EncoderConfig | str | None = None,
    device: str | None = None,
    coerce_ids: bool = False,
) -> QAEstimate:
    """Return the estimate of each stage, `total` of them, and whether it is `exact`.

    Prompts in the ledger of `out` count as answered. Where an answer is not there yet, the judge
    is taken to read one of the greatest length, and a search to be made with the question itself.
    Nothing is asked and nothing is written.
    """
    inputs = read_inputs(
        index, queries, config=config, answers=answers, qrels=qrels, reasoned=reasoned,
        encoder=encoder, device=device, coerce_ids=coerce_ids,
    )  # fmt: skip
    with TemporaryDirectory() as folder, ledger_to_read(Path(out) / LEDGER) as ledger:
        return _estimate(inputs, config, ledger, Path(folder) / "embeddings")


def _estimate(inputs: Inputs, config: QAConfig, ledger: Ledger, store: Path) -> QAEstimate:
    stages: dict[str, Estimate] = {}
    questions = inputs.questions.sample
    texts = {q.id: q.text for q in questions}
    if config.reason:
        prompts = [reason_prompt(q.text) for q in questions]
        stages["reformulating"] = estimate(prompts, ledger, config.model)
        answers = _answers(prompts, ledger, config.model)
        for question, prompt in zip(questions, prompts, strict=True):
            texts[question.id] = answers.get(prompt.key) or question.text
    reasoned = inputs.reasoned or {}
    texts = {id_: reasoned.get(id_) or text for id_, text in texts.items()}
    all_cases = _cases(inputs, config, texts, store)
    prompts = answer_prompts(all_cases)
    stages["answering"] = estimate(prompts, ledger, config.model)
    answers = _answers(prompts, ledger, config.model)
    answered = [
        _answered(case, answers, config.model) for case in all_cases if case.state is State.MEASURED
    ]
    stages["judging"] = estimate(judge_prompts(answered, config.votes), ledger, config.judging)
    before = [e for stage, e in stages.items() if stage != "judging"]
    return {
        "stages": {stage: e.figures() for stage, e in stages.items()},
        "total": reduce(add, stages.values()).figures(),
        "exact": not any(e.to_ask for e in before),
    }


def _cases(inputs: Inputs, config: QAConfig, texts: Mapping[str, str], store: Path) -> list[Case]:
    """Return the prompts where these texts are searched for, by question id."""
    encoder = inputs.retriever.encoder
    with EmbeddingStore(store, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        retrieved = retrieve(texts, {}, inputs.retriever, inputs.snapshot, opened, k=config.k)
    return list(
        cases(
            inputs.questions.sample, retrieved, inputs.gold, inputs.snapshot,
            k=config.k, max_chars=config.max_chars,
        )
    )  # fmt: skip


def _answers(prompts: Sequence[Prompt], ledger: Ledger, config: ModelConfig) -> dict[str, str]:
    """Return prompt key -> answer, of the prompts that the ledger holds as answered."""
    keys = request_keys(prompts, config, None)
    by_key = {key: prompt.key for key, prompt in zip(keys, prompts, strict=True)}
    entries = ledger.find(list(by_key))
    return {by_key[e.key]: without_thoughts(e.answer) for e in entries if e.state is PromptState.OK}


def _answered(case: Case, answers: Mapping[str, str], config: ModelConfig) -> Answered:
    """Return a case with its answer, or with one that is as long as it may be."""
    prompt = answer_prompt(case.question.text, case.context)
    longest = prompt.key.ljust(_CHARS_PER_TOKEN * answer_bound(prompt, config), "x")
    return Answered(case, answers.get(prompt.key) or longest)  # arms of one context share it
