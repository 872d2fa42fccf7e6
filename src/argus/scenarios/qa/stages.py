"""Models of each stage: one ledger, one budget, and the cost of each stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from argus.engine import Engine
from argus.jobs.recorded_model import RecordedModel
from argus.llm import (
    ChatConfig,
    LanguageModel,
    Ledger,
    LedgerModel,
    LocalConfig,
    Spending,
    open_model,
)
from argus.llm import State as PromptState
from argus.llm.structured import without_thoughts
from argus.scenarios.qa.compare import Question
from argus.scenarios.qa.config import AnyConfig
from argus.scenarios.qa.judge import why_no_answer
from argus.scenarios.qa.prompts import reason_prompt
from argus.scenarios.qa.summary import StageUsage


@dataclass(frozen=True)
class Stage:
    """One stage: its model with the outcomes, and its earlier cost."""

    model: RecordedModel
    before: Spending


class Stages:
    """Models for reformulating, answering and judging, one after the other.

    Money that one stage spent is no longer there for the next: the budget is that of all.
    A model on this machine is loaded once. engine: where models answer that transformers runs.
    """

    def __init__(
        self, model: AnyConfig, judge: AnyConfig, ledger: Ledger, engine: Engine | None = None
    ) -> None:
        self._model, self._judge, self._ledger, self._engine = model, judge, ledger, engine
        self._stages: dict[str, Stage] = {}

    def reasoning(self) -> RecordedModel:
        """Return the model that reformulates questions."""
        return self._open("reformulating", self._model)

    def answering(self) -> RecordedModel:
        """Return the model that answers."""
        return self._open("answering", self._model)

    def judging(self) -> RecordedModel:
        """Return the model that judges."""
        return self._open("judging", self._judge)

    @property
    def missing(self) -> int:
        """How many prompts were not asked, or never answered. Equal ones count once."""
        outcomes = [o for stage in self._stages.values() for o in stage.model.outcomes]
        missing = (o for o in outcomes if o.unanswered or o.state is PromptState.NOT_ASKED)
        return len({o.prompt.key for o in missing})

    def summary(self) -> dict[str, StageUsage]:
        """Return prompts and cost of each stage. See `RecordedModel.summary`."""
        stages = list(self._stages.items())
        usage: dict[str, StageUsage] = {}
        for i, (name, stage) in enumerate(stages):
            later = [s.before for _, s in stages[i + 1 :] if s.model.inner is stage.model.inner]
            after = later[0] if later else stage.model.inner.spent
            own = stage.model.summary()
            own["tokens_in"] = after.tokens_in - stage.before.tokens_in
            own["tokens_out"] = after.tokens_out - stage.before.tokens_out
            usage[name] = {"model": stage.model.name, **own}
        return usage

    def _open(self, name: str, config: AnyConfig) -> RecordedModel:
        opened = [s.model.inner for s in self._stages.values() if s.model.inner.config == config]
        model: LedgerModel
        if isinstance(config, LocalConfig):
            model = opened[0] if opened else open_model(config, self._ledger, self._engine)
        else:
            model = open_model(self._left(config), self._ledger)
        stage = Stage(RecordedModel(model), model.spent)
        self._stages[name] = stage
        return stage.model

    def _left(self, config: ChatConfig) -> ChatConfig:
        """Return the settings with the rest of the budget after earlier stages."""
        models = [s.model.inner for s in self._stages.values()]
        spent = [model.spent for model in models if isinstance(model.config, ChatConfig)]
        limits = self._model if isinstance(self._model, ChatConfig) else config
        budget, tokens = limits.budget, limits.max_total_tokens
        if budget is not None:
            budget = max(0.0, budget - sum(s.cost or 0.0 for s in spent))
        if tokens is not None:
            tokens = max(0, tokens - sum(s.tokens_in + s.tokens_out for s in spent))
        return replace(config, budget=budget, max_total_tokens=tokens)


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
