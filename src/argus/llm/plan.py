"""Ask only prompts that the ledger does not answer, and estimate a run by the same decision.

`LedgerModel` is the part that models at an endpoint and on this machine share.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any, overload

from typing_extensions import TypedDict

from argus.data.provenance import absorb
from argus.data.reading import record_of
from argus.llm.ledger import Entry, Ledger
from argus.llm.protocol import (
    TEMPLATE_TOKENS,
    M,
    ModelConfig,
    Outcome,
    Prompt,
    State,
    TokenCount,
    approximate_tokens,
    cost_of,
    most_tokens,
)
from argus.llm.structured import Reply, UnusableAnswer, instruction, read_object
from argus.progress import Advance, progress

if TYPE_CHECKING:
    from pydantic import BaseModel


@dataclass(frozen=True)
class Plan:
    """The prompts of a run, sorted into those to ask and those that the ledger answers."""

    keys: list[str]  # ledger key of each prompt, in their order; equal prompts have equal keys
    ask: dict[str, Prompt]  # each distinct prompt to ask, by key, in order of appearance
    failed_before: int  # how many of `ask` the ledger holds as failed


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
    """Prompts and tokens of a run, and its cost at most; nothing is asked for it.

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
        pairs: Any = zip(astuple(self), astuple(other), strict=True)
        both: Any = (None if a is None or b is None else a + b for a, b in pairs)
        return Estimate(*both)

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
        is_settled = entry.state is State.OK or not config.retry_failed
        if entry.state is State.OK and schema is not None:
            try:
                read_object(entry.answer, schema)
            except UnusableAnswer:  # by now, validators refuse it
                is_settled = False
        if is_settled:
            del ask[entry.key]
        else:
            failed_before += entry.state is State.FAILED
    return Plan(keys, ask, failed_before)


def estimate(
    prompts: Sequence[Prompt],
    ledger: Ledger,
    config: ModelConfig,
    *,
    schema: type[BaseModel] | None = None,
    count_tokens: TokenCount = approximate_tokens,
) -> Estimate:
    """Estimate the prompts that `complete` would ask, and their cost at most; send nothing."""
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


class LedgerModel:
    """Base of the models that keep every answer in a ledger.

    A model has `_answering`, which asks prompts and yields the rows for their keys, in that order.
    """

    config: ModelConfig
    ledger: Ledger

    @overload
    def complete(
        self, prompts: Sequence[Prompt], *, schema: None = None
    ) -> Iterator[Outcome[str]]: ...

    @overload
    def complete(self, prompts: Sequence[Prompt], *, schema: type[M]) -> Iterator[Outcome[M]]: ...

    def complete(
        self, prompts: Sequence[Prompt], *, schema: type[BaseModel] | None = None
    ) -> Iterator[Any]:
        """Yield one outcome per prompt, in the order of the prompts; equal prompts are asked once.

        Nothing is sent or loaded before the first outcome is taken. From then on requests to an
        endpoint run on their own, until all are answered or the iterator is closed, which cancels
        those under way. Raises LanguageModelError for an endpoint that cannot be used, InputError
        for a model that cannot be loaded and for a missing key of OpenAI's own servers, and
        ArgusError when the ledger cannot be used.
        """
        plan = make_plan(prompts, self.ledger, self.config, schema)
        left, distinct = Counter(plan.keys), len(set(plan.keys))
        served: set[str] = set()
        fresh: dict[str, Entry | str] = {}  # not from the ledger, which keeps an older answer
        with (
            progress(f"asking {self.config.label}", distinct, done=distinct - len(plan.ask)) as on,
            self._answering(plan.ask, schema, on) as rows,
        ):
            for prompt, key in zip(prompts, plan.keys, strict=True):
                while key in plan.ask and key not in fresh:
                    fresh |= next(rows)
                entry = fresh[key] if key in plan.ask else self.ledger.get(key)
                assert entry is not None
                left[key] -= 1
                if not left[key]:
                    fresh.pop(key, None)
                if isinstance(entry, str):
                    yield Outcome(prompt, State.NOT_ASKED, reason=entry)
                    continue
                value: Any = entry.answer if entry.state is State.OK else None
                if value is not None and schema is not None:
                    value = read_object(entry.answer, schema)
                yield Outcome(
                    prompt, entry.state, value, entry.reason, entry.tokens_in, entry.tokens_out,
                    cached=key not in plan.ask or key in served, unanswered=entry.unanswered,
                )  # fmt: skip
                served.add(key)

    def _answering(
        self, prompts: Mapping[str, Prompt], schema: type[BaseModel] | None, advance: Advance
    ) -> AbstractContextManager[Iterator[Mapping[str, Entry | str]]]:
        """Ask prompts; a text in place of a row is the reason why one was not asked."""
        raise NotImplementedError

    def _entry(
        self, key: str, prompt: Prompt, reply: Reply, schema: type[BaseModel] | None, seconds: float
    ) -> Entry:
        """Return the row for a reply; FAILED where there is no text, or none that fits `schema`."""
        if schema and not reply.reason:
            try:
                read_object(reply.text, schema)
            except UnusableAnswer as error:
                reply = replace(reply, reason=str(error))
        state, answer = (State.FAILED, "") if reply.reason else (State.OK, reply.text)
        return Entry(
            key, self.config.label, prompt.text, state, answer, reply.reason, reply.tokens_in,
            reply.tokens_out, seconds, unanswered=reply.unanswered,
        )  # fmt: skip
