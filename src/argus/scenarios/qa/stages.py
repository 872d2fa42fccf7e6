"""Open the model of each stage within one budget, and estimate the cost of all before asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from argus.data.types import Qrels, Query, State
from argus.encoders import Encoder, EncoderConfig
from argus.jobs.recorded_model import RecordedModel
from argus.llm import (
    ChatConfig,
    Estimate,
    LanguageModel,
    Ledger,
    LedgerModel,
    LocalConfig,
    ModelConfig,
    Prompt,
    Spending,
    estimate,
    open_model,
)
from argus.llm import State as PromptState
from argus.llm.ledger import ledger_to_read
from argus.llm.model import answer_bound, request_keys, without_thoughts
from argus.scenarios.qa.cases import cases, retrieve
from argus.scenarios.qa.compare import Answered, Question, answer_prompts, judge_prompts
from argus.scenarios.qa.config import AnyConfig, QAConfig
from argus.scenarios.qa.inputs import Inputs, read_inputs
from argus.scenarios.qa.judge import why_no_answer
from argus.scenarios.qa.prompts import reason_prompt

LEDGER = "answers.sqlite"
_CHARS_PER_TOKEN = 4


class Stages:
    """Models for reformulating, answering and judging, one after the other.

    Money that one stage spent is no longer there for the next: the budget is that of all.
    A model on this machine is loaded once.
    """

    def __init__(self, model: AnyConfig, judge: AnyConfig, ledger: Ledger) -> None:
        self._model, self._judge, self._ledger = model, judge, ledger
        self._stages: dict[str, tuple[RecordedModel, Spending]] = {}  # with what it spent before

    def open(self, stage: str) -> RecordedModel:
        """Return the model of a stage: "reformulating", "answering" or "judging"."""
        config = self._judge if stage == "judging" else self._model
        opened = [recorded.inner for recorded, _ in self._stages.values()]
        same = [model for model in opened if model.config == config]
        model: LedgerModel
        if isinstance(config, LocalConfig):
            model = same[0] if same else open_model(config, self._ledger)
        else:
            model = open_model(self._limited(config, opened), self._ledger)
        self._stages[stage] = RecordedModel(model), model.spent
        return self._stages[stage][0]

    def _limited(self, config: ChatConfig, opened: Sequence[LedgerModel]) -> ChatConfig:
        """Return the settings with the rest of the budget after earlier stages."""
        spent = [model.spent for model in opened if isinstance(model.config, ChatConfig)]
        limits = self._model if isinstance(self._model, ChatConfig) else config
        budget, tokens = limits.budget, limits.max_total_tokens
        if budget is not None:
            budget = max(0.0, budget - sum(s.cost or 0.0 for s in spent))
        if tokens is not None:
            tokens = max(0, tokens - sum(s.tokens_in + s.tokens_out for s in spent))
        return replace(config, budget=budget, max_total_tokens=tokens)

    @property
    def missing(self) -> int:
        """How many prompts were not asked, or never answered. Equal ones count once."""
        outcomes = [o for model, _ in self._stages.values() for o in model.outcomes]
        missing = (o for o in outcomes if o.unanswered or o.state is PromptState.NOT_ASKED)
        return len({o.prompt.key for o in missing})

    def summary(self) -> dict[str, dict[str, Any]]:
        """Return prompts and cost of each stage. See `RecordedModel.summary`."""
        stages, usage = list(self._stages.items()), {}
        for i, (name, (model, before)) in enumerate(stages):
            later = [spent for _, (m, spent) in stages[i + 1 :] if m.inner is model.inner]
            after = later[0] if later else model.inner.spent
            usage[name] = {
                "model": model.name,
                **model.summary(),
                "tokens_in": after.tokens_in - before.tokens_in,
                "tokens_out": after.tokens_out - before.tokens_out,
            }
        return usage


def reformulate(
    questions: Sequence[Question], model: LanguageModel
) -> tuple[dict[str, str], dict[str, str]]:
    """Return question id -> searched text, and why others have nothing.

    Raises LanguageModelError as the model does.
    """
    texts, failed = {}, {}
    outcomes = model.complete([reason_prompt(q.text) for q in questions])
    for question, outcome in zip(questions, outcomes, strict=True):
        text = without_thoughts(outcome.value or "") if outcome.state is PromptState.OK else ""
        if text:
            texts[question.id] = text
        else:
            why = why_no_answer(outcome) or "the answer holds thoughts alone"
            failed[question.id] = f"reformulating: {why}"
    return texts, failed


class AnswersEstimate(dict[str, Any]):
    """The estimate of each stage, `total` of them, and whether all is known already (`exact`)."""

    def __str__(self) -> str:
        lines = []
        for stage, e in [*self["stages"].items(), ("total", self["total"])]:
            is_priced = e["cost"] is not None
            cost = f"; about {e['cost']:.2f}, at most {e['cost_at_most']:.2f}" if is_priced else ""
            lines.append(
                f"{stage}: {e['to_ask']:,} of {e['prompts']:,} prompts would be asked "
                f"({e['cached']:,} are in the ledger, {e['repeated']:,} equal others): "
                f"{e['tokens_in']:,} tokens in, at most {e['tokens_out_at_most']:,} out{cost}"
            )
        if not self["exact"]:
            lines.append("judging is counted as if every missing answer had its greatest length")
        return "\n".join(lines)


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
) -> AnswersEstimate:
    """Return the estimate of each stage, `total` of them, and whether it is `exact`.

    Prompts in the ledger of `out` count as answered. Where an answer is not there yet, the judge
    is taken to read one of the greatest length, and a search to be made with the question itself.
    Nothing is asked and nothing is written.

    Keys of the result:

    stages: figures by stage.
    exact: whether all that is asked is known already.
    """
    inputs = read_inputs(
        index, queries, config=config, answers=answers, qrels=qrels, reasoned=reasoned,
        encoder=encoder, device=device, coerce_ids=coerce_ids,
    )  # fmt: skip
    with TemporaryDirectory() as folder, ledger_to_read(Path(out) / LEDGER) as ledger:
        return _estimate(inputs, config, ledger, Path(folder) / "embeddings")


def _estimate(inputs: Inputs, config: QAConfig, ledger: Ledger, store: Path) -> AnswersEstimate:
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
    retrieved = retrieve(texts, {}, inputs.retriever, inputs.snapshot, store, k=config.k)
    to_ask = [
        case
        for case in cases(
            questions, retrieved, inputs.gold, inputs.snapshot, k=config.k,
            max_chars=config.max_chars,
        )
        if case.state is State.MEASURED
    ]  # fmt: skip
    prompts = answer_prompts(to_ask)
    stages["answering"] = estimate(prompts, ledger, config.model)
    answers = _answers(prompts, ledger, config.model)
    answered = []
    for case, prompt in zip(to_ask, prompts, strict=True):  # arms of one context share an answer
        longest = _CHARS_PER_TOKEN * answer_bound(prompt, config.model)
        answered.append(Answered(case, answers.get(prompt.key) or prompt.key.ljust(longest, "x")))
    is_exact = not any(e.to_ask for e in stages.values())
    stages["judging"] = estimate(judge_prompts(answered, config.votes), ledger, config.judging)
    return AnswersEstimate(
        stages={stage: e.figures() for stage, e in stages.items()},
        total=reduce(add, stages.values()).figures(),
        exact=is_exact,
    )


def _answers(prompts: Sequence[Prompt], ledger: Ledger, config: ModelConfig) -> dict[str, str]:
    """Return prompt key -> answer, of the prompts that the ledger holds as answered."""
    keys = request_keys(prompts, config, None)
    by_key = {key: prompt.key for key, prompt in zip(keys, prompts, strict=True)}
    entries = ledger.find(list(by_key))
    return {by_key[e.key]: without_thoughts(e.answer) for e in entries if e.state is PromptState.OK}
