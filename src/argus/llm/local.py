"""Answer prompts with a causal language model that `transformers` runs, here or on an engine.

Decoding is greedy, in batches padded on the left. A batch is halved when memory is short.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import groupby, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from argus.devices import check_device
from argus.engine import Engine, Work
from argus.errors import ArgusError, InputError
from argus.llm.config import LocalConfig
from argus.llm.ledger import Entry, Ledger
from argus.llm.model import LedgerModel, Prompt, Schema, Spending, answer_bound
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

OUT_OF_MEMORY = ("out of memory", "can't allocate memory")
BLOCK_BATCHES = 8
"""Prompts are sorted by length within so many batches: less padding, and outcomes keep coming."""
Instruction = tuple[str, str]
"""Hash of the schema of the answers, and the words for a model that was not trained for it."""
Share = tuple[Mapping[str, Prompt], int, int]
"""Prompts that are cut into batches together, and a share of these: the first one and the step."""


class Question(NamedTuple):
    """A prompt as tokens; `bound` is the most tokens of its answer."""

    key: str
    tokens: tuple[int, ...]
    bound: int


class Answer(NamedTuple):
    """The reply to one question; `seconds` is its share of its batch's time."""

    key: str
    reply: Reply
    seconds: float


Blocks = Generator[Iterable[Answer], None, None]


class TransformersModel(LedgerModel):
    """A `LanguageModel` on transformers. Every answer and failure goes into `ledger` at once.

    An answer that the ledger holds is never asked for again. The model is loaded when the first
    prompt has to be asked. A model that was not trained for a schema gets it in the system message.
    Answers are validated all the same. An answer that is cut off, one that does not fit, and a
    prompt that is longer than the model's window are FAILED, with a remedy in the reason.

    engine: workers that hold the model and answer, in the same batches. None is this process.
    """

    config: LocalConfig

    def __init__(self, config: LocalConfig, ledger: Ledger, engine: Engine | None = None) -> None:
        self.config, self.ledger, self.engine = config, ledger, engine
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
        words = None if schema is None else (schema_hash(schema), instruction(schema))
        blocks = self._here(prompts, words) if self.engine is None else self._away(prompts, words)

        def rows_of_blocks() -> Iterator[Mapping[str, Entry | str]]:
            for block in blocks:
                rows: dict[str, Entry | str] = {}
                for key, reply, seconds in block:
                    read, written = self._tokens
                    self._tokens = read + (reply.tokens_in or 0), written + (reply.tokens_out or 0)
                    rows[key] = row = self._entry(key, prompts[key], reply, schema, seconds)
                    self.ledger.put(row)
                    advance(1)
                yield rows

        with closing(blocks):
            yield rows_of_blocks()

    def _here(self, prompts: Mapping[str, Prompt], words: Instruction | None) -> Blocks:
        waiting = iter(prompts.items())
        while block := dict(islice(waiting, self.config.batch_size * BLOCK_BATCHES)):
            self._loaded = self._loaded or LoadedModel(self.config)
            yield self._loaded.answer(self._loaded.questions(block, words))

    def _away(self, prompts: Mapping[str, Prompt], words: Instruction | None) -> Blocks:
        if not prompts:  # or workers would load the model for nothing
            return
        assert self.engine is not None
        work: Work[tuple[LocalConfig, str, Instruction | None], Share, list[Answer]] = Work(
            setup=begin_answering, what="answering", threaded=True,
            shared=(self.config.to_send(), self.config.identity, words),
        )  # fmt: skip
        size = self.config.batch_size
        for _, answers in self.engine.run(work, shares(prompts, size * BLOCK_BATCHES, size)):
            yield answers


def shares(prompts: Mapping[str, Prompt], together: int, batch_size: int) -> Iterator[Share]:
    """Cut the prompts of a run into shares of one batch each, as a rule.

    together: prompts whose batches are formed together. It must be as many as without an engine, so
    that the batches are the same ones.
    """
    waiting = iter(prompts.items())
    while block := dict(islice(waiting, together)):
        of = -(-len(block) // batch_size)
        yield from ((block, part, of) for part in range(of))


def begin_answering(
    shared: tuple[LocalConfig, str, Instruction | None],
) -> Callable[[Share], list[Answer]]:
    """Load the model in a worker. Raises ArgusError where it is another than the driver's.

    shared: the model, the identity that it must have, and the schema of the answers.
    """
    config, identity, words = shared
    if config.identity != identity:
        raise ArgusError(
            f"A worker has another model at {config.model} than the one that runs the job. Put the "
            "same folder in the same place on every machine."
        )
    model = LoadedModel(config)

    def answer(share: Share) -> list[Answer]:
        prompts, part, of = share
        # Cut by the size in the settings: this worker's own may be less by now, for want of memory.
        batches = model.batches(model.questions(prompts, words), config.batch_size)
        return [answer for batch in batches[part::of] for answer in model.answer(batch)]

    return answer


class LoadedModel:
    """A model with its tokenizer and adapter, loaded to answer questions.

    Keeps the size of batch that the memory allowed. window: tokens of prompt and answer together,
    None where the model names no bound. stops: tokens that end an answer. trained_for: hashes
    (`schema_hash`) of the JSON schemas that it need not be told of. Raises InputError where a part
    is missing or broken, and for unknown settings.
    """

    def __init__(self, config: LocalConfig) -> None:
        from transformers import GenerationConfig

        folder, self.device = find_model(config.model), check_device(config.device)
        adapter = find_adapter(config.adapter) if config.adapter else None
        self.dtype = choose_dtype(config.dtype, self.device)
        network, self.tokenizer = load_base(folder, self.dtype)
        self.stops, self.window = stop_tokens(network, self.tokenizer), window_of(network)
        self.trained_for = frozenset(read_note(adapter or folder)["trained_for"])
        self.network: Any = network
        if adapter:
            self.network = attach(network, self.tokenizer, folder, adapter)
        self.network.to(self.device).eval()
        self.config, self.batch_size = config, config.batch_size
        plain = GenerationConfig()  # type: ignore[no-untyped-call]
        if unknown := sorted(name for name in config.extra if not hasattr(plain, name)):
            got = f"the extra settings {', '.join(unknown)}"
            expected = "settings of transformers.GenerationConfig"
            raise InputError(got, expected=expected, fix="Check the names.", where="extra")
        self.network.generation_config = plain  # the model's own suggests sampling

    def questions(self, prompts: Mapping[str, Prompt], words: Instruction | None) -> list[Question]:
        """Return prompts as tokens, with the schema where the model was not trained for it."""
        needed = words[1] if words is not None and words[0] not in self.trained_for else ""
        questions = []
        for key, prompt in prompts.items():
            system = f"{prompt.system}\n\n{needed}".strip() if needed else prompt.system
            tokens = tuple(prompt_tokens(self.tokenizer, system, prompt.text))
            questions.append(Question(key, tokens, answer_bound(prompt, self.config)))
        return questions

    def answer(self, questions: Sequence[Question]) -> Iterator[Answer]:
        """Yield each reply as soon as its batch is done. Batches are of prompts of like length.

        A prompt that leaves no room for an answer in the model's window FAILED. Questions of one
        batch have equal room, so that nothing is written past the end of a window.
        """
        for group in self._groups(questions):
            room = self._room(group[0])
            if room < 1:
                for question in group:
                    reason = (
                        f"the prompt has {len(question.tokens)} tokens, which leaves no room for "
                        f"an answer in the model's window of {self.window}: show less of the "
                        "document, or take a model that reads more"
                    )
                    reply = Reply(reason=reason, tokens_in=len(question.tokens), tokens_out=0)
                    yield Answer(question.key, reply, 0.0)
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
        """Return questions by their room, first those without any. Longest prompts come first."""
        rooms = [(max(self._room(question), 0), question) for question in questions]
        rooms.sort(key=lambda pair: (pair[0] > 0, -pair[0], -len(pair[1].tokens)))
        grouped = groupby(rooms, key=lambda pair: pair[0])
        return [[question for _, question in group] for _, group in grouped]

    def _room(self, question: Question) -> int:
        """Return how many tokens the answer may have: its bound, or the rest of the window.

        The rest is cut to steps of a sixteenth of the window, so that prompts of like length may
        share a batch.
        """
        window = self.window
        if window is None or len(question.tokens) + question.bound <= window:
            return question.bound
        free, step = window - len(question.tokens), max(1, window // 16)
        return free if free < step else free // step * step

    def _try(self, batch: Sequence[Question], room: int) -> list[Answer] | None:
        """Answer a batch, None where the memory did not suffice and a smaller one may do."""
        import torch

        start = time.monotonic()
        try:
            replies = self._generate(batch, room)
        except (RuntimeError, MemoryError) as error:
            is_said = any(words in str(error).lower() for words in OUT_OF_MEMORY)
            if not (is_said or isinstance(error, (torch.OutOfMemoryError, MemoryError))):
                raise
            reason = str(error).strip().partition("\n")[0][:150]
        else:
            seconds = (time.monotonic() - start) / len(batch)
            return [Answer(q.key, r, seconds) for q, r in zip(batch, replies, strict=True)]
        if self.device.startswith("cuda"):
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

        own = self.tokenizer.pad_token_id
        # masked before a prompt, cut off behind an answer: one that ends answers is never text
        pad = min(self.stops, default=own if isinstance(own, int) else 0)
        longest = max(len(q.tokens) for q in batch)
        tokens = torch.full((len(batch), longest), pad, dtype=torch.long)
        mask = torch.zeros_like(tokens)
        for row, question in enumerate(batch):
            tokens[row, longest - len(question.tokens) :] = torch.tensor(question.tokens)
            mask[row, longest - len(question.tokens) :] = 1
        settings = GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=room, do_sample=False, eos_token_id=sorted(self.stops) or None,
            pad_token_id=pad, **self.config.extra,
        )  # fmt: skip
        is_broken = torch.zeros(len(batch), dtype=torch.bool, device=self.device)

        def watch(tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
            is_broken.logical_or_(scores.isnan().any(-1))
            return scores

        with torch.inference_mode():
            written = self.network.generate(
                input_ids=tokens.to(self.device), attention_mask=mask.to(self.device),
                generation_config=settings, logits_processor=[watch],
            )  # fmt: skip
        rows = zip(batch, written[:, longest:].tolist(), is_broken.tolist(), strict=True)
        return [self._reply(question, answer, room, nan) for question, answer, nan in rows]

    def _reply(self, question: Question, written: list[int], room: int, nan: bool) -> Reply:
        end = next((i for i, token in enumerate(written) if token in self.stops), None)
        counts = (len(question.tokens), len(written) if end is None else end + 1)
        text, reason = "", ""
        if nan:
            reason = (
                f"the model computed no numbers (NaN) in {self.dtype}: take another dtype, "
                "bfloat16 or float32"
            )
        elif end is None and room < question.bound:
            reason = (
                f"the answer was cut off after {room} tokens, at the end of the model's window of "
                f"{self.window} (the prompt has {len(question.tokens)}): show less of the "
                "document, or take a model that reads more"
            )
        elif end is None:
            reason = f"the answer was cut off after {room} tokens: allow more (--max-tokens)"
        else:
            text = str(self.tokenizer.decode(written[:end], skip_special_tokens=True))
            text, reason = (text, "") if text.strip() else ("", "the answer is empty")
        return Reply(text, reason, *counts)
