"""Configure a language model, at an endpoint or on this machine, in Python and by options."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.settings import (
    Choices,
    Doc,
    Ge,
    Gt,
    Option,
    Options,
    Setting,
    check_settings,
    checked_of,
    settings_of,
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
LEAST_TOTAL = 1  # tokens of a whole run, of which none may be left for a later stage


class ModelOptions:
    """Options of a command that may ask a language model: settings of ChatConfig and LocalConfig.

    They go by the names of ChatConfig's fields (and adapter). One that is None was not given, and
    is left to the config.
    """

    # The option that names the model, which a subclass may call something else.
    MODEL: ClassVar[Setting] = settings_of(ChatConfig)[0]

    def __init__(self, **options: Any) -> None:
        self.options = {name: value for name, value in options.items() if value is not None}

    @property
    def model(self) -> str | None:
        """The model that is named, if one is."""
        model: str | None = self.options.get("model")
        return model

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return the settings that a command shows, none of them set unless given."""
        chat = {s.key: s for s in settings_of(ChatConfig)}
        local = {s.key: s for s in settings_of(LocalConfig)}
        del chat["model"], local["model"]
        chat["max_total_tokens"] = replace(chat["max_total_tokens"], least=LEAST_TOTAL)
        alone = [setting for key, setting in local.items() if key not in chat]
        settings = (cls.MODEL, *alone, *chat.values())
        return tuple(replace(s, default=None, optional=True) for s in settings)

    def but(self, **options: Any) -> ModelOptions:
        """Return these options with others in their place. None takes one away."""
        return type(self)(**self.options | options)

    def config(self) -> ChatConfig | LocalConfig | None:
        """Return the model to ask, None without one.

        Raises InputError for options that say how to ask where there is nobody to be asked, and for
        those that the chosen kind of model does not have.
        """
        options = dict(self.options)
        model = options.pop("model", None)
        if model is None:
            if options:
                raise needs_model(self._spelled(options), self.MODEL.where)
            return None
        if model.startswith(LOCAL):
            return self._local(model.removeprefix(LOCAL), options)
        return self._endpoint(model, options)

    def required(self) -> ChatConfig | LocalConfig:
        """Return the model to ask. InputError without one, and as for `config`."""
        config = self.config()
        if config is None:
            got, expected = "no --model", "the model that answers"
            fix = "Name one of an OpenAI-compatible endpoint, or local:FOLDER."
            raise InputError(got, expected=expected, fix=fix, where="--model")
        return config

    def _endpoint(self, model: str, options: dict[str, Any]) -> ChatConfig:
        if "adapter" in options:
            got = f"--adapter with the endpoint's model {model!r}"
            expected = f"{self.MODEL.where} {LOCAL}FOLDER with it"
            fix = "Have the endpoint serve the adapter, or a merged model, and name that."
            raise InputError(got, expected=expected, fix=fix, where="--adapter")
        key = os.environ.get(options.get("api_key_env", API_KEY_ENV))
        return ChatConfig(model=model, api_key=key, **options)

    def _local(self, model: str, options: dict[str, Any]) -> LocalConfig:
        names = {setting.key: setting.name for setting in settings_of(LocalConfig)}
        keys = {s.name: s.key for s in self.declared_settings()}
        foreign = self._spelled(name for name in options if keys[name] not in names)
        if foreign:
            got = f"{', '.join(foreign)} with {self.MODEL.where} {LOCAL}{model}"
            expected = "options of a model on this machine: it has no address and costs nothing"
            fix = f"Leave {', '.join(foreign)} out."
            raise InputError(got, expected=expected, fix=fix, where=foreign[0])
        return LocalConfig(model=model, **{names[keys[name]]: v for name, v in options.items()})

    def _spelled(self, names: Iterable[str]) -> list[str]:
        options = {setting.name: setting.where for setting in self.declared_settings()}
        return [options[name] for name in names]


class NamedModelOptions(ModelOptions):
    """The same, for commands that need no more of it than the model: its config, or None."""

    @classmethod
    def from_options(cls, **options: Any) -> ChatConfig | LocalConfig | None:
        """Return the model to ask, as `config` does."""
        return cls(**options).config()


NamedModel = Annotated[ChatConfig | LocalConfig | None, Options(NamedModelOptions)]


def with_models(settings: type, *, judge: bool = False, required: bool = True) -> type:
    """Return what makes a config of its settings and those of a model, and perhaps of a judge.

    settings: a class whose method `by` takes the model, and the judge. required: whether there has
    to be a model.
    """
    parts: dict[str, Any] = {"model": ModelOptions} | ({"judge": JudgeOptions} if judge else {})

    class WithModels:
        @classmethod
        def declared_settings(cls) -> tuple[Setting, ...]:
            models = (
                replace(s, name=f"{part}:{s.name}", option=replace(s.option, spelling=s.spelling))
                for part, options in parts.items()
                for s in options.declared_settings()
            )
            return *settings_of(settings), *models

        @classmethod
        def from_options(cls, **options: Any) -> Any:
            own = {name: value for name, value in options.items() if ":" not in name}
            model, *judges = (
                kind(
                    **{
                        n.removeprefix(f"{p}:"): v
                        for n, v in options.items()
                        if n.startswith(f"{p}:")
                    }
                )
                for p, kind in parts.items()
            )
            config = model.required() if required else model.config()
            return settings(**own).by(config, *(judge.config(model) for judge in judges))

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


OWN = ("model", "base_url", "api_key_env", "temperature")
TEXTS = {
    "model": "Another model, as for --model.",
    "base_url": "Another endpoint.",
    "api_key_env": "Variable that holds its key; default: none for another endpoint.",
    "temperature": "Default 0; several votes differ by more than chance only above it.",
}


class JudgeOptions:
    """Options that say who judges, by default whoever answers. They go by ChatConfig's fields."""

    def __init__(self, **options: Any) -> None:
        self.options = {name: value for name, value in options.items() if value is not None}

    @classmethod
    def declared_settings(cls) -> tuple[Setting, ...]:
        """Return settings of ChatConfig as those of a judge, none of them set unless given."""
        return tuple(
            replace(
                s, text=TEXTS.get(s.name, s.text), default=None, optional=True,
                option=Option((f"--judge-{s.name.replace('_', '-')}",), panel="Judge"),
            )
            for s in checked_of(ChatConfig)
            if s.name in OWN
        )  # fmt: skip

    def config(self, answerer: ModelOptions) -> ChatConfig | LocalConfig | None:
        """Return who judges, None for whoever answers.

        A key is never sent to another endpoint than its own. Prices are those of the answering
        model: another judge has none, and no budget. Raises InputError for a budget beside it, and
        for options that do not fit.
        """
        own, given = self.options, answerer.options
        if not own.keys() & {"model", "base_url", "temperature"}:
            if own:
                option = "--judge-api-key-env"
                got, expected = f"{option} without another judge", "--judge-model with it"
                fix = "Name the judge, or leave it out: the answering model judges."
                raise InputError(got, expected=expected, fix=fix, where=option)
            return None
        model, temperature = own.get("model") or answerer.model or "", own.get("temperature")
        if model.startswith(LOCAL):
            if temperature:
                option, got = "--judge-temperature", f"{temperature:g} with a {LOCAL} model"
                expected = "an endpoint with it: decoding is greedy on this machine"
                raise InputError(got, expected=expected, fix="Leave it out.", where=option)
            shared = {name: given.get(name) for name in ("max_tokens_override", "retry_failed")}
            adapter = None if "model" in own else given.get("adapter")
            base_url = own.get("base_url")
            return ModelOptions(model=model, adapter=adapter, base_url=base_url, **shared).config()
        changed: dict[str, Any] = {"model": model, "adapter": None}
        if own.keys() & {"model", "base_url"}:
            changed |= {"input_price": None, "output_price": None}
            if "budget" in given:
                got = "a budget in a currency, and another judge, whose prices are not known"
                expected, fix = "one model for both", "Bound the run by --max-total-tokens."
                raise InputError(got, expected=expected, fix=fix, where="--budget")
        if "base_url" in own:
            changed["base_url"] = own["base_url"]
        config = answerer.but(**changed).config()
        assert isinstance(config, ChatConfig)
        if "api_key_env" in own:
            key = os.environ.get(own["api_key_env"])
            config = replace(config, api_key=key, api_key_env=own["api_key_env"])
        elif "base_url" in own:
            config = replace(config, api_key=None)
        return replace(config, temperature=own.get("temperature", config.temperature))
