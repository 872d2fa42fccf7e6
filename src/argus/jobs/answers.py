"""Ask a language model, have its answers judged, and report answers, failures and their cost.

`ask_and_judge` fills in `Case`s for jobs that compare arms of documents: `research authority harm`
and `argus research scenarios qa`. `RecordedModel` passes prompts on and remembers each outcome. Its
summary goes into summary.json. `require_answers` stops a job that must have every answer.
`argus.llm` asks the model and keeps the answers on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from argus.data.provenance import content_hash
from argus.data.types import State
from argus.errors import ArgusError
from argus.jobs.options import Models
from argus.jobs.workspace import Record
from argus.llm import ChatConfig, Ledger, LedgerModel, Outcome, Prompt, open_model
from argus.llm import State as PromptState
from argus.llm.model import cost_of, without_thoughts

Q = TypeVar("Q")


def spent(model: Mapping[str, Any]) -> str:
    """Return one line about the prompts of a language model and their cost."""
    cost = "" if model["cost"] is None else f", costing {model['cost']:.4g}"
    return (
        f"{model['prompts']:,} prompts, {model['cached']:,} of them answered before: "
        f"{model['tokens_in']:,} tokens in, {model['tokens_out']:,} out{cost}"
    )


class RecordedModel:
    """A model that remembers the outcomes it gave. It is a `LanguageModel` itself."""

    def __init__(self, model: LedgerModel) -> None:
        self.inner, self._before = model, model.spent
        self.outcomes: list[Outcome[Any]] = []

    @property
    def name(self) -> str:
        """The name of the model, without secrets."""
        return self.inner.name

    def complete(
        self, prompts: Sequence[Prompt], *, schema: type[BaseModel] | None = None
    ) -> Iterator[Outcome[Any]]:
        """Yield the model's outcomes."""
        for outcome in self.inner.complete(prompts, schema=schema):
            self.outcomes.append(outcome)
            yield outcome

    def summary(self) -> dict[str, Any]:
        """Return counts of prompts, the cost of this run, and the cost of all answers.

        Tokens are as the endpoint counts them. Where it does not, a request of this run stands at
        its bound. Costs are in the currency of the prices, None without prices.

        prompts: prompts that were needed.
        cached: of these, prompts that the ledger answers.
        unanswered: prompts without an answer.
        tokens_in: tokens of the prompts that were asked now.
        tokens_out: tokens of their answers.
        cost: cost of these.
        answers: tokens_in, tokens_out and cost of all answers, whenever they were asked for.
        """
        spent = self.inner.spent
        tokens = {o.prompt.key: (o.tokens_in or 0, o.tokens_out or 0) for o in self.outcomes}
        all_in, all_out = (sum(counts[i] for counts in tokens.values()) for i in (0, 1))
        return {
            "prompts": len(self.outcomes),
            "cached": sum(o.cached for o in self.outcomes),
            "unanswered": sum(o.unanswered for o in self.outcomes),
            "tokens_in": spent.tokens_in - self._before.tokens_in,
            "tokens_out": spent.tokens_out - self._before.tokens_out,
            "cost": spent.cost,
            "answers": {
                "tokens_in": all_in,
                "tokens_out": all_out,
                "cost": cost_of(all_in, all_out, self.inner.config),
            },
        }


def require_answers(model: RecordedModel, *, accept: bool, undone: str = "") -> None:
    """Raise ArgusError where prompts were not asked or, unless that is accepted, not answered.

    undone: the work that was not done for want of them.
    """
    not_asked = [o for o in model.outcomes if o.state is PromptState.NOT_ASKED]
    unanswered = [] if accept else [o for o in model.outcomes if o.unanswered]
    missing = not_asked + unanswered
    if not missing:
        return
    reasons = "; ".join(g[0].reason.rstrip(". ") for g in (not_asked, unanswered) if g)
    ways, stubborn = ["raise the budget"] if not_asked else [], ""
    if unanswered:
        ways.append("see that the endpoint answers")
        stubborn = " To go on without those that it never answers, give --accept-unanswered."
    raise ArgusError(
        f"{len(missing):,} of {len(model.outcomes):,} prompts are without an answer of "
        f"{model.name}: {reasons}. Every answer so far is kept{undone}. "
        f"To mend it, {' and '.join(ways)}, then run the same command: it asks only the rest."
        f"{stubborn}"
    )


def marked(parts: Mapping[str, str]) -> str:
    """Return named texts between marks that hold a hash of them, which no text can hold itself.

    So a text can neither end itself nor begin another one.
    """
    mark, line = content_hash(*parts.values(), size=8).hex(), "-" * 10
    return "\n\n".join(
        f"{line} {name} START {mark} {line}\n{text}\n{line} {name} END {mark} {line}"
        for name, text in parts.items()
    )


class Failure(StrEnum):
    """Why there is no verdict, or no answer."""

    UNPARSABLE = "unparsable"
    OUT_OF_RANGE = "out of range"
    REFUSED = "refused"
    NOT_ANSWERED = "not answered"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict of a judge: a class or a score, None where there is none.

    reason: the judge's own, else why there is no verdict.
    """

    value: str | float | None
    reason: str
    failure: Failure | None = None


@dataclass
class Case(Generic[Q]):
    """A question, asked from the documents of one arm, its answer, and the verdict on it.

    documents: ids, in the order in which they are shown. state: MEASURED while it can be asked, and
    where there is a verdict. Else `reason` says why not, and `stage` where it failed: retrieval,
    answer or judgement. judgement: the judge's reason.
    """

    question: Q
    arm: str
    documents: tuple[str, ...] = ()
    state: State = State.MEASURED
    stage: str = ""
    reason: str = ""
    failure: Failure | None = None
    answer: str = ""
    verdict: str | float | None = None
    judgement: str = ""

    def fail(self, stage: str, why: Verdict) -> None:
        """Note that there is no answer, or no verdict on it."""
        self.state, self.stage, self.failure = State.FAILED, stage, why.failure
        self.reason = why.reason


C = TypeVar("C", bound=Case[Any])


def ask_and_judge(
    cases: Sequence[C],
    models: Models,
    ledger: Ledger,
    record: Record,
    *,
    question: Callable[[C], Prompt],
    judgement: Callable[[C], Prompt],
    read: Callable[[Any], Verdict],
    schema: type[BaseModel] | None = None,
) -> tuple[RecordedModel, RecordedModel]:
    """Fill in answers and verdicts of cases. Return the model that answered, and the judge.

    question, judgement: prompts for an answer, and for a verdict on it. read: the verdict in the
    judge's words, or in an object of `schema`. Equal prompts are asked once. A failure is no
    verdict: it says why there is none. Raises LanguageModelError as the models do, and ArgusError
    when there is no verdict at all.
    """
    answering = RecordedModel(open_model(models.answering, ledger))
    asked = [case for case in cases if case.state is State.MEASURED]
    with record.timed("answering"):
        outcomes = answering.complete([question(case) for case in asked])
        for case, outcome in zip(asked, outcomes, strict=True):
            case.answer = without_thoughts(outcome.value or "")
            if not case.answer:
                case.fail("answer", _no_verdict(outcome))
    judging = RecordedModel(open_judge(models, answering.inner, ledger))
    answered = [case for case in cases if case.answer]
    with record.timed("judging"):
        outcomes = judging.complete([judgement(case) for case in answered], schema=schema)
        for case, outcome in zip(answered, outcomes, strict=True):
            found = _no_verdict(outcome) if outcome.value is None else read(outcome.value)
            if found.value is None:
                case.fail("judgement", found)
            else:
                case.verdict, case.judgement = found.value, found.reason
    if all(case.verdict is None for case in cases):
        first = next((case.reason for case in cases if case.reason), "no reason is known")
        raise ArgusError(
            f"No answer could be judged. The first reason: {first.rstrip('. ')}. Answers so far "
            "are kept: run the same command again, it asks only the rest."
        )
    return answering, judging


def open_judge(models: Models, answering: LedgerModel, ledger: Ledger) -> LedgerModel:
    """Open the judge with what is left of the budget. A model on this machine is loaded once."""
    judge, model = models.judging, models.answering
    if not isinstance(judge, ChatConfig):
        return answering if judge == answering.config else open_model(judge, ledger)
    if isinstance(model, ChatConfig):
        spent, budget, tokens = answering.spent, model.budget, model.max_total_tokens
        budget = None if budget is None else max(0.0, budget - (spent.cost or 0.0))
        tokens = None if tokens is None else max(0, tokens - spent.tokens_in - spent.tokens_out)
        judge = replace(judge, budget=budget, max_total_tokens=tokens)
    return open_model(judge, ledger)


def why_none(outcome: Outcome[Any]) -> str:
    """Return why a prompt has no answer, in words."""
    not_asked = "not asked: " if outcome.state is PromptState.NOT_ASKED else ""
    return f"{not_asked}{outcome.reason}"


def _no_verdict(outcome: Outcome[Any]) -> Verdict:
    """Return how a prompt failed: the model refused, there was no answer, or it says nothing."""
    if outcome.state is PromptState.OK:
        return Verdict(None, "the answer holds thoughts alone", Failure.NOT_ANSWERED)
    refused = outcome.reason.startswith("the model refused")
    failure = Failure.REFUSED if refused else Failure.NOT_ANSWERED
    return Verdict(None, why_none(outcome), failure)
