"""Define a language model, its prompts and outcomes, and how tokens are counted and charged."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from argus.data.provenance import content_hash
from argus.errors import ArgusError, InputError
from argus.http_retry import without_half_pairs

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")
M = TypeVar("M", bound="BaseModel")
TokenCount = Callable[[str], int]
TEMPLATE_TOKENS = 16  # that a chat template puts around system and user message


class LanguageModelError(ArgusError):
    """The endpoint cannot be used at all, so asking went no further; what it answered is kept."""


class State(StrEnum):
    """How a prompt ended. The three are counted apart; only OK has a value."""

    OK = "ok"
    FAILED = "failed"
    NOT_ASKED = "not asked"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question. `max_tokens` bounds its answer; None leaves that to the model's configuration.

    Half surrogate pairs, which UTF-8 cannot carry, are sent as U+FFFD.
    """

    text: str
    system: str = ""
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            got, fix = f"max_tokens={self.max_tokens}", "Leave it out to use the model's own bound."
            raise InputError(got, expected="1 or more", fix=fix, where="Prompt")

    @property
    def key(self) -> str:
        """Hash of what is asked, in hexadecimal; how long the answer may be is not part of it."""
        return content_hash(self.system, self.text).hex()


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The end of one prompt.

    value: the answer, only where `state` is OK. reason: why there is none. tokens_in, tokens_out:
    what the endpoint counted, None where it did not say or was not asked. cached: no request was
    made for it, since the ledger had it or an equal prompt stood before it in the same list.
    unanswered: it FAILED since no attempt brought a whole answer (time-outs, dropped connections,
    refusals that may pass), so that the endpoint is to blame and not the prompt.
    """

    prompt: Prompt
    state: State
    value: T | None = None
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: bool = False
    unanswered: bool = False


class ModelConfig(Protocol):
    """The settings that estimates, ledger keys and accounts read, wherever a model runs."""

    @property
    def label(self) -> str:
        """Its name for a person; holds no secret."""

    @property
    def identity(self) -> str:
        """Part of the key of answers: the name at an endpoint, a hash of weights here."""

    @property
    def temperature(self) -> float | None:
        """0 is greedy; None leaves it to the endpoint."""

    @property
    def extra(self) -> Mapping[str, object]:
        """Further settings that change answers."""

    @property
    def max_tokens(self) -> int:
        """Bound of an answer where its prompt names none."""

    @property
    def max_tokens_override(self) -> int | None:
        """Bound of every answer, whatever its prompt says; None for none."""

    @property
    def retry_failed(self) -> bool:
        """Whether to ask again the prompts that the ledger holds as failed."""

    @property
    def input_price(self) -> float | None:
        """Currency per million tokens read; None where nothing is charged, or it is not known."""

    @property
    def output_price(self) -> float | None:
        """Currency per million tokens written."""


class LanguageModel(Protocol):
    """Answers prompts: with text, or with validated objects of a `schema`.

    `complete` yields one outcome per prompt, in the order of the prompts. Answers are kept as each
    comes, whatever is taken from the iterator. Raises LanguageModelError when going on is useless.
    """

    @property
    def name(self) -> str:
        """Says what answers, for manifests and the provenance of views; holds no secret."""

    @overload
    def complete(
        self, prompts: Sequence[Prompt], *, schema: None = None
    ) -> Iterator[Outcome[str]]: ...

    @overload
    def complete(self, prompts: Sequence[Prompt], *, schema: type[M]) -> Iterator[Outcome[M]]: ...


class OpenedModel(LanguageModel, Protocol):
    """A language model with its configuration and its spending."""

    @property
    def config(self) -> ModelConfig:
        """The configuration that it was opened with."""

    @property
    def spent(self) -> Spending:
        """Tokens and money of all its calls."""


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text has, without a tokenizer.

    One for 4 ASCII characters and one for 2 bytes of other UTF-8: 1 per Cyrillic letter, 1.5 per
    Chinese character. English prose comes near it; code and numbers may need up to twice as many.
    """
    n_bytes = len(without_half_pairs(text).encode())
    n_ascii = sum(1 for char in text if char < "\x80") if not text.isascii() else len(text)
    return -(-n_ascii // 4) + -(-(n_bytes - n_ascii) // 2)


def most_tokens(text: str) -> int:
    """Return the bytes of a text in UTF-8: a tokenizer that can tell all texts apart needs no more.

    Byte-level and byte-fallback vocabularies have a token for every byte, and merge from there.
    """
    return len(without_half_pairs(text).encode())


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens read and written, and what they cost where prices are known."""

    tokens_in: int
    tokens_out: int
    cost: float | None


def cost_of(tokens_in: int, tokens_out: int, config: ModelConfig) -> float | None:
    """Return what so many tokens cost, in the currency of the prices; None without prices."""
    if config.input_price is None or config.output_price is None:
        return None
    return (tokens_in * config.input_price + tokens_out * config.output_price) / 1e6
