"""Answer prompts with a causal language model that `transformers` runs on this machine.

`TransformersModel`: prompts -> outcomes, kept in the ledger. Decoding is greedy, in batches padded
on the left. `open_model` opens either kind of model: this one, or an endpoint (`argus.llm.openai`).
`argus.llm.weights` loads weights and adapters.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

from argus.devices import check_device
from argus.errors import ArgusError
from argus.llm import weights
from argus.llm.config import ChatConfig, LocalConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.model import (
    LedgerModel,
    Prompt,
    Reply,
    Schema,
    Spending,
    answer_bound,
    instructed,
    schema_hash,
)
from argus.progress import Advance

# Prompts are sorted by length within so many batches: less padding, and outcomes keep coming.
BLOCK_BATCHES = 8
SHOW_LESS = "show less of the document, or take a model that reads more"


class Question(NamedTuple):
    """A prompt as tokens. bound: most tokens of its answer."""

    key: str
    tokens: list[int]
    bound: int


Answer = tuple[str, Reply, float]
"""Key and reply of a question, and its share of its batch's time."""


class TransformersModel(LedgerModel):
    """A `LanguageModel` on transformers. Every answer and failure goes into `ledger` at once.

    An answer that the ledger holds is never asked for again. The model is loaded when the first
    prompt has to be asked. A model that was not trained for a schema gets it in the system message.
    Answers are validated all the same. An answer that is cut off, one that does not fit, and a
    prompt that is longer than the model's window are FAILED, with a remedy in the reason.
    """

    config: LocalConfig

    def __init__(self, config: LocalConfig, ledger: Ledger) -> None:
        self.config, self.ledger = config, ledger
        self._loaded: LoadedModel | None = None
        self._tokens = (0, 0)

    @property
    def name(self) -> str:
        """Model, adapter and a hash of their weights."""
        return f"{self.config.label}@{self.config.identity[:18]}"

    @property
    def spent(self) -> Spending:
        """Tokens that all calls of this object read and wrote. Nothing is charged."""
        return Spending(*self._tokens, None)

    @contextmanager
    def _answering(
        self, prompts: Mapping[str, Prompt], schema: Schema, advance: Advance
    ) -> Iterator[Iterator[Mapping[str, Entry | str]]]:
        """Ask block by block. The rows of each are yielded when all are in the ledger."""
        waiting = iter(prompts.items())

        def rows_of_blocks() -> Iterator[Mapping[str, Entry | str]]:
            while block := dict(islice(waiting, self.config.concurrency * BLOCK_BATCHES)):
                self._loaded = self._loaded or LoadedModel(self.config)
                rows: dict[str, Entry | str] = {}
                for key, reply, seconds in self._loaded.answer(block, schema):
                    read, written = self._tokens
                    self._tokens = read + (reply.tokens_in or 0), written + (reply.tokens_out or 0)
                    rows[key] = row = self._entry(key, prompts[key], reply, schema, seconds)
                    self.ledger.put(row)
                    advance(1)
                yield rows

        yield rows_of_blocks()


class LoadedModel:
    """A model with its tokenizer and adapter, loaded to answer questions.

    window: tokens of prompt and answer together, None where the model names no bound. stops: tokens
    that end an answer. trained_for: hashes (`schema_hash`) of the JSON schemas that it need not be
    told of. Raises InputError where a part is missing or broken, and for unknown settings.
    """

    def __init__(self, config: LocalConfig) -> None:
        from transformers import GenerationConfig

        folder, self.device = weights.find_model(config.model), check_device(config.device)
        adapter = weights.find_adapter(config.adapter) if config.adapter else None
        dtype = weights.choose_dtype("auto", self.device)
        network, self.tokenizer = weights.load_base(folder, dtype)
        self.stops = weights.stop_tokens(network, self.tokenizer)
        self.window = weights.window_of(network)
        self.trained_for = frozenset(weights.read_note(adapter or folder)["trained_for"])
        self.network: Any = network
        if adapter:
            self.network = weights.attach(network, folder, adapter)
        self.network.to(self.device).eval()
        self.config = config
        # the model's own suggests sampling
        self.network.generation_config = GenerationConfig()

    def answer(self, prompts: Mapping[str, Prompt], schema: Schema) -> Iterator[Answer]:
        """Yield each reply as soon as its batch is done. Batches are of prompts of like length.

        A model that was not trained for the schema of the answers is told it. A prompt that leaves
        no room for an answer in the model's window FAILED. A batch has the room of its longest
        prompt, so that nothing is written past the end of a window.
        """
        is_told = schema is not None and schema_hash(schema) in self.trained_for
        waiting = []
        for key, prompt in prompts.items():
            system = prompt.system
            if schema is not None and not is_told:
                system = instructed(system, schema)
            tokens = weights.prompt_tokens(self.tokenizer, system, prompt.text)
            if self.window is None or len(tokens) < self.window:
                waiting.append(Question(key, tokens, answer_bound(prompt, self.config)))
                continue
            reason = f"the prompt has {len(tokens)} tokens, which leaves no room for an answer"
            reason = f"{reason} in the model's window of {self.window}: {SHOW_LESS}"
            yield key, Reply(reason=reason, tokens_in=len(tokens), tokens_out=0), 0.0
        waiting.sort(key=lambda question: (question.bound, len(question.tokens)), reverse=True)
        while waiting:
            n = sum(one.bound == waiting[0].bound for one in waiting[: self.config.concurrency])
            batch, start = waiting[:n], time.monotonic()
            try:
                replies = self._generate(batch)
            except (RuntimeError, MemoryError) as error:
                if not isinstance(error, MemoryError) and "memory" not in str(error).lower():
                    raise
                raise ArgusError(
                    f"out of memory with {n} prompts of up to {len(batch[0].tokens)} tokens at "
                    "once; what was answered is kept. Run it again with a smaller --concurrency, "
                    "show less of a document, or take a smaller model."
                ) from error
            seconds = (time.monotonic() - start) / n
            yield from ((q.key, reply, seconds) for q, reply in zip(batch, replies, strict=True))
            waiting = waiting[n:]

    def _generate(self, batch: Sequence[Question]) -> list[Reply]:
        import torch
        from transformers import GenerationConfig

        own, longest = self.tokenizer.pad_token_id, max(len(q.tokens) for q in batch)
        # masked before a prompt, cut off behind an answer: one that ends answers is never text
        pad = min(self.stops, default=own if isinstance(own, int) else 0)
        tokens = torch.full((len(batch), longest), pad, dtype=torch.long)
        mask = torch.zeros_like(tokens)
        for row, question in enumerate(batch):
            tokens[row, longest - len(question.tokens) :] = torch.tensor(question.tokens)
            mask[row, longest - len(question.tokens) :] = 1
        bound = batch[0].bound
        room = bound if self.window is None else min(bound, self.window - longest)
        settings = GenerationConfig(
            max_new_tokens=room, do_sample=False, eos_token_id=sorted(self.stops) or None,
            pad_token_id=pad, **self.config.extra,
        )  # fmt: skip
        with torch.inference_mode():
            written = self.network.generate(
                input_ids=tokens.to(self.device), attention_mask=mask.to(self.device),
                generation_config=settings,
            )  # fmt: skip
        cut = f"the answer was cut off after {room} tokens"
        window = f"at the end of the model's window of {self.window}: {SHOW_LESS}"
        cut = f"{cut}, {window}" if room < bound else f"{cut}: allow more (--max-tokens)"
        replies = []
        for question, answer in zip(batch, written[:, longest:].tolist(), strict=True):
            end = next((i for i, token in enumerate(answer) if token in self.stops), None)
            text = str(self.tokenizer.decode(answer[:end], skip_special_tokens=True))
            reason = cut if end is None else "" if text.strip() else "the answer is empty"
            n = len(answer) if end is None else end + 1
            replies.append(Reply("" if reason else text, reason, len(question.tokens), n))
        return replies


def open_model(config: ChatConfig | LocalConfig, ledger: Ledger) -> LedgerModel:
    """Return the model of a configuration. Nothing is asked or loaded before its first prompt."""
    if isinstance(config, LocalConfig):
        return TransformersModel(config, ledger)
    from argus.llm.openai import OpenAIModel  # which imports httpx

    return OpenAIModel(config, ledger)
