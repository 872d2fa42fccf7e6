"""Options of commands that may ask a language model, at an endpoint or on this machine."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.settings import Doc, Ge, Option, settings_of

if TYPE_CHECKING:
    from argus.llm import ChatConfig, LocalConfig

_PANEL = "Language model"
LOCAL = "local:"
"""Begins the name of a model that runs on this machine."""


@dataclass(frozen=True, kw_only=True)
class LanguageModel:
    """Options of a command that may ask a language model; None is the default of its config."""

    model: Annotated[
        str | None,
        Doc("Model of an OpenAI-compatible endpoint; or local:FOLDER, run by transformers."),
        Option(panel=_PANEL),
    ] = None
    adapter: Annotated[
        Path | None,
        Doc("LoRA adapter for a local: model, as argus scenarios distill writes it."),
        Option(panel=_PANEL),
    ] = None
    base_url: Annotated[
        str | None,
        Doc(f"The endpoint; default {BASE_URL}."),
        Option(("--base-url", "--llm-base-url"), panel=_PANEL),
    ] = None
    api_key_env: Annotated[
        str | None,
        Doc(f"Environment variable that holds the API key; default {API_KEY_ENV}."),
        Option(panel=_PANEL),
    ] = None
    max_tokens: Annotated[
        int | None,
        Ge(1),
        Doc("Most tokens of one answer; default: what each prompt allows."),
        Option(panel=_PANEL),
    ] = None
    retry_failed: Annotated[
        bool | None,
        Doc("Ask again what failed in an earlier run (default), or let it stand."),
        Option(("--retry-failed/--keep-failed",), panel=_PANEL),
    ] = None
    budget: Annotated[
        float | None,
        Doc("Most that may be spent, in the currency of the prices."),
        Option(panel=_PANEL),
    ] = None
    max_total_tokens: Annotated[
        int | None,
        Ge(1),
        Doc("Most tokens that may be read and written."),
        Option(panel=_PANEL),
    ] = None
    input_price: Annotated[
        float | None,
        Doc("Per million tokens read."),
        Option(panel=_PANEL),
    ] = None
    output_price: Annotated[
        float | None,
        Doc("Per million tokens written."),
        Option(panel=_PANEL),
    ] = None
    concurrency: Annotated[
        int | None,
        Ge(1),
        Doc("Requests at once, prompts in a batch of a local: model; default 8."),
        Option(panel=_PANEL),
    ] = None
    requests_per_minute: Annotated[
        float | None,
        Doc("At most."),
        Option(panel=_PANEL),
    ] = None
    timeout_s: Annotated[
        float | None,
        Doc("Seconds for one answer; default 120."),
        Option(("--timeout",), panel=_PANEL),
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
        key = os.environ.get(given.setdefault("api_key_env", API_KEY_ENV))
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
        options = {setting.name: setting.where for setting in settings_of(type(self))}
        return [options[name] for name in names]


def needs_model(given: list[str], option: str = "--model") -> InputError:
    """Return the error for options that mean nothing without a language model."""
    names = ", ".join(given)
    return InputError(
        f"{names} without {option}",
        expected=f"{option} NAME with it",
        fix=f"Name the model, or leave {names} out: without one, none is asked.",
        where=given[0],
    )
