"""Which model is asked, where, how hard it may be pressed and what it may cost."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import httpx

from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.http_retry import check_address, check_key

OWN_FIELDS = frozenset(
    {"model", "messages", "stream", "n", "temperature", "response_format"}
    | {"max_tokens", "max_completion_tokens"}
)


@dataclass(frozen=True, kw_only=True)
class ChatConfig:
    """An OpenAI-compatible chat endpoint: OpenAI, vLLM, Ollama, llama.cpp, LiteLLM, ...

    temperature: None leaves it out, for models that refuse it. max_tokens: bound of an answer where
    its prompt names none; max_tokens_override: of every answer, whatever its prompt says;
    max_tokens_field: name of the bound in the request ("max_completion_tokens" for newer OpenAI
    models). api_key_env: the environment variable that the key is from, for messages.
    extra: further fields of the request, such as {"seed": 1, "top_p": 0.9}.
    connect_timeout_s, timeout_s: for the connection, and for the whole of one attempt, however
    slowly bytes keep coming. attempts, backoff_s: passing troubles are tried again after doubling
    waits. give_up_after: so many prompts in a row without any answer end the run.
    requests_per_minute: evenly spaced, retries included. input_price, output_price: currency per
    million tokens. budget, max_total_tokens: what one model object may spend (currency, tokens in
    and out) over all its calls; no request is sent that could pass it. retry_failed: ask again
    what the ledger holds as failed.
    """

    model: str
    base_url: str = field(default=BASE_URL, repr=False)
    api_key: str | None = field(default=None, repr=False)
    api_key_env: str = API_KEY_ENV
    temperature: float | None = 0.0
    max_tokens: int = 1024
    max_tokens_override: int | None = None
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout_s: float = 10.0
    timeout_s: float = 120.0
    attempts: int = 5
    backoff_s: float = 1.0
    give_up_after: int = 10
    concurrency: int = 8
    requests_per_minute: float | None = None
    input_price: float | None = None
    output_price: float | None = None
    budget: float | None = None
    max_total_tokens: int | None = None
    retry_failed: bool = True

    def __post_init__(self) -> None:
        check_address(self.base_url)
        check_key(self.api_key)
        if not self.model.strip():
            raise InputError(
                "no model",
                expected="the name that the endpoint knows it by",
                fix="GET {base_url}/models lists them.",
                where="model",
            )
        self._check_numbers()
        self._check_extra()
        if self.api_key and httpx.URL(self.base_url).userinfo:
            raise InputError(
                "both an API key and a user in the address",
                expected="one of them: they are sent in the same header",
                fix="Take user:password out of --base-url, or give no key.",
                where="--base-url",
            )
        prices = (self.input_price, self.output_price)
        if (self.budget is not None or any(p is not None for p in prices)) and None in prices:
            raise InputError(
                f"input price {prices[0]}, output price {prices[1]}, budget {self.budget}",
                expected="both prices, or neither price and no budget",
                fix="Give both prices per million tokens (--input-price, --output-price), or bound "
                "the run by tokens instead (--max-total-tokens).",
                where="--budget",
            )

    @property
    def label(self) -> str:
        """The model's name."""
        return self.model

    @property
    def identity(self) -> str:
        """The model's name: not the address, so that a server may move."""
        return self.model

    def _check_numbers(self) -> None:
        whole = ("max_tokens", "max_tokens_override", "attempts", "give_up_after", "concurrency")
        above = (*whole, "connect_timeout_s", "timeout_s", "requests_per_minute")
        not_below = ("temperature", "backoff_s", "input_price", "output_price", "budget")
        for name in (*above, *not_below, "max_total_tokens"):
            value, low = getattr(self, name), 1 if name in whole else 0
            if value is None:
                continue
            good = math.isfinite(value) and (value > 0 if name in above else value >= 0)
            if not good or (name in whole and not isinstance(value, int)):
                kind = "a whole number" if name in whole else "a finite number"
                raise InputError(
                    f"{value!r}",
                    expected=f"{kind} {'above' if name in above and not low else 'from'} {low}",
                    fix="Leave it out for the default.",
                    where=name,
                )

    def _check_extra(self) -> None:
        own = sorted(OWN_FIELDS & set(self.extra))
        if own:
            raise InputError(
                f"the extra fields {', '.join(own)}",
                expected="fields that Argus does not set itself",
                fix="Use the options of the configuration where there are such.",
                where="extra",
            )
        try:
            json.dumps(dict(self.extra), allow_nan=False, sort_keys=True)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"extra fields that are no JSON ({error})",
                expected="names with JSON values",
                fix='Give such as {"seed": 1}.',
                where="extra",
            ) from error
