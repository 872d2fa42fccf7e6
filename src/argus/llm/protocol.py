"""What every language model offers, and what comes back for each prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, overload

from argus.data.provenance import content_hash
from argus.errors import ArgusError, InputError

if TYPE_CHECKING:
    from pydantic import BaseModel

T = TypeVar("T")
M = TypeVar("M", bound="BaseModel")


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
            raise InputError(
                f"max_tokens={self.max_tokens}",
                expected="1 or more",
                fix="Leave it out to use the model's own bound.",
                where="Prompt",
            )

    @property
    def key(self) -> str:
        """Hash of what is asked, in hexadecimal; how long the answer may be is not part of it."""
        return content_hash(self.system, self.text).hex()


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """What became of one prompt.

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
    """What estimates, ledger keys and accounts need to know of a model, wherever it runs."""

    @property
    def label(self) -> str:
        """What a person calls it; holds no secret."""

    @property
    def identity(self) -> str:
        """What answers are kept under: the name at an endpoint, a hash of weights here."""

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
        """Whether what the ledger holds as failed is asked again."""

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
