"""Answers of a model on this machine as work for an engine: a block is a few batches of prompts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from argus.errors import ArgusError
from argus.llm.local_config import LocalConfig
from argus.llm.plan import answer_bound
from argus.llm.protocol import Prompt

if TYPE_CHECKING:
    from argus.llm.local_generate import Answer, Generator, Question


@dataclass(frozen=True)
class Instruction:
    """The schema of the answers: its hash, and what a model that does not know it is told."""

    schema: str
    text: str


@dataclass(frozen=True)
class Generating:
    """What a worker answers with, the identity that the model must have, and the schema."""

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


def load_generator(config: LocalConfig) -> Generator:
    """Load model, tokenizer and adapter. Raises InputError where that fails."""
    from argus.llm.local_generate import Generator
    from argus.llm.local_load import load_local

    return Generator(load_local(config), config.batch_size, dict(config.extra))


def question(
    generator: Generator,
    config: LocalConfig,
    key: str,
    prompt: Prompt,
    instruction: Instruction | None,
) -> Question:
    """Return a prompt as tokens, with the schema where the model has to be told of it."""
    from argus.llm.chat_format import prompt_tokens
    from argus.llm.local_generate import Question

    model, system = generator.model, prompt.system
    if instruction is not None and instruction.schema not in model.trained_for:
        system = f"{system}\n\n{instruction.text}".strip()
    tokens = tuple(prompt_tokens(model.tokenizer, system, prompt.text))
    return Question(key, tokens, answer_bound(prompt, config))
