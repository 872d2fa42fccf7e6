"""Tokens and money: how much a request may use at most, and whether that may still be spent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from argus.http_retry import without_half_pairs
from argus.llm.config import ChatConfig
from argus.llm.protocol import ModelConfig

TokenCount = Callable[[str], int]

TEMPLATE_TOKENS = 16  # what a chat template puts around system and user message
_ASCII_PER_TOKEN = 4
_OTHER_BYTES_PER_TOKEN = 2


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text has, without a tokenizer.

    One for 4 ASCII characters and one for 2 bytes of other UTF-8: 1 per Cyrillic letter, 1.5 per
    Chinese character. English prose comes near it; code and numbers may need up to twice as many.
    """
    n_bytes = len(without_half_pairs(text).encode())
    n_ascii = sum(1 for char in text if char < "\x80") if not text.isascii() else len(text)
    return -(-n_ascii // _ASCII_PER_TOKEN) + -(-(n_bytes - n_ascii) // _OTHER_BYTES_PER_TOKEN)


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


class Budget:
    """What is spent and what requests under way may still spend; never both together above it.

    Safe to use from many threads. A request is reserved at its bound before it is sent and
    settled at what the endpoint counted, or at its bound where that is not known.
    """

    def __init__(self, config: ChatConfig) -> None:
        self._config = config
        self._lock = threading.Lock()
        self._spent = (0, 0)
        self._reserved = (0, 0)
        self._under_way = 0

    @property
    def spent(self) -> Spending:
        """What was spent so far."""
        with self._lock:
            tokens_in, tokens_out = self._spent
        return Spending(tokens_in, tokens_out, cost_of(tokens_in, tokens_out, self._config))

    @property
    def idle(self) -> bool:
        """Whether no request is under way, so that nothing will be freed by waiting."""
        with self._lock:
            return not self._under_way

    def reserve(self, tokens_in: int, tokens_out: int) -> bool:
        """Set so many tokens aside, unless that might pass the budget; return whether it did."""
        with self._lock:
            total_in = self._spent[0] + self._reserved[0] + tokens_in
            total_out = self._spent[1] + self._reserved[1] + tokens_out
            cost = cost_of(total_in, total_out, self._config) or 0.0
            budget, most = self._config.budget, self._config.max_total_tokens
            if (budget is not None and cost > budget * (1 + 1e-12)) or (
                most is not None and total_in + total_out > most
            ):
                return False
            self._reserved = (self._reserved[0] + tokens_in, self._reserved[1] + tokens_out)
            self._under_way += 1
            return True

    def settle(self, reserved: tuple[int, int], used: tuple[int, int]) -> None:
        """Give back what was reserved for one request and book what it used."""
        with self._lock:
            self._reserved = (self._reserved[0] - reserved[0], self._reserved[1] - reserved[1])
            self._spent = (self._spent[0] + used[0], self._spent[1] + used[1])
            self._under_way -= 1

    def __str__(self) -> str:
        limits = []
        if self._config.budget is not None:
            limits.append(f"{self._config.budget:g} in currency")
        if self._config.max_total_tokens is not None:
            limits.append(f"{self._config.max_total_tokens} tokens")
        spent = self.spent
        cost = "" if spent.cost is None else f", {spent.cost:.6g} in currency"
        return (
            f"{' and '.join(limits) or 'no limit'}; spent {spent.tokens_in} tokens in, "
            f"{spent.tokens_out} out{cost}"
        )
