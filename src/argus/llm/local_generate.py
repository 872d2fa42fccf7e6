"""Greedy answers in batches: padded on the left, halved when memory is short, each one checked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from argus.errors import InputError
from argus.llm.local_load import LocalModel
from argus.llm.reply import Reply
from argus.progress import announce

if TYPE_CHECKING:
    import torch
    from transformers import GenerationConfig


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
        unknown = sorted(name for name in extra if not hasattr(plain, name))
        if unknown:
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
        start = time.monotonic()
        try:
            replies = self._generate(batch, room)
        except (RuntimeError, MemoryError) as error:
            if not _out_of_memory(error):
                raise
            reason = str(error).strip().partition("\n")[0][:150]
        else:
            seconds = (time.monotonic() - start) / len(batch)
            return [Answer(q.key, r, seconds) for q, r in zip(batch, replies, strict=True)]
        _free(self.model.device)
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

        network, pad = self.model.network, self._pad()
        longest = max(len(q.tokens) for q in batch)
        tokens = torch.full((len(batch), longest), pad, dtype=torch.long)
        mask = torch.zeros_like(tokens)
        for row, question in enumerate(batch):
            tokens[row, longest - len(question.tokens) :] = torch.tensor(question.tokens)
            mask[row, longest - len(question.tokens) :] = 1
        watch = _Watch(len(batch), self.model.device)
        with torch.inference_mode():
            written = network.generate(
                input_ids=tokens.to(self.model.device),
                attention_mask=mask.to(self.model.device),
                generation_config=self._settings(room, pad),
                logits_processor=[watch],
            )
        answers = written[:, longest:].tolist()
        broken = watch.broken.tolist()
        return [
            self._reply(q, answer, room, nan)
            for q, answer, nan in zip(batch, answers, broken, strict=True)
        ]

    def _reply(self, question: Question, written: list[int], room: int, nan: bool) -> Reply:
        ends = (i for i, token in enumerate(written) if token in self.model.stops)
        end = next(ends, None)
        counts = (len(question.tokens), len(written) if end is None else end + 1)
        if nan:
            reason = (
                f"the model computed no numbers (NaN) in {self.model.dtype}: take another dtype, "
                "bfloat16 or float32"
            )
            return Reply("", reason, *counts)
        if end is None:
            return Reply("", self._cut(question, room), *counts)
        text = self.model.tokenizer.decode(written[:end], skip_special_tokens=True)
        assert isinstance(text, str)
        if not text.strip():
            return Reply("", "the answer is empty", *counts)
        return Reply(text, "", *counts)

    def _cut(self, question: Question, room: int) -> str:
        if room < question.bound:
            return (
                f"the answer was cut off after {room} tokens, at the end of the model's window of "
                f"{self.model.window} (the prompt has {len(question.tokens)}): show less of "
                "the document, or take a model that reads more"
            )
        return f"the answer was cut off after {room} tokens: allow more (--max-tokens)"

    def _too_long(self, question: Question) -> Reply:
        reason = (
            f"the prompt has {len(question.tokens)} tokens, which leaves no room for an answer in "
            f"the model's window of {self.model.window}: show less of the document, or take a "
            "model that reads more"
        )
        return Reply(reason=reason, tokens_in=len(question.tokens), tokens_out=0)

    def _settings(self, room: int, pad: int) -> GenerationConfig:
        from transformers import GenerationConfig

        return GenerationConfig(  # type: ignore[no-untyped-call]
            max_new_tokens=room,
            do_sample=False,
            eos_token_id=sorted(self.model.stops) or None,
            pad_token_id=pad,
            **self._extra,
        )

    def _pad(self) -> int:
        """Return the token that fills up: it is masked before a prompt, cut off behind an answer.

        One that ends answers, so that what fills up is never read as text.
        """
        own = self.model.tokenizer.pad_token_id
        return min(self.model.stops, default=own if isinstance(own, int) else 0)


class _Watch:
    """A logits processor that changes nothing and notes the rows that are no numbers."""

    def __init__(self, rows: int, device: str) -> None:
        import torch

        self.broken = torch.zeros(rows, dtype=torch.bool, device=device)

    def __call__(self, tokens: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """tokens: (rows, length). scores: (rows, vocabulary), returned as they are."""
        self.broken |= scores.isnan().any(-1)
        return scores


def _out_of_memory(error: BaseException) -> bool:
    import torch

    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    message = str(error).lower()
    return "out of memory" in message or "can't allocate memory" in message


def _free(device: str) -> None:
    """Give back what a failed batch held."""
    import torch

    if device.startswith("cuda"):
        torch.cuda.empty_cache()
