"""Answers from a causal language model that `transformers` runs on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from argus.llm.budget import Spending
from argus.llm.chat_format import prompt_tokens
from argus.llm.ledger import Entry, Ledger
from argus.llm.local_config import LocalConfig
from argus.llm.outcomes import entry_of, outcome_of
from argus.llm.plan import answer_bound, make_plan
from argus.llm.protocol import M, Outcome, Prompt
from argus.llm.structured import instructed, schema_hash
from argus.progress import Advance, progress

if TYPE_CHECKING:
    from pydantic import BaseModel

    from argus.llm.local_generate import Generator, Question

BLOCK_BATCHES = 8
"""Prompts are sorted by length within so many batches: less padding, and outcomes keep coming."""


class TransformersModel:
    """A `LanguageModel` on transformers; every answer and failure goes into `ledger` at once.

    What the ledger holds as answered is never asked again; the model is loaded when the first
    prompt has to be asked. A model that was not trained for a schema is told of it in the system
    message; answers are validated all the same. An answer that is cut off, that does not fit, and a
    prompt that is longer than the model's window are FAILED, with what to do about it.
    """

    def __init__(self, config: LocalConfig, ledger: Ledger) -> None:
        self.config, self.ledger = config, ledger
        self._generator: Generator | None = None
        self._tokens = (0, 0)

    @property
    def name(self) -> str:
        """Model, adapter and a hash of their weights."""
        return f"{self.config.label}@{self.config.identity[:18]}"

    @property
    def spent(self) -> Spending:
        """What all calls of this object read and wrote; nothing is charged."""
        return Spending(*self._tokens, None)

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

        Raises InputError when the model cannot be loaded, ArgusError when the ledger cannot be
        used.
        """
        plan = make_plan(prompts, self.ledger, self.config, schema)
        waiting = iter(plan.ask.items())
        left = Counter(plan.keys)
        served: set[str] = set()
        fresh: dict[str, Entry] = {}  # not from the ledger, which keeps an older answer instead
        distinct = len(left)
        with progress(f"asking {self.config.label}", distinct, done=distinct - len(plan.ask)) as on:
            for prompt, key in zip(prompts, plan.keys, strict=True):
                if key in plan.ask and key not in fresh:
                    fresh |= self._ask(dict(islice(waiting, self._block)), schema, on)
                entry = fresh.get(key) or self.ledger.get(key)
                assert entry is not None
                cached = key not in plan.ask or key in served
                served.add(key)
                left[key] -= 1
                if not left[key]:
                    fresh.pop(key, None)
                yield outcome_of(prompt, entry, schema, cached)

    @property
    def _block(self) -> int:
        return self.config.batch_size * BLOCK_BATCHES

    def _ask(
        self, prompts: dict[str, Prompt], schema: type[BaseModel] | None, on: Advance
    ) -> dict[str, Entry]:
        """Ask a block; return its rows when all of them are in the ledger."""
        generator = self._loaded()
        rows: dict[str, Entry] = {}
        questions = [self._question(generator, k, p, schema) for k, p in prompts.items()]
        for answered in generator.answer(questions):
            key, reply = answered.key, answered.reply
            self._tokens = (
                self._tokens[0] + (reply.tokens_in or 0),
                self._tokens[1] + (reply.tokens_out or 0),
            )
            rows[key] = entry_of(
                key, self.config.label, prompts[key], reply, schema, answered.seconds
            )
            self.ledger.put(rows[key])
            on(1)
        return rows

    def _question(
        self, generator: Generator, key: str, prompt: Prompt, schema: type[BaseModel] | None
    ) -> Question:
        from argus.llm.local_generate import Question

        model, system = generator.model, prompt.system
        if schema is not None and schema_hash(schema) not in model.trained_for:
            system = instructed(system, schema)
        tokens = tuple(prompt_tokens(model.tokenizer, system, prompt.text))
        return Question(key, tokens, answer_bound(prompt, self.config))

    def _loaded(self) -> Generator:
        if self._generator is None:
            from argus.llm.local_generate import Generator
            from argus.llm.local_load import load_local

            model = load_local(self.config)
            self._generator = Generator(model, self.config.batch_size, dict(self.config.extra))
        return self._generator
