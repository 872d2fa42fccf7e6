"""Ask a language model the prompts that its ledger cannot answer yet, and estimate the cost before.

Every job that asks a model comes through here: from `Prompt`s to `Outcome`s, in the same order.
`LedgerModel` is the base class of models at an endpoint (`argus.llm.openai`) and on this machine
(`argus.llm.local`). The ledger keeps earlier answers. Answers are parsed here, too: the body of a
chat completion, JSON objects of a schema, LaTeX in JSON.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import astuple, dataclass, replace
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError

from argus.data.provenance import absorb, content_hash
from argus.errors import ArgusError
from argus.llm.config import ChatConfig, LocalConfig
from argus.llm.ledger import Entry, Ledger, State
from argus.progress import Advance, progress
from argus.visible import without_half_pairs

T = TypeVar("T")
ModelConfig = ChatConfig | LocalConfig
Schema: TypeAlias = "type[BaseModel] | None"
TEMPLATE_TOKENS = 16  # that a chat template puts around system and user message
# Finish reasons of an answer that ended by itself.
WHOLE = frozenset({"none", "stop", "stop_sequence", "eos", "eos_token", "end_turn"})


_ESCAPE = re.compile(r'\\(["\\/nrt]|u[0-9a-fA-F]{4}|[bf](?![A-Za-z])|)')
_FENCE = re.compile(r"```(?:json)?(.*)```", re.DOTALL | re.IGNORECASE)


class LanguageModelError(ArgusError):
    """The endpoint cannot be used at all, so no further prompt was sent. Its answers are kept."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One question. `max_tokens` bounds its answer, None leaves that to the configuration.

    Half surrogate pairs, which UTF-8 cannot carry, are sent as U+FFFD.
    """

    text: str
    system: str = ""
    max_tokens: int | None = None

    @property
    def key(self) -> str:
        """Hash of system message and text in hexadecimal. The bound of the answer is left out."""
        return content_hash(self.system, self.text).hex()


@dataclass(frozen=True, slots=True)
class Outcome(Generic[T]):
    """The end of one prompt.

    value: the answer, only where `state` is OK. reason: why there is none. tokens_in, tokens_out:
    counts of the endpoint, None where it gave none or was not asked. cached: no request was made
    for it, since the ledger had it or an equal prompt stood before it in the same list. unanswered:
    it FAILED since no attempt brought a whole answer (time-outs, dropped connections, refusals that
    may pass), so that the endpoint is to blame and not the prompt.
    """

    prompt: Prompt
    state: State
    value: T | None = None
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cached: bool = False
    unanswered: bool = False


class LanguageModel(Protocol):
    """Answers prompts: with text, or with validated objects of a `schema`.

    `complete` yields one outcome per prompt, in the order of the prompts. Each answer is kept as it
    comes, however far you iterate. Raises LanguageModelError when going on is useless.
    """

    @property
    def name(self) -> str:
        """Name of model and place, for manifests and the provenance of views. Holds no secret."""

    def complete(
        self, prompts: Sequence[Prompt], *, schema: Schema = None
    ) -> Iterator[Outcome[Any]]:
        """Yield one outcome per prompt: of text, or of an object of the schema."""


def approximate_tokens(text: str) -> int:
    """Return about how many tokens a text has, without a tokenizer.

    One for 4 ASCII characters and one for 2 bytes of other UTF-8: 1 per Cyrillic letter, 1.5 per
    Chinese character. English prose comes near it. Code and numbers may need up to twice as many.
    """
    n_bytes = len(without_half_pairs(text).encode())
    n_ascii = sum(1 for char in text if char < "\x80") if not text.isascii() else len(text)
    return -(-n_ascii // 4) + -(-(n_bytes - n_ascii) // 2)


def most_tokens(text: str) -> int:
    """Return the bytes of a text in UTF-8, a bound of its tokens.

    Byte-level and byte-fallback vocabularies have a token for every byte, and merge from there.
    """
    return len(without_half_pairs(text).encode())


@dataclass(frozen=True, slots=True)
class Spending:
    """Tokens read and written, and their cost where prices are known."""

    tokens_in: int
    tokens_out: int
    cost: float | None


def cost_of(tokens_in: int, tokens_out: int, config: ModelConfig) -> float | None:
    """Return the cost of so many tokens, in the currency of the prices, None without prices."""
    if config.input_price is None or config.output_price is None:
        return None
    return (tokens_in * config.input_price + tokens_out * config.output_price) / 1e6


@dataclass(frozen=True, slots=True)
class Estimate:
    """Prompts and tokens of a run, and its cost at most.

    prompts: prompts in all, with those that are equal to others.
    to_ask: prompts that would be asked.
    cached: prompts that the ledger answers.
    tokens_in: tokens of the prompts to ask, expected (`approximate_tokens`).
    tokens_in_at_most: the most that these can be.
    tokens_out_at_most: tokens of the answers, at most.
    cost: of tokens_in, and of every answer at its full length. None without prices.
    cost_at_most: with the bound instead. A budget of this much stops no run in which nothing must
        be tried twice.
    """

    prompts: int
    to_ask: int
    cached: int
    tokens_in: int
    tokens_in_at_most: int
    tokens_out_at_most: int
    cost: float | None
    cost_at_most: float | None

    def __str__(self) -> str:
        is_priced = self.cost is not None and self.cost_at_most is not None
        cost = f"; about {self.cost:.2f}, at most {self.cost_at_most:.2f}" if is_priced else ""
        return (
            f"{self.to_ask:,} of {self.prompts:,} prompts would be asked ({self.cached:,} are in "
            f"the ledger): {self.tokens_in:,} tokens in, at most {self.tokens_out_at_most:,} "
            f"out{cost}"
        )

    def __add__(self, other: Estimate) -> Estimate:
        """Return both together. A cost is None where one of them is."""
        pairs: Any = zip(astuple(self), astuple(other), strict=True)
        both: Any = (None if a is None or b is None else a + b for a, b in pairs)
        return Estimate(*both)


def request_keys(prompts: Sequence[Prompt], config: ModelConfig, schema: Schema) -> list[str]:
    """Return the keys under which the ledger keeps their answers, in hexadecimal.

    The model's identity, temperature, extra fields, schema and prompt decide. The bound of the
    answer does not: a whole answer is as good under a higher one, so that a higher bound asks again
    only the answers that were cut off.
    """
    temperature = None if config.temperature is None else float(config.temperature)
    fields = schema.model_json_schema() if schema else None
    parameters = json.dumps([temperature, dict(config.extra), fields], sort_keys=True)
    shared = absorb(hashlib.blake2b(digest_size=16), config.identity, parameters)
    begun = {system: absorb(shared.copy(), system) for system in {p.system for p in prompts}}
    return [absorb(begun[p.system].copy(), p.text).hexdigest() for p in prompts]


def make_plan(
    prompts: Sequence[Prompt], ledger: Ledger, config: ModelConfig, schema: Schema = None
) -> tuple[list[str], dict[str, Prompt]]:
    """Look every prompt up in the ledger. Failed ones are asked again if `retry_failed`.

    Returns the key of each prompt, and the distinct prompts to ask by key, in order of appearance.
    """
    keys = request_keys(prompts, config, schema)
    ask: dict[str, Prompt] = {}
    for key, prompt in zip(keys, prompts, strict=True):
        ask.setdefault(key, prompt)
    for entry in ledger.find(list(ask)):
        if entry.state is State.OK or not config.retry_failed:
            del ask[entry.key]
    return keys, ask


def estimate(
    prompts: Sequence[Prompt], ledger: Ledger, config: ModelConfig, *, schema: Schema = None
) -> Estimate:
    """Estimate the prompts that `complete` would ask, and their cost at most. Sends nothing."""
    keys, ask = make_plan(prompts, ledger, config, schema)
    expected = sum(tokens_in(prompt, schema, approximate_tokens) for prompt in ask.values())
    bound = sum(tokens_in(prompt, schema, most_tokens) for prompt in ask.values())
    out = sum(answer_bound(prompt, config) for prompt in ask.values())
    costs = cost_of(expected, out, config), cost_of(bound, out, config)
    cached = len(set(keys)) - len(ask)
    return Estimate(len(prompts), len(ask), cached, expected, bound, out, *costs)


def answer_bound(prompt: Prompt, config: ModelConfig) -> int:
    """Return the bound of the tokens of an answer."""
    return config.max_tokens_override or prompt.max_tokens or config.max_tokens


def tokens_in(prompt: Prompt, schema: Schema, count: Callable[[str], int]) -> int:
    """Return the tokens that a prompt is charged for: both messages, schema and chat template."""
    texts = [prompt.system, prompt.text, instruction(schema) if schema else ""]
    return TEMPLATE_TOKENS + sum(count(text) for text in texts if text)


class LedgerModel(ABC):
    """Base of the models that keep every answer in a ledger.

    A model has `_answering`, which asks prompts and yields the rows for their keys, in that order.
    """

    config: ModelConfig
    ledger: Ledger

    @property
    @abstractmethod
    def name(self) -> str:
        """Name of model and place, for manifests and the provenance of views. Holds no secret."""

    @property
    @abstractmethod
    def spent(self) -> Spending:
        """Tokens and money of all its calls."""

    def complete(
        self, prompts: Sequence[Prompt], *, schema: Schema = None
    ) -> Iterator[Outcome[Any]]:
        """Yield one outcome per prompt, in the order of the prompts. Equal prompts are asked once.

        Nothing is sent or loaded before the first outcome is taken. From then on requests to an
        endpoint run on their own, until all are answered or the iterator is closed, which cancels
        those under way. Raises LanguageModelError for an endpoint that cannot be used, InputError
        for a model that cannot be loaded and for a missing key of OpenAI's own servers, and
        ArgusError when the ledger cannot be used.
        """
        keys, ask = make_plan(prompts, self.ledger, self.config, schema)
        left = Counter(keys)
        served: set[str] = set()
        fresh: dict[str, Entry | str] = {}  # not from the ledger, which keeps an older answer
        with (
            progress(f"asking {self.config.label}", len(left), done=len(left) - len(ask)) as on,
            self._answering(ask, schema, on) as rows,
        ):
            for prompt, key in zip(prompts, keys, strict=True):
                while key in ask and key not in fresh:
                    fresh |= next(rows)
                entry = fresh[key] if key in ask else self.ledger.get(key)
                assert entry is not None
                left[key] -= 1
                if not left[key]:
                    fresh.pop(key, None)
                if isinstance(entry, str):
                    yield Outcome(prompt, State.NOT_ASKED, reason=entry)
                    continue
                value: Any = entry.answer if entry.state is State.OK else None
                value = value if value is None or schema is None else read_object(value, schema)
                yield Outcome(
                    prompt, entry.state, value, entry.reason, entry.tokens_in, entry.tokens_out,
                    cached=key not in ask or key in served, unanswered=entry.unanswered,
                )  # fmt: skip
                served.add(key)

    @abstractmethod
    def _answering(
        self, prompts: Mapping[str, Prompt], schema: Schema, advance: Advance
    ) -> AbstractContextManager[Iterator[Mapping[str, Entry | str]]]:
        """Ask prompts. A text in place of a row is the reason why one was not asked."""

    def _entry(
        self, key: str, prompt: Prompt, reply: Reply, schema: Schema, seconds: float
    ) -> Entry:
        """Return the row for a reply. It is FAILED without a text that fits `schema`."""
        if schema and not reply.reason:
            try:
                read_object(reply.text, schema)
            except UnusableAnswer as error:
                reply = replace(reply, reason=str(error))
        state, answer = (State.FAILED, "") if reply.reason else (State.OK, reply.text)
        return Entry(
            key, self.config.label, prompt.text, state, answer, reply.reason, reply.tokens_in,
            reply.tokens_out, seconds, unanswered=reply.unanswered,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request: a text, or the reason why there is none.

    unanswered: there was no answer at all.
    """

    text: str = ""
    reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    unanswered: bool = False


def read_reply(body: str, *, max_tokens: int) -> Reply:
    """Return the answer in the body of a response with status 200. Never raises."""
    try:
        data = json.loads(body)
        counts = [(data.get("usage") or {}).get(f"{x}_tokens") for x in ("prompt", "completion")]
        tokens_in, tokens_out = (n if isinstance(n, int) else None for n in counts)
        text, reason = _content(data, max_tokens)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError) as error:
        return Reply(
            reason=f"the answer is no chat completion ({type(error).__name__}: "
            f"{str(error)[:100]}); it begins {body[:120]!r}"
        )
    return Reply(text, reason, tokens_in, tokens_out)


def without_thoughts(text: str) -> str:
    """Return the text after a model's thoughts, which some servers leave in the answer."""
    return text.rpartition("</think>")[2].strip()


def _content(data: Any, max_tokens: int) -> tuple[str, str]:
    """Return the text, or "" and the reason. Raises on a wrong shape."""
    if data.get("error"):
        return "", f"the endpoint answered with an error: {json.dumps(data['error'])[:300]}"
    choice = data["choices"][0]
    message, finish = choice["message"], str(choice.get("finish_reason"))[:40]
    if message.get("refusal"):
        return "", f"the model refused: {str(message['refusal'])[:300]}"
    if finish.lower() not in WHOLE:
        return "", f"the answer was cut off (finish_reason {finish}; max_tokens {max_tokens})"
    content = message.get("content") or ""
    if not content.strip():
        return "", f"the answer is empty (finish_reason {finish})"
    return without_half_pairs(content), ""


class UnusableAnswer(Exception):
    """An answer that cannot be used. The message has the reason."""


def schema_text(schema: type[BaseModel]) -> str:
    """Return the JSON schema as text, always the same for equal schemas."""
    return json.dumps(schema.model_json_schema(), sort_keys=True, ensure_ascii=False)


def schema_hash(schema: type[BaseModel]) -> str:
    """Return the hash of a schema, in hexadecimal."""
    return content_hash(schema_text(schema)).hex()


def response_format(schema: type[BaseModel]) -> dict[str, Any]:
    """Return the `response_format` that restricts an endpoint to answers that fit `schema`."""
    strict = copy.deepcopy(schema.model_json_schema())
    _close(strict)
    name = "".join(c if c.isascii() and c.isalnum() else "_" for c in schema.__name__)[:64]
    return {"type": "json_schema", "json_schema": {"name": name, "schema": strict, "strict": True}}


def instruction(schema: type[BaseModel]) -> str:
    """Return the words for an endpoint without `response_format`."""
    return f"Answer only with one JSON object that fits this JSON schema:\n{schema_text(schema)}"


def instructed(system: str, schema: type[BaseModel]) -> str:
    """Return a system message with that instruction at its end."""
    return f"{system}\n\n{instruction(schema)}".strip()


def read_object(text: str, schema: type[BaseModel]) -> BaseModel:
    """Return the object in an answer: JSON, alone, in a ``` fence or after thoughts.

    LaTeX in it may be escaped or not.

    Raises UnusableAnswer with the first field that does not fit.
    """
    whole = without_thoughts(text)
    fenced = None if whole.startswith(("{", "[")) else _FENCE.search(whole)
    try:
        return schema.model_validate_json(repair_escapes(fenced[1] if fenced else whole))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the answer"
        more = f" and {error.error_count() - 1} more" if error.error_count() > 1 else ""
        raise UnusableAnswer(
            f"the answer does not fit {schema.__name__}: {place}: {first['msg']}{more}; "
            f"it begins {text[:120]!r}"
        ) from error


def _close(node: Any) -> None:
    """Make every object of a schema strict: all properties required, no others (in place)."""
    if isinstance(node, list):
        for item in node:
            _close(item)
    elif isinstance(node, dict):
        if node.get("type") == "object" and isinstance(node.get("properties"), dict):
            node["additionalProperties"] = False
            node["required"] = list(node["properties"])
        for value in node.values():
            _close(value)


def repair_escapes(text: str) -> str:
    r"""Return JSON with a second backslash where a single one stands before LaTeX.

    `\alpha` and `\(` are no escapes of JSON and would not parse, `\frac` would be a form feed and
    "rac". Backslashes are doubled where JSON knows no such escape, and before `b` and `f` with a
    letter after them. `\n`, `\r` and `\t` stay line breaks and tabs.
    """
    return _ESCAPE.sub(lambda escape: f"\\{escape[1]}" if escape[1] else r"\\", text)
