"""Options of commands that may ask a language model, at an endpoint or on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from typing import Annotated, Any, ClassVar

from argus.endpoint import API_KEY_ENV
from argus.errors import InputError
from argus.llm.config import ChatConfig, LocalConfig
from argus.settings import Option, Options, Setting, checked_of, settings_of

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
            raise InputError(
                "no --model",
                expected="the model that answers",
                fix="Name one of an OpenAI-compatible endpoint, or local:FOLDER.",
                where="--model",
            )
        return config

    def _endpoint(self, model: str, options: dict[str, Any]) -> ChatConfig:
        if "adapter" in options:
            option = self.MODEL.where
            raise InputError(
                f"--adapter with the endpoint's model {model!r}",
                expected=f"{option} {LOCAL}FOLDER with it: what an endpoint serves is up to it",
                fix=f"Give {option} {LOCAL}FOLDER, or have the endpoint serve the adapter (a "
                "merged model where it cannot) and name that.",
                where="--adapter",
            )
        key = os.environ.get(options.get("api_key_env", API_KEY_ENV))
        return ChatConfig(model=model, api_key=key, **options)

    def _local(self, model: str, options: dict[str, Any]) -> LocalConfig:
        names = {setting.key: setting.name for setting in settings_of(LocalConfig)}
        keys = {s.name: s.key for s in self.declared_settings()}
        foreign = self._spelled(name for name in options if keys[name] not in names)
        if foreign:
            raise InputError(
                f"{', '.join(foreign)} with {self.MODEL.where} {LOCAL}{model}",
                expected="options of a model on this machine: it has no address and costs nothing",
                fix=f"Leave {', '.join(foreign)} out.",
                where=foreign[0],
            )
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


OWN = ("model", "base_url", "api_key_env", "temperature", "input_price", "output_price")
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

        A key is never sent to another endpoint than its own. Raises InputError for a budget that
        could not be kept for want of the judge's prices, and for options that do not fit.
        """
        own = self.options
        if not own.keys() & {"model", "base_url", "temperature"}:
            self._refuse_idle_options()
            return None
        self._check_prices(answerer)
        block = self._options(answerer)
        config = block.config()
        assert config is not None and block.model is not None
        if isinstance(config, LocalConfig):
            if temperature := own.get("temperature"):
                raise InputError(
                    f"--judge-temperature {temperature:g} with a {LOCAL} model",
                    expected="an endpoint with it: decoding is greedy on this machine",
                    fix="Leave it out.",
                    where="--judge-temperature",
                )
            return config
        if "api_key_env" in own:
            key = os.environ.get(own["api_key_env"])
            config = replace(config, api_key=key, api_key_env=own["api_key_env"])
        elif "base_url" in own:
            config = replace(config, api_key=None)
        return replace(config, temperature=own.get("temperature", config.temperature))

    def _options(self, answerer: ModelOptions) -> ModelOptions:
        """Return the options of the answering model with the judge's own."""
        own, model = self.options, self.options.get("model") or answerer.model or ""
        if model.startswith(LOCAL):
            common = {
                name: answerer.options.get(name) for name in ("max_tokens_override", "retry_failed")
            }
            adapter = None if "model" in own else answerer.options.get("adapter")
            return ModelOptions(
                model=model, adapter=adapter, base_url=own.get("base_url"), **common
            )
        mine = {n: v for n, v in own.items() if n not in ("temperature", "api_key_env")}
        return answerer.but(**mine | {"model": model, "adapter": None})

    def _check_prices(self, answerer: ModelOptions) -> None:
        home = {name: answerer.options.get(name) for name in ("model", "base_url")}
        same = home == {name: self.options.get(name, value) for name, value in home.items()}
        priced = {"input_price", "output_price"} <= self.options.keys()
        if "input_price" not in answerer.options or same or priced:
            return
        if self.options.get("model", "").startswith(LOCAL):
            return
        raise InputError(
            "prices of the answering model alone",
            expected="those of the judge, too, since it is another one",
            fix="Give --judge-input-price and --judge-output-price.",
            where="--judge-input-price",
        )

    def _refuse_idle_options(self) -> None:
        idle = [s.where for s in self.declared_settings() if s.name in self.options]
        if idle:
            raise InputError(
                f"{', '.join(idle)} without another judge",
                expected="--judge-model or --judge-base-url with it",
                fix="Name the judge, or leave it out: the answering model judges.",
                where=idle[0],
            )
