"""Configure a language model at an endpoint or on this machine, in Python and as command options.

`ChatConfig` is an OpenAI-compatible endpoint (`argus.llm.openai`), `LocalConfig` a model that
`transformers` runs (`argus.llm.local`). `ModelOptions` are the options --model, --base-url and
others of each command that may ask one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.settings import Doc, Ge, Gt, Option, Options, Setting, check_settings, settings_of

PANEL = "Language model"
_PANEL = Option(panel=PANEL)
AnswerTokens = Annotated[int | None, Ge(1), Option(("--max-tokens",), PANEL)]
RetryFailed = Annotated[bool, Option(("--retry-failed/--keep-failed",), PANEL)]
Concurrency = Annotated[int, Ge(1), Option(("--concurrency",), PANEL)]
AcceptUnanswered = Annotated[
    bool, Doc("Go on without the documents to which the endpoint never gave an answer.")
]


@dataclass(frozen=True, kw_only=True)
class ChatConfig:
    """An OpenAI-compatible chat endpoint: OpenAI, vLLM, Ollama, llama.cpp, LiteLLM, ...

    api_key_env: for messages. The key itself is `api_key`. max_tokens_override: of every answer,
    whatever its prompt says. max_tokens: where its prompt names none. max_tokens_field: name of the
    bound in the request ("max_completion_tokens" for newer OpenAI models). budget,
    max_total_tokens: what one model object may spend (currency, tokens in and out) over all its
    calls. No request is sent that could pass it. requests_per_minute: evenly spaced, retries
    included. timeout_s: for the whole of one attempt, however slowly bytes keep coming.
    temperature: None leaves it out, for models that refuse it. attempts, backoff_s: passing
    troubles are tried again after doubling waits. give_up_after: so many prompts in a row without
    any answer end the run. extra: further fields of the request, such as {"seed": 1, "top_p": 0.9}.

    Attributes:
        model: Model of an OpenAI-compatible endpoint; or local:FOLDER, run by transformers.
        base_url: The endpoint; default https://api.openai.com/v1.
        api_key_env: Environment variable that holds the API key; default OPENAI_API_KEY.
        max_tokens_override: Most tokens of one answer; default: what each prompt allows.
        retry_failed: Ask again what failed in an earlier run (default), or let it stand.
        concurrency: Requests at once, prompts in a batch of a local: model; default 8.
        budget: Most that may be spent, in the currency of the prices.
        max_total_tokens: Most tokens that may be read and written.
        input_price: Per million tokens read.
        output_price: Per million tokens written.
        requests_per_minute: At most.
        timeout_s: Seconds for one answer; default 120.
    """

    model: Annotated[str, _PANEL]
    base_url: Annotated[str, Option(("--base-url", "--llm-base-url"), PANEL)] = field(
        default=BASE_URL, repr=False
    )
    api_key: str | None = field(default=None, repr=False)
    api_key_env: Annotated[str, _PANEL] = API_KEY_ENV
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
    attempts: Annotated[int, Ge(1)] = 5
    backoff_s: Annotated[float, Ge(0)] = 1.0
    give_up_after: Annotated[int, Ge(1)] = 10

    def __post_init__(self) -> None:
        check_settings(self)
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
    None takes a GPU when there is one. It runs in bfloat16 on a GPU that has it, else in float32.
    max_tokens: bound of an answer where its prompt names none.
    extra: further settings of `transformers.GenerationConfig`, such as {"repetition_penalty": 1.1}.
    The model's own generation_config.json is ignored.

    Decoding is greedy. Other prompts in the same batch change an answer only by rounding, which in
    float32 stays far below the gaps between tokens.

    Attributes:
        max_tokens_override: Most tokens of one answer; default: what each prompt allows.
        concurrency: Prompts in a batch.
        adapter: LoRA adapter for a local: model, as argus research scenarios distill writes it.
    """

    model: str
    adapter: Annotated[Path | None, _PANEL] = None
    device: str | None = None
    max_tokens: Annotated[int, Ge(1)] = 1024
    max_tokens_override: AnswerTokens = None
    concurrency: Concurrency = 8
    extra: Mapping[str, Any] = field(default_factory=dict)  # keyword arguments of transformers
    retry_failed: RetryFailed = True
    temperature: ClassVar[float] = 0.0
    input_price: ClassVar[float | None] = None
    output_price: ClassVar[float | None] = None

    def __post_init__(self) -> None:
        check_settings(self)

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


LOCAL = "local:"  # begins the name of a model that runs on this machine
AnyModel = ChatConfig | LocalConfig


class ModelOptions:
    """Options of a command that may ask a language model: those of ChatConfig, and --adapter."""

    # The option that names the model, which a subclass may call something else.
    MODEL: ClassVar[Setting] = settings_of(ChatConfig)[0]

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings that a command shows, none of them set unless given."""
        adapter = next(s for s in settings_of(LocalConfig) if s.name == "adapter")
        settings = (cls.MODEL, adapter, *settings_of(ChatConfig)[1:])
        return tuple(replace(s, default=None, optional=True) for s in settings)

    @classmethod
    def from_options(cls, model: str | None = None, **options: Any) -> AnyModel | None:
        """Return the model to ask, None without one. An option that is None was not given.

        Raises InputError for options that say how to ask where there is nobody to be asked, and for
        those that the chosen kind of model does not have.
        """
        options = {name: value for name, value in options.items() if value is not None}
        spelled = {setting.name: setting.where for setting in cls.declared_settings()}
        if model is None:
            if options:
                raise needs_model([spelled[name] for name in options], cls.MODEL.where)
            return None
        is_local = model.startswith(LOCAL)
        if not model.removeprefix(LOCAL).strip():
            expected = "a model of an endpoint, or local:FOLDER"
            raise InputError("no model", expected=expected, fix="Name it.", where=cls.MODEL.where)
        own = {field.name for field in fields(LocalConfig if is_local else ChatConfig)}
        if foreign := ", ".join(spelled[name] for name in options if name not in own):
            got = f"{foreign} with {cls.MODEL.where} {model}"
            expected = "options of an endpoint, which would serve the adapter itself"
            if is_local:
                expected = "options of a model on this machine: it has no address, costs nothing"
            where = foreign.partition(",")[0]
            raise InputError(got, expected=expected, fix=f"Leave {foreign} out.", where=where)
        if is_local:
            return LocalConfig(model=model.removeprefix(LOCAL), **options)
        key = os.environ.get(options.get("api_key_env", API_KEY_ENV))
        return ChatConfig(model=model, api_key=key, **options)


NamedModel = Annotated[AnyModel | None, Options(ModelOptions)]


def with_models(settings: type, *, judge: bool = False, required: bool = True) -> type:
    """Return what makes a config of its settings and those of a model, and perhaps of a judge.

    settings: a class whose method `by` takes the model, and the judge. required: whether there has
    to be a model.
    """
    own = {setting.name for setting in settings_of(settings)}

    class WithModels:
        @classmethod
        def declared_settings(cls) -> tuple[Setting, ...]:
            judging = (
                replace(
                    s, name=f"judge_{s.name}", text=JUDGE[s.name], default=None, optional=True,
                    option=Option(panel="Judge"),
                )
                for s in settings_of(ChatConfig)
                if judge and s.name in JUDGE
            )  # fmt: skip
            return *settings_of(settings), *ModelOptions.declared_settings(), *judging

        @classmethod
        def from_options(cls, **options: Any) -> Any:
            of_judge = {f"judge_{name}": name for name in JUDGE}
            judged = {of_judge[name]: v for name, v in options.items() if name in of_judge}
            asked = {n: v for n, v in options.items() if n not in own and n not in of_judge}
            model = ModelOptions.from_options(**asked)
            if model is None and required:
                got, expected = "no --model", "the model that answers"
                fix = "Name one of an OpenAI-compatible endpoint, or local:FOLDER."
                raise InputError(got, expected=expected, fix=fix, where="--model")
            judges = [judge_of(asked, judged)] if judge else []
            return settings(**{n: options[n] for n in own & options.keys()}).by(model, *judges)

    return WithModels


def needs_model(options: list[str], option: str = "--model") -> InputError:
    """Return the error for options that mean nothing without a language model."""
    names = ", ".join(options)
    return InputError(
        f"{names} without {option}",
        expected=f"{option} NAME with it",
        fix=f"Name the model, or leave {names} out: without one, none is asked.",
        where=options[0],
    )


# Options of a judge, by the fields of ChatConfig.
JUDGE = {
    "model": "Another model, as for --model.",
    "base_url": "Another endpoint.",
    "api_key_env": "Variable that holds its key; default: none for another endpoint.",
}


def judge_of(asked: Mapping[str, Any], judged: Mapping[str, Any]) -> AnyModel | None:
    """Return who judges, None for whoever answers. asked, judged: options of both.

    A key is never sent to another endpoint than its own. Prices are those of the answering model:
    another judge has none. Raises InputError for a budget beside it, and for options that do not
    fit.
    """
    own = {name: value for name, value in judged.items() if value is not None}
    if "model" not in own:
        if own:
            names = [f"--judge-{name.replace('_', '-')}" for name in own]
            raise needs_model(names, "--judge-model")
        return None
    if asked.get("budget") is not None:
        got = "a budget in a currency, and another judge, whose prices are not known"
        expected, fix = "one model for both", "Bound the run by --max-total-tokens."
        raise InputError(got, expected=expected, fix=fix, where="--budget")
    kind = LocalConfig if own["model"].startswith(LOCAL) else ChatConfig
    taken = {field.name for field in fields(kind)} - {"adapter", "input_price", "output_price"}
    shared = {name: value for name, value in asked.items() if name in taken}
    config = ModelOptions.from_options(**shared | own)
    if isinstance(config, ChatConfig) and "base_url" in own and "api_key_env" not in own:
        return replace(config, api_key=None)
    return config
