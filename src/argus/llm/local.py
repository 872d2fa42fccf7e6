"""Answer prompts with a causal language model that `transformers` runs, here or on an engine.

Decoding is greedy, in batches padded on the left. A batch is halved when memory is short.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Generator as _Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any

from argus.devices import check_device
from argus.engine import Engine, Work
from argus.errors import ArgusError, InputError
from argus.llm.config import LocalConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.plan import LedgerModel, answer_bound
from argus.llm.protocol import Prompt, Spending
from argus.llm.structured import Reply, instruction, schema_hash
from argus.llm.weights import (
    attach,
    choose_dtype,
    find_adapter,
    find_model,
    load_base,
    prompt_tokens,
    read_note,
    stop_tokens,
    window_of,
)
from argus.progress import Advance, announce

if TYPE_CHECKING:
    import torch
    from pydantic import BaseModel
    from transformers import PreTrainedTokenizerBase

OUT_OF_MEMORY = ("out of memory", "can't allocate memory")
BLOCK_BATCHES = 8
"""Prompts are sorted by length within so many batches: less padding, and outcomes keep coming."""


Blocks = _Generator[Iterable["Answer"], None, None]


class TransformersModel(LedgerModel):
    """A `LanguageModel` on transformers; every answer and failure goes into `ledger` at once.

    What the ledger holds as answered is never asked again; the model is loaded when the first
    prompt has to be asked. A model that was not trained for a schema is told of it in the system
    message; answers are validated all the same. An answer that is cut off, that does not fit, and a
    prompt that is longer than the model's window are FAILED, with what to do about it.

    engine: workers that hold the model and answer, in the same batches; None is this process.
    """

    config: LocalConfig

    def __init__(self, config: LocalConfig, ledger: Ledger, engine: Engine | None = None) -> None:
        self.config, self.ledger, self.engine = config, ledger, engine
        self._generator: Generator | None = None
        self._tokens = (0, 0)

    @property
    def name(self) -> str:
        """Model, adapter and a hash of their weights."""
        return f"{self.config.label}@{self.config.identity[:18]}"

    @property
    def spent(self) -> Spending:
        """Tokens that all calls of this object read and wrote; nothing is charged."""
        return Spending(*self._tokens, None)

    @contextmanager
    def _answering(
        self, prompts: Mapping[str, Prompt], schema: type[BaseModel] | None, advance: Advance
    ) -> Iterator[Iterator[Mapping[str, Entry | str]]]:
        """Ask block by block; the rows of each are yielded when all are in the ledger."""
        told = None if schema is None else Instruction(schema_hash(schema), instruction(schema))
        engine = self.engine
        answers: Blocks = (
            self._here(prompts, told) if engine is None else self._on_engine(engine, prompts, told)
        )

        def kept() -> Iterator[Mapping[str, Entry | str]]:
            for block in answers:
                rows: dict[str, Entry | str] = {}
                for answer in block:
                    key, reply = answer.key, answer.reply
                    read, written = self._tokens
                    self._tokens = read + (reply.tokens_in or 0), written + (reply.tokens_out or 0)
                    row = self._entry(key, prompts[key], reply, schema, answer.seconds)
                    self.ledger.put(row)
                    advance(1)
                    rows[key] = row
                yield rows

        with closing(answers):
            yield kept()

    def _here(self, prompts: Mapping[str, Prompt], told: Instruction | None) -> Blocks:
        waiting = iter(prompts.items())
        while block := dict(islice(waiting, self.config.batch_size * BLOCK_BATCHES)):
            self._generator = self._generator or load_generator(self.config)
            generator = self._generator
            yield generator.answer(
                [question(generator, self.config, key, one, told) for key, one in block.items()]
            )

    def _on_engine(
        self, engine: Engine, prompts: Mapping[str, Prompt], told: Instruction | None
    ) -> Blocks:
        if not prompts:  # or workers would load the model for nothing
            return
        work: Work[Generating, Share, list[Answer]] = Work(
            setup=begin_generating, what="answering", threaded=True,
            shared=Generating(self.config.to_send(), self.config.identity, told),
        )  # fmt: skip
        size = self.config.batch_size
        for _, answers in engine.run(work, shares(prompts, size * BLOCK_BATCHES, size)):
            yield answers


@dataclass(frozen=True)
class Instruction:
    """The schema of the answers: its hash, and words for a model that was not trained for it."""

    schema: str
    text: str


@dataclass(frozen=True)
class Generating:
    """A worker's model, the identity that it must have, and the schema of the answers."""

    config: LocalConfig
    identity: str
    instruction: Instruction | None


@dataclass(frozen=True)
class Share:
    """Every `of`-th batch, from `part`, of prompts that are cut into batches together."""

    prompts: Mapping[str, Prompt]
    part: int
    of: int


def shares(prompts: Mapping[str, Prompt], together: int, batch_size: int) -> Iterator[Share]:
    """Cut the prompts of a run into shares of one batch each, as a rule.

    together: prompts whose batches are formed together: as many as without an engine, so that the
    batches are the same ones.
    """
    waiting = iter(prompts.items())
    while block := dict(islice(waiting, together)):
        of = -(-len(block) // batch_size)
        yield from (Share(block, part, of) for part in range(of))


def begin_generating(generating: Generating) -> Callable[[Share], list[Answer]]:
    """Load the model in a worker. Raises ArgusError where it is another than the driver's."""
    if generating.config.identity != generating.identity:
        raise ArgusError(
            f"A worker has another model at {generating.config.model} than the one that runs the "
            "job. Put the same folder in the same place on every machine."
        )
    generator = load_generator(generating.config)

    def answer(share: Share) -> list[Answer]:
        questions = [
            question(generator, generating.config, key, prompt, generating.instruction)
            for key, prompt in share.prompts.items()
        ]
        # Cut by the size in the settings: this worker's own may be less by now, for want of memory.
        batches = generator.batches(questions, generating.config.batch_size)
        mine = batches[share.part :: share.of]
        return [answer for batch in mine for answer in generator.answer(batch)]

    return answer


@dataclass(frozen=True)
class LocalModel:
    """A model that can be asked.

    window: tokens of prompt and answer together; None where the model names no bound. stops: tokens
    that end an answer. trained_for: hashes (`schema_hash`) of the JSON schemas that it need not be
    told of.
    """

    network: Any
    tokenizer: PreTrainedTokenizerBase
    device: str
    dtype: str
    window: int | None
    stops: frozenset[int]
    trained_for: frozenset[str] = frozenset()


def load_local(config: LocalConfig) -> LocalModel:
    """Load the model of a configuration, adapter included. Raises InputError where that fails."""
    folder, device = find_model(config.model), check_device(config.device)
    adapter = find_adapter(config.adapter) if config.adapter else None
    dtype = choose_dtype(config.dtype, device)
    network, tokenizer = load_base(folder, dtype)
    stops, window = stop_tokens(network, tokenizer), window_of(network)
    schemas = frozenset(read_note(adapter or folder).get("trained_for", ()))
    model: Any = attach(network, tokenizer, folder, adapter) if adapter else network
    model.to(device).eval()
    return LocalModel(model, tokenizer, device, dtype, window, stops, schemas)


def load_generator(config: LocalConfig) -> Generator:
    """Load model, tokenizer and adapter. Raises InputError where that fails."""
    return Generator(load_local(config), config.batch_size, dict(config.extra))


def question(
    generator: Generator,
    config: LocalConfig,
    key: str,
    prompt: Prompt,
    instruction: Instruction | None,
) -> Question:
    """Return a prompt as tokens, with the schema where the model has to be told of it."""
    model, system = generator.model, prompt.system
    if instruction is not None and instruction.schema not in model.trained_for:
        system = f"{system}\n\n{instruction.text}".strip()
    tokens = tuple(prompt_tokens(model.tokenizer, system, prompt.text))
    return Question(key, tokens, answer_bound(prompt, config))


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt as tokens; `bound` is how many the answer may have."""

    key: str
    tokens: tuple[int, ...]
    bound: int


@dataclass(frozen=True, slots=True)
class Answer:
    """The reply to one question; `seconds` is its share of its batch's time."""

    key: str
    reply: Reply
    seconds: float


class Generator:
    """Answers questions; keeps the size of batch that the memory allowed."""

    def __init__(self, model: LocalModel, batch_size: int, extra: Mapping[str, object]) -> None:
        from transformers import GenerationConfig

        self.model, self.batch_size, self._extra = model, batch_size, extra
        plain = GenerationConfig()  # type: ignore[no-untyped-call]
        if unknown := sorted(name for name in extra if not hasattr(plain, name)):
            raise InputError(
                f"the extra settings {', '.join(unknown)}",
                expected="settings of transformers.GenerationConfig",
                fix="Check the names.",
                where="extra",
            )
        model.network.generation_config = plain  # the model's own suggests sampling

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Yield each reply as soon as its batch is done; batches are of prompts of like length.

        A prompt that leaves no room for an answer in the model's window FAILED. Questions of one
        batch have equal room, so that nothing is written past the end of a window.
        """
        for group in self._groups(questions):
            room = self._room(group[0])
            if room < 1:
                yield from (Answer(q.key, self._too_long(q), 0.0) for q in group)
                continue
            waiting = group
            while waiting:
                batch = waiting[: self.batch_size]
                done = self._try(batch, room)
                if done is not None:
                    yield from done
                    waiting = waiting[len(batch) :]

    def batches(self, questions: Sequence[Question], size: int) -> list[list[Question]]:
        """Return the batches of at most `size` that `answer` forms where the memory suffices."""
        groups = self._groups(questions)
        return [group[i : i + size] for group in groups for i in range(0, len(group), size)]

    def _groups(self, questions: Sequence[Question]) -> list[list[Question]]:
        """Return questions of equal room together, longest prompts first; those without, first."""
        rooms = [(max(self._room(question), 0), question) for question in questions]
        rooms.sort(key=lambda pair: (pair[0] > 0, -pair[0], -len(pair[1].tokens)))
        grouped = groupby(rooms, key=lambda pair: pair[0])
        return [[question for _, question in group] for _, group in grouped]

    def _room(self, question: Question) -> int:
        """Return how many tokens the answer may have: its bound, or what the window leaves.

        The latter in steps of a sixteenth of the window, so that prompts of like length may share a
        batch.
        """
        window = self.model.window
        if window is None or len(question.tokens) + question.bound <= window:
            return question.bound
        free, step = window - len(question.tokens), max(1, window // 16)
        return free if free < step else free // step * step

    def _try(self, batch: Sequence[Question], room: int) -> list[Answer] | None:
        """Answer a batch; None where the memory did not suffice and a smaller one may do."""
        import torch

        start = time.monotonic()
        try:
            replies = self._generate(batch, room)
        except (RuntimeError, MemoryError) as error:
            told = any(words in str(error).lower() for words in OUT_OF_MEMORY)
            if not (told or isinstance(error, (torch.OutOfMemoryError, MemoryError))):
                raise
            reason = str(error).strip().partition("\n")[0][:150]
        else:
            seconds = (time.monotonic() - start) / len(batch)
            return [Answer(q.key, r, seconds) for q, r in zip(batch, replies, strict=True)]
        if self.model.device.startswith("cuda"):
            torch.cuda.empty_cache()
        if len(batch) > 1:
            self.batch_size = len(batch) // 2
            announce(f"out of memory with {len(batch)} prompts at once: on with {self.batch_size}")
            return None
        problem = (
            f"no memory for this prompt alone ({len(batch[0].tokens)} tokens; {reason}): show less "
            "of the document, or take a smaller model or another device"
        )
        return [Answer(batch[0].key, Reply(reason=problem, unanswered=True), 0.0)]

    def _generate(self, batch: Sequence[Question], room: int) -> list[Reply]:
        import torch
        from transformers import GenerationConfig

        model, own = self.model, self.model.tokenizer.pad_token_id
        # masked before a prompt, cut off behind an answer: one that ends answers is never text
        pad = min(model.stops, default=own if isinstance(own, int) else 0)
        longest = max(len(q.tokens) for q in batch)
        tokens = torch.full((len(batch), longest), pad, dtype=torch.long)
        mask = torch.zeros_like(tokens)
        for row, question in enumerate(batch):
            tokens[row, longest - len(question.tokens) :] = torch.tensor(question.tokens)
            mask[row, longest - len(question.tokens) :] = 1
        settings = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=room, do_sample=False, eos_token_id=sorted(model.stops) or None,
            pad_token_id=pad, **self._extra,
        )  # fmt: skip
        watch = _Watch(len(batch), model.device)
        with torch.inference_mode():
            written = model.network.generate(
                input_ids=tokens.to(model.device), attention_mask=mask.to(model.device),
                generation_config=settings, logits_processor=[watch],
            )  # fmt: skip
        rows = zip(batch, written[:, longest:].tolist(), watch.broken.tolist(), strict=True)
        return [self._reply(question, answer, room, nan) for question, answer, nan in rows]

    def _reply(self, question: Question, written: list[int], room: int, nan: bool) -> Reply:
        end = next((i for i, token in enumerate(written) if token in self.model.stops), None)
        counts = (len(question.tokens), len(written) if end is None else end + 1)
        if nan:
            reason = (
                f"the model computed no numbers (NaN) in {self.model.dtype}: take another dtype, "
                "bfloat16 or float32"
            )
            return Reply("", reason, *counts)
        if end is None:
            reason = f"the answer was cut off after {room} tokens: allow more (--max-tokens)"
            if room < question.bound:
                reason = (
                    f"the answer was cut off after {room} tokens, at the end of the model's window "
                    f"of {self.model.window} (the prompt has {len(question.tokens)}): show less of "
                    "the document, or take a model that reads more"
                )
            return Reply("", reason, *counts)
        text = self.model.tokenizer.decode(written[:end], skip_special_tokens=True)
        assert isinstance(text, str)
        reason = "" if text.strip() else "the answer is empty"
        return Reply("" if reason else text, reason, *counts)

    def _too_long(self, question: Question) -> Reply:
        reason = (
            f"the prompt has {len(question.tokens)} tokens, which leaves no room for an answer in "
            f"the model's window of {self.model.window}: show less of the document, or take a "
            "model that reads more"
        )
        return Reply(reason=reason, tokens_in=len(question.tokens), tokens_out=0)


class _Watch:
    """A logits processor that changes nothing and notes the rows that are no numbers."""

    def __init__(self, rows: int, device: str) -> None:
        import torch

        self.broken = torch.zeros(rows, dtype=torch.bool, device=device)

    def __call__(self, tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """tokens: (rows, length). scores: (rows, vocabulary), returned as they are."""
        self.broken |= scores.isnan().any(-1)
        return scores
