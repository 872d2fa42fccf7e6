"""Answers from a causal language model that `transformers` runs on this machine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

from argus.engine import Engine, Work
from argus.llm.budget import Spending
from argus.llm.ledger import Entry, Ledger
from argus.llm.local_config import LocalConfig
from argus.llm.outcomes import entry_of, outcome_of
from argus.llm.plan import make_plan
from argus.llm.protocol import M, Outcome, Prompt
from argus.llm.spread import (
    Generating,
    Instruction,
    Share,
    begin_generating,
    load_generator,
    question,
    shares,
)
from argus.llm.structured import instruction, schema_hash
from argus.progress import Advance, progress

if TYPE_CHECKING:
    from pydantic import BaseModel

    from argus.llm.local_generate import Answer
    from argus.llm.local_generate import Generator as LocalGenerator

BLOCK_BATCHES = 8
"""Prompts are sorted by length within so many batches: less padding, and outcomes keep coming."""


class TransformersModel:
    """A `LanguageModel` on transformers; every answer and failure goes into `ledger` at once.

    What the ledger holds as answered is never asked again; the model is loaded when the first
    prompt has to be asked. A model that was not trained for a schema is told of it in the system
    message; answers are validated all the same. An answer that is cut off, that does not fit, and a
    prompt that is longer than the model's window are FAILED, with what to do about it.

    engine: workers that hold the model and answer, in the same batches; None is this process.
    """

    def __init__(self, config: LocalConfig, ledger: Ledger, engine: Engine | None = None) -> None:
        self.config, self.ledger, self.engine = config, ledger, engine
        self._generator: LocalGenerator | None = None
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
        left = Counter(plan.keys)
        served: set[str] = set()
        fresh: dict[str, Entry] = {}  # not from the ledger, which keeps an older answer instead
        distinct = len(left)
        with (
            progress(f"asking {self.config.label}", distinct, done=distinct - len(plan.ask)) as on,
            closing(self._rows(plan.ask, schema, on)) as rows,
        ):
            for prompt, key in zip(prompts, plan.keys, strict=True):
                while key in plan.ask and key not in fresh:
                    fresh |= next(rows)
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

    def _rows(
        self, prompts: dict[str, Prompt], schema: type[BaseModel] | None, on: Advance
    ) -> Generator[dict[str, Entry], None, None]:
        """Ask block by block; yield the rows of each when all of them are in the ledger."""
        instructions = (
            Instruction(schema_hash(schema), instruction(schema)) if schema is not None else None
        )

        def keep(answers: Iterable[Answer]) -> dict[str, Entry]:
            return {a.key: self._keep(a, prompts[a.key], schema, on) for a in answers}

        if self.engine is not None:
            yield from map(keep, self._on_engine(self.engine, prompts, instructions))
            return
        waiting = iter(prompts.items())
        while block := dict(islice(waiting, self._block)):
            generator = self._loaded()
            questions = [
                question(generator, self.config, k, p, instructions) for k, p in block.items()
            ]
            yield keep(generator.answer(questions))

    def _on_engine(
        self, engine: Engine, prompts: dict[str, Prompt], instructions: Instruction | None
    ) -> Iterator[list[Answer]]:
        if not prompts:  # or workers would load the model for nothing
            return
        work: Work[Generating, Share, list[Answer]] = Work(
            setup=begin_generating, what="answering", threaded=True,
            shared=Generating(self.config.to_send(), self.config.identity, instructions),
        )  # fmt: skip
        for _, answers in engine.run(work, shares(prompts, self._block, self.config.batch_size)):
            yield answers

    def _keep(
        self, answer: Answer, prompt: Prompt, schema: type[BaseModel] | None, on: Advance
    ) -> Entry:
        """Put a reply into the ledger and into the accounts."""
        reply, label = answer.reply, self.config.label
        self._tokens = (
            self._tokens[0] + (reply.tokens_in or 0),
            self._tokens[1] + (reply.tokens_out or 0),
        )
        row = entry_of(answer.key, label, prompt, reply, schema, answer.seconds)
        self.ledger.put(row)
        on(1)
        return row

    def _loaded(self) -> LocalGenerator:
        if self._generator is None:
            self._generator = load_generator(self.config)
        return self._generator
