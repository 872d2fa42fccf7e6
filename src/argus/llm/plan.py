"""What a run would ask: the same decision for an estimate beforehand and for the run itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from argus.data.provenance import absorb
from argus.data.records import record_of
from argus.llm.budget import TEMPLATE_TOKENS, TokenCount, approximate_tokens, cost_of, most_tokens
from argus.llm.ledger import Entry, Ledger
from argus.llm.protocol import ModelConfig, Prompt, State
from argus.llm.structured import UnusableAnswer, instruction, read_object

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True)
class Plan:
    """The prompts of a run, sorted into those to ask and those that the ledger answers."""

    keys: list[str]
    """Ledger key of each prompt, in their order; equal prompts have equal keys."""
    ask: dict[str, Prompt]
    """Each distinct prompt to ask, by key, in order of appearance."""
    failed_before: int
    """How many of `ask` the ledger holds as failed."""


class EstimateFigures(TypedDict):
    """An `Estimate`, as it is printed for machines.

    prompts: prompts in all.
    to_ask: prompts that would be asked.
    cached: prompts that the ledger answers.
    repeated: prompts equal to others.
    failed_before: of those to ask, prompts that failed in an earlier run.
    tokens_in: tokens of the prompts to ask, estimated.
    tokens_in_at_most: the most that these can be.
    tokens_out_at_most: tokens of the answers, at most.
    cost: cost, estimated; None without prices.
    cost_at_most: the most that it can cost; None without prices.
    """

    prompts: int
    to_ask: int
    cached: int
    repeated: int
    failed_before: int
    tokens_in: int
    tokens_in_at_most: int
    tokens_out_at_most: int
    cost: float | None
    cost_at_most: float | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run would ask and cost at most, without asking anything.

    prompts = to_ask + cached + repeated. failed_before: those of to_ask that failed in an earlier
    run. tokens_in: expected (see `approximate_tokens`, or the counter given); tokens_in_at_most: a
    bound. cost: of tokens_in, and of every answer at its full length. cost_at_most: with the bound
    instead; a budget of this much stops no run in which nothing must be tried twice. Both are None
    without prices.
    """

    prompts: int
    to_ask: int
    cached: int
    repeated: int
    failed_before: int
    tokens_in: int
    tokens_in_at_most: int
    tokens_out_at_most: int
    cost: float | None
    cost_at_most: float | None

    def __str__(self) -> str:
        cost = ""
        if self.cost is not None and self.cost_at_most is not None:
            cost = f"; about {self.cost:.2f}, at most {self.cost_at_most:.2f}"
        return (
            f"{self.to_ask:,} of {self.prompts:,} prompts would be asked ({self.cached:,} are in "
            f"the ledger): {self.tokens_in:,} tokens in, at most {self.tokens_out_at_most:,} "
            f"out{cost}"
        )

    def __add__(self, other: Estimate) -> Estimate:
        """Return both together; a cost is None where one of them is."""
        return Estimate(*map(_sum, astuple(self), astuple(other)))

    def figures(self) -> EstimateFigures:
        """Return everything, to be printed."""
        return record_of(EstimateFigures, self)


def request_keys(
    prompts: Sequence[Prompt], config: ModelConfig, schema: type[BaseModel] | None
) -> list[str]:
    """Return the keys under which the ledger keeps their answers, in hexadecimal.

    The model's identity, temperature, extra fields, schema and prompt decide. Not the bound of the
    answer: a whole answer is as good under a higher one, and raising it asks again only what was
    cut off.
    """
    temperature = None if config.temperature is None else float(config.temperature)
    fields = schema.model_json_schema() if schema else None
    parameters = json.dumps([temperature, dict(config.extra), fields], sort_keys=True)
    shared = absorb(hashlib.blake2b(digest_size=16), config.identity, parameters)
    begun = {system: absorb(shared.copy(), system) for system in {p.system for p in prompts}}
    return [absorb(begun[p.system].copy(), p.text).hexdigest() for p in prompts]


def make_plan(
    prompts: Sequence[Prompt],
    ledger: Ledger,
    config: ModelConfig,
    schema: type[BaseModel] | None = None,
) -> Plan:
    """Look every prompt up in the ledger. Ones that failed are asked again if `retry_failed`."""
    keys = request_keys(prompts, config, schema)
    ask: dict[str, Prompt] = {}
    for key, prompt in zip(keys, prompts, strict=True):
        ask.setdefault(key, prompt)
    failed_before = 0
    for entry in ledger.find(list(ask)):
        if is_settled(entry, config, schema):
            del ask[entry.key]
        elif entry.state is State.FAILED:
            failed_before += 1
    return Plan(keys, ask, failed_before)


def is_settled(entry: Entry, config: ModelConfig, schema: type[BaseModel] | None) -> bool:
    """Whether a row stands. An answer that validators refuse by now is asked for again."""
    if entry.state is State.FAILED:
        return not config.retry_failed
    if schema is None:
        return True
    try:
        read_object(entry.answer, schema)
    except UnusableAnswer:
        return False
    return True


def estimate(
    prompts: Sequence[Prompt],
    ledger: Ledger,
    config: ModelConfig,
    *,
    schema: type[BaseModel] | None = None,
    count_tokens: TokenCount = approximate_tokens,
) -> Estimate:
    """Say what `complete` would ask and what that would cost at most; nothing is sent."""
    plan = make_plan(prompts, ledger, config, schema)
    to_ask = plan.ask.values()
    expected = sum(tokens_in(prompt, schema, count_tokens) for prompt in to_ask)
    bound = sum(tokens_in(prompt, schema, most_tokens) for prompt in to_ask)
    out = sum(answer_bound(prompt, config) for prompt in to_ask)
    distinct = len(set(plan.keys))
    return Estimate(
        prompts=len(prompts),
        to_ask=len(plan.ask),
        cached=distinct - len(plan.ask),
        repeated=len(prompts) - distinct,
        failed_before=plan.failed_before,
        tokens_in=expected,
        tokens_in_at_most=bound,
        tokens_out_at_most=out,
        cost=cost_of(expected, out, config),
        cost_at_most=cost_of(bound, out, config),
    )


def answer_bound(prompt: Prompt, config: ModelConfig) -> int:
    """Return how many tokens the answer to a prompt may have."""
    return config.max_tokens_override or prompt.max_tokens or config.max_tokens


def tokens_in(prompt: Prompt, schema: type[BaseModel] | None, count: TokenCount) -> int:
    """Return the tokens that a prompt is charged for: both messages, schema and chat template."""
    texts = [prompt.system, prompt.text, instruction(schema) if schema else ""]
    return TEMPLATE_TOKENS + sum(count(text) for text in texts if text)


def _sum(a: Any, b: Any) -> Any:  # whole numbers, or what is paid
    return None if a is None or b is None else a + b
