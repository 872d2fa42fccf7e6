"""Options of commands that may ask a language model, at an endpoint or on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from argus.errors import InputError

if TYPE_CHECKING:
    from argus.llm import ChatConfig, LocalConfig

API_KEY = "OPENAI_API_KEY"
_PANEL = "Language model"
LOCAL = "local:"
"""Begins the name of a model that runs on this machine."""


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """Options of a command that may ask a language model; None is the default of its config."""

    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            help="Model of an OpenAI-compatible endpoint; or local:FOLDER, run by transformers.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    adapter: Annotated[
        Path | None,
        typer.Option(
            "--adapter",
            help="LoRA adapter for a local: model, as argus scenarios distill writes it.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    base_url: Annotated[
        str | None,
        typer.Option(
            "--base-url",
            "--llm-base-url",
            help="The endpoint; default https://api.openai.com/v1.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    api_key_env: Annotated[
        str | None,
        typer.Option(
            "--api-key-env",
            help=f"Environment variable that holds the API key; default {API_KEY}.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens",
            help="Most tokens of one answer; default: what each prompt allows.",
            min=1,
            rich_help_panel=_PANEL,
        ),
    ] = None
    retry_failed: Annotated[
        bool | None,
        typer.Option(
            "--retry-failed/--keep-failed",
            help="Ask again what failed in an earlier run (default), or let it stand.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    budget: Annotated[
        float | None,
        typer.Option(
            "--budget",
            help="Most that may be spent, in the currency of the prices.",
            rich_help_panel=_PANEL,
        ),
    ] = None
    max_total_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-total-tokens",
            help="Most tokens that may be read and written.",
            min=1,
            rich_help_panel=_PANEL,
        ),
    ] = None
    input_price: Annotated[
        float | None,
        typer.Option("--input-price", help="Per million tokens read.", rich_help_panel=_PANEL),
    ] = None
    output_price: Annotated[
        float | None,
        typer.Option("--output-price", help="Per million tokens written.", rich_help_panel=_PANEL),
    ] = None
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            help="Requests at once, prompts in a batch of a local: model; default 8.",
            min=1,
            rich_help_panel=_PANEL,
        ),
    ] = None
    requests_per_minute: Annotated[
        float | None,
        typer.Option("--requests-per-minute", help="At most.", rich_help_panel=_PANEL),
    ] = None
    timeout_s: Annotated[
        float | None,
        typer.Option(
            "--timeout", help="Seconds for one answer; default 120.", rich_help_panel=_PANEL
        ),
    ] = None

    def config(self) -> ChatConfig | LocalConfig | None:
        """Return the model to ask, None without one.

        Raises InputError for options that say how to ask where there is nobody to be asked, and for
        those that the chosen kind of model does not have.
        """
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        given = {name: value for name, value in values.items() if value is not None}
        model = given.pop("model", None)
        if model is None:
            if given:
                raise needs_model(self._spelled(given), self._spelled(["model"])[0])
            return None
        if "max_tokens" in given:
            given["max_tokens_override"] = given.pop("max_tokens")
        if model.startswith(LOCAL):
            return self._local(model.removeprefix(LOCAL), given)
        return self._endpoint(model, given)

    def _endpoint(self, model: str, given: dict[str, Any]) -> ChatConfig:
        from argus.llm import ChatConfig

        if "adapter" in given:
            option = self._spelled(["model"])[0]
            raise InputError(
                f"--adapter with the endpoint's model {model!r}",
                expected=f"{option} {LOCAL}FOLDER with it: what an endpoint serves is up to it",
                fix=f"Give {option} {LOCAL}FOLDER, or have the endpoint serve the adapter (a "
                "merged model where it cannot) and name that.",
                where="--adapter",
            )
        key = os.environ.get(given.setdefault("api_key_env", API_KEY))
        return ChatConfig(model=model, api_key=key, **given)

    def _local(self, model: str, given: dict[str, Any]) -> LocalConfig:
        from argus.llm import LocalConfig

        if "concurrency" in given:
            given["batch_size"] = given.pop("concurrency")
        known = {f.name for f in fields(LocalConfig)}
        foreign = self._spelled(name for name in given if name not in known)
        if foreign:
            raise InputError(
                f"{', '.join(foreign)} with {self._spelled(['model'])[0]} {LOCAL}{model}",
                expected="options of a model on this machine: it has no address and costs nothing",
                fix=f"Leave {', '.join(foreign)} out.",
                where=foreign[0],
            )
        return LocalConfig(model=model, **given)

    def _spelled(self, names: Iterable[str]) -> list[str]:
        return [_spelling(type(self), name) for name in names]


def _spelling(block: type, name: str) -> str:
    """Return how the option of a block's field is given, such as --max-total-tokens."""
    option = get_type_hints(block, include_extras=True)[name].__metadata__[0]
    declared = (option.default, *option.param_decls)  # typer puts the first into `default`
    return next(d for d in declared if isinstance(d, str) and d.startswith("--"))


def needs_model(given: list[str], option: str = "--model") -> InputError:
    """Return the error for options that mean nothing without a language model."""
    names = ", ".join(given)
    return InputError(
        f"{names} without {option}",
        expected=f"{option} NAME with it",
        fix=f"Name the model, or leave {names} out: without one, none is asked.",
        where=given[0],
    )
