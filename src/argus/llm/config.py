"""Configure a language model: an endpoint with its pace and budget, or a model on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.settings import Choices, Doc, Ge, Gt, Option, check_settings

OWN_FIELDS = frozenset(
    {"model", "messages", "stream", "n", "temperature", "response_format"}
    | {"max_tokens", "max_completion_tokens"}
)
OWN_SETTINGS = frozenset(
    {"max_new_tokens", "max_length", "min_length", "min_new_tokens", "do_sample", "temperature"}
    | {"eos_token_id", "pad_token_id", "num_return_sequences", "return_dict_in_generate"}
)
DTYPES = ("auto", "float32", "bfloat16", "float16")
PANEL = "Language model"
_PANEL = Option(panel=PANEL)
Model = Annotated[
    str,
    Doc("Model of an OpenAI-compatible endpoint; or local:FOLDER, run by transformers."),
    _PANEL,
]
AnswerTokens = Annotated[
    int | None,
    Ge(1),
    Doc("Most tokens of one answer; default: what each prompt allows."),
    Option(("--max-tokens",), PANEL),
]
AcceptUnanswered = Annotated[
    bool, Doc("Go on without the documents to which the endpoint never gave an answer.")
]
RetryFailed = Annotated[
    bool,
    Doc("Ask again what failed in an earlier run (default), or let it stand."),
    Option(("--retry-failed/--keep-failed",), PANEL),
]
Concurrency = Annotated[
    int,
    Ge(1),
    Doc("Requests at once, prompts in a batch of a local: model; default 8."),
    Option(("--concurrency",), PANEL),
]


@dataclass(frozen=True, kw_only=True)
class ChatConfig:
    """An OpenAI-compatible chat endpoint: OpenAI, vLLM, Ollama, llama.cpp, LiteLLM, ...

    api_key_env: for messages. The key itself is `api_key`. max_tokens_override: of every answer,
    whatever its prompt says. max_tokens: where its prompt names none. max_tokens_field: name of the
    bound in the request ("max_completion_tokens" for newer OpenAI models). budget,
    max_total_tokens: what one model object may spend (currency, tokens in and out) over all its
    calls. No request is sent that could pass it. requests_per_minute: evenly spaced, retries
    included. connect_timeout_s, timeout_s: for the connection, and for the whole of one attempt,
    however slowly bytes keep coming. temperature: None leaves it out, for models that refuse it.
    attempts, backoff_s: passing troubles are tried again after doubling waits. give_up_after: so
    many prompts in a row without any answer end the run. extra: further fields of the request, such
    as {"seed": 1, "top_p": 0.9}.

    Attributes:
        budget: Most that may be spent, in the currency of the prices.
        max_total_tokens: Most tokens that may be read and written.
        input_price: Per million tokens read.
        output_price: Per million tokens written.
        requests_per_minute: At most.
        timeout_s: Seconds for one answer; default 120.
    """

    model: Model
    base_url: Annotated[
        str,
        Doc(f"The endpoint; default {BASE_URL}."),
        Option(("--base-url", "--llm-base-url"), PANEL),
    ] = field(default=BASE_URL, repr=False)
    api_key: str | None = field(default=None, repr=False)
    api_key_env: Annotated[
        str, Doc(f"Environment variable that holds the API key; default {API_KEY_ENV}."), _PANEL
    ] = API_KEY_ENV
    max_tokens_override: AnswerTokens = None
    retry_failed: RetryFailed = True
    budget: Annotated[float | None, Ge(0), _PANEL] = None
    max_total_tokens: Annotated[int | None, Ge(0), _PANEL] = None
    input_price: Annotated[float | None, Ge(0), _PANEL] = None
    output_price: Annotated[float | None, Ge(0), _PANEL] = None
    concurrency: Concurrency = 8
    requests_per_minute: Annotated[float | None, Ge(0.001), _PANEL] = None
    timeout_s: Annotated[float, Gt(0), Option(("--timeout",), PANEL)] = 120.0
    temperature: Annotated[float | None, Ge(0)] = 0.0
    max_tokens: Annotated[int, Ge(1)] = 1024
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    extra: Mapping[str, Any] = field(default_factory=dict)
    connect_timeout_s: Annotated[float, Gt(0)] = 10.0
    attempts: Annotated[int, Ge(1)] = 5
    backoff_s: Annotated[float, Ge(0)] = 1.0
    give_up_after: Annotated[int, Ge(1)] = 10

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.model.strip():
            expected, fix = "the name that the endpoint knows it by", "GET {base_url}/models lists"
            raise InputError("no model", expected=expected, fix=f"{fix} them.", where="model")
        _check_extra(self.extra, OWN_FIELDS)
        from argus.http_retry import check_address, check_key, check_one_credential

        check_address(self.base_url)
        check_key(self.api_key)
        check_one_credential(self.base_url, self.api_key)
        prices = (self.input_price, self.output_price)
        if (self.budget is not None or any(p is not None for p in prices)) and None in prices:
            got = f"input price {prices[0]}, output price {prices[1]}, budget {self.budget}"
            fix = "Give --input-price and --output-price, or bound the run by --max-total-tokens."
            expected = "both prices, or neither price and no budget"
            raise InputError(got, expected=expected, fix=fix, where="--budget")

    @property
    def label(self) -> str:
        """The model's name without the address, so that a server may move."""
        return self.model

    identity = label


@dataclass(frozen=True, kw_only=True)
class LocalConfig:
    """A causal language model that `transformers` runs on this machine.

    model: a folder with weights and tokenizer, or a name on the hub. device: "cpu", "cuda", ...,
    None takes a GPU when there is one. dtype: "auto" is bfloat16 on a GPU that has it, float16 on
    others, float32 on the CPU. max_tokens: bound of an answer where its prompt names none.
    max_tokens_override: of every answer. batch_size: prompts at once. Halved when the memory does
    not suffice. extra: further settings of `transformers.GenerationConfig`, such as
    {"repetition_penalty": 1.1}. The model's own generation_config.json is ignored.

    Decoding is greedy. Other prompts in the same batch change an answer only by rounding, which in
    float32 stays far below the gaps between tokens.

    Attributes:
        adapter: LoRA adapter for a local: model, as argus research scenarios distill writes it.
    """

    model: Model
    adapter: Annotated[Path | None, _PANEL] = None
    device: str | None = None
    dtype: Annotated[str, Choices(DTYPES)] = "auto"
    max_tokens: Annotated[int, Ge(1)] = 1024
    max_tokens_override: AnswerTokens = None
    batch_size: Concurrency = 8
    extra: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of transformers
    retry_failed: RetryFailed = True
    temperature: ClassVar[float] = 0.0
    input_price: ClassVar[float | None] = None
    output_price: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        check_settings(self)
        if not self.model.strip():
            expected = "a folder with a causal language model, or its name on the hub"
            fix = "Give --model local:FOLDER."
            raise InputError("no model", expected=expected, fix=fix, where="model")
        _check_extra(self.extra, OWN_SETTINGS)

    @property
    def label(self) -> str:
        """Names of model and adapter, without the folders that they lie in."""
        name = Path(self.model).resolve().name if Path(self.model).is_dir() else self.model
        return f"{name}+{self.adapter.resolve().name}" if self.adapter else name

    @property
    def identity(self) -> str:
        """Hash of weights, tokenizer and adapter: a folder may hold another model tomorrow."""
        from argus.data.provenance import content_hash
        from argus.llm.weights import adapter_hash, find_adapter, find_model, model_hash

        parts = [model_hash(find_model(self.model))]
        if self.adapter is not None:
            parts.append(adapter_hash(find_adapter(self.adapter)))
        return f"local:{content_hash(*parts).hex()}"


def _check_extra(extra: Mapping[str, Any], own: frozenset[str]) -> None:
    """Raise InputError for fields of a request, or settings, that Argus sets itself."""
    if named := sorted(own & set(extra)):
        expected, fix = "names that Argus does not set itself", "Leave them out."
        got = f"the extra names {', '.join(named)}"
        raise InputError(got, expected=expected, fix=fix, where="extra")
