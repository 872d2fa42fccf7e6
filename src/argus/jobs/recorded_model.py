"""Wrap a language model so that a job can report its answers, its failures and their cost.

`RecordedModel` passes prompts on and remembers each outcome. Its summary goes into summary.json of
jobs such as `research scenarios write` and `traffic judge`. `require_answers` stops a job that must
have every answer. `argus.llm` asks the model and keeps the answers on disk.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import BaseModel
from typing_extensions import TypedDict

from argus.errors import ArgusError
from argus.llm import LedgerModel, Outcome, Prompt, State
from argus.llm.model import cost_of


class AnswersTotal(TypedDict):
    """The cost of all answers, whenever they were asked for.

    tokens_in: tokens of all prompts.
    tokens_out: tokens of all answers.
    cost: cost of these, None without prices.
    """

    tokens_in: int
    tokens_out: int
    cost: float | None


class Answers(TypedDict):
    """Prompts, and the costs of this run for them.

    prompts: prompts that were needed.
    cached: of these, prompts that the ledger answers.
    unanswered: prompts without an answer.
    tokens_in: tokens of the prompts that were asked now.
    tokens_out: tokens of their answers.
    cost: cost of these, None without prices.
    """

    prompts: int
    cached: int
    unanswered: int
    tokens_in: int
    tokens_out: int
    cost: float | None
    answers: AnswersTotal


def spent(model: Answers) -> str:
    """Return one line about the prompts of a language model and their cost."""
    cost = "" if model["cost"] is None else f", costing {model['cost']:.4g}"
    return (
        f"{model['prompts']:,} prompts, {model['cached']:,} of them answered before: "
        f"{model['tokens_in']:,} tokens in, {model['tokens_out']:,} out{cost}"
    )


class RecordedModel:
    """A model that remembers the outcomes it gave. It is a `LanguageModel` itself."""

    def __init__(self, model: LedgerModel) -> None:
        self.inner = model
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

    def summary(self) -> Answers:
        """Return counts of prompts, the cost of this run, and the cost of all answers.

        Tokens are as the endpoint counts them. Where it does not, a request of this run stands at
        its bound. Costs are in the currency of the prices, None without prices.
        """
        spent = self.inner.spent
        tokens = {o.prompt.key: (o.tokens_in or 0, o.tokens_out or 0) for o in self.outcomes}
        all_in, all_out = (sum(counts[i] for counts in tokens.values()) for i in (0, 1))
        return {
            "prompts": len(self.outcomes),
            "cached": sum(o.cached for o in self.outcomes),
            "unanswered": sum(o.unanswered for o in self.outcomes),
            "tokens_in": spent.tokens_in,
            "tokens_out": spent.tokens_out,
            "cost": spent.cost,
            "answers": {
                "tokens_in": all_in,
                "tokens_out": all_out,
                "cost": cost_of(all_in, all_out, self.inner.config),
            },
        }


def require_answers(
    model: RecordedModel, *, accept: bool, undone: str = "", can_accept: bool = True
) -> None:
    """Raise ArgusError where prompts were not asked or, unless that is accepted, not answered.

    undone: the work that was not done for want of them. can_accept: whether the command can be
    told to.
    """
    not_asked = [o for o in model.outcomes if o.state is State.NOT_ASKED]
    unanswered = [o for o in model.outcomes if o.unanswered]
    missing = not_asked + ([] if accept else unanswered)
    if not missing:
        return
    reasons = "; ".join(g[0].reason.rstrip(". ") for g in (not_asked, unanswered) if g)
    ways = ["raise the budget"] if not_asked else []
    if unanswered and not accept:
        ways.append("see that the endpoint answers")
    stubborn = (
        " To go on without those that it never answers, give --accept-unanswered."
        if unanswered and not accept and can_accept
        else ""
    )
    raise ArgusError(
        f"{len(missing):,} of {len(model.outcomes):,} prompts are without an answer of "
        f"{model.name}: {reasons}. Every answer so far is kept{undone}. "
        f"To mend it, {' and '.join(ways)}, then run the same command: it asks only the rest."
        f"{stubborn}"
    )
