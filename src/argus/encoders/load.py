"""Load an encoder by its name, and refuse to load what only an index names.

An index may come from anybody. Its `index.json` could have every question, and any variable of the
environment, sent to any server, or code run that comes with a model. Options and configs are the
caller's own word: an index may name anything named in this process, or in ARGUS_KEYS and
ARGUS_CODE.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, cast

from argus.encoders.config import EncoderConfig, as_config, resolve_prompts
from argus.encoders.protocol import Encoder, R, Rows, family_of
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.extras import naming_extras
from argus.python_file import file_of

KEYS_VARIABLE, CODE_VARIABLE = "ARGUS_KEYS", "ARGUS_CODE"
"""Environment variables: NAME=ADDRESS pairs with spaces between them, and models with colons."""
_named: set[str] = set()
"""Pairs of variable and address, and models with code, that the caller named."""


@dataclass(frozen=True)
class LoadedEncoder(Generic[R]):
    """An encoder, and the measurements by which its precision was chosen.

    config: loads the same encoder again, in the precision that was chosen.
    """

    encoder: Encoder[R]
    config: EncoderConfig
    precision_trials: list[dict[str, Any]] = field(default_factory=list)

    def with_query_prompt(self, text: str) -> LoadedEncoder[R]:
        """Return the same model, loaded once, with another text before queries."""
        encoder: Any = self.encoder
        config = replace(self.config, query_prompt=text)
        return replace(self, encoder=encoder.with_query_prompt(text), config=config)


def load_encoder(
    config: EncoderConfig | str, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder:
    """Load an encoder that makes one vector per text.

    config: a description, or the model's name alone. sample: texts for the precision check. stored:
    the fingerprint of vectors that exist already. With precision "auto" theirs is used, since
    timing may choose differently on another day.
    Raises InputError when the model cannot be found, or is of another family.
    """
    loaded = load_any_encoder(as_config(config), sample=sample, stored=stored)
    require_vectors(loaded.encoder)
    return cast(LoadedEncoder, loaded)


def loaded_encoder(encoder: Encoder | EncoderConfig | str, *, stored: str | None = None) -> Encoder:
    """Return an encoder that makes one vector per text, loading it by its name or description.

    stored: the fingerprint of vectors that exist already. See `load_encoder`.
    """
    config = as_config(encoder)
    if isinstance(config, EncoderConfig):
        return load_encoder(config, stored=stored).encoder
    return config


@naming_extras()
def load_any_encoder(
    config: EncoderConfig, *, sample: Sequence[str] = (), stored: str | None = None
) -> LoadedEncoder[Rows]:
    """Load an encoder of any family. See `load_encoder`."""
    if config.is_endpoint:
        from argus.encoders.openai import OpenAIConfig, OpenAIEncoder
        from argus.http_retry import without_secrets

        _named.add(_pair(config.api_key_env, without_secrets(config.base_url)))
        prompts = resolve_prompts({}, query=config.query_prompt, document=config.document_prompt)
        own = vars(config) | {
            "model": config.model.removeprefix("openai:"),
            "query_prompt": prompts.query.text,
            "document_prompt": prompts.document.text,
            "api_key": os.environ.get(config.api_key_env),
        }
        return LoadedEncoder(OpenAIEncoder(OpenAIConfig(**own)), config)
    if config.runs_code:
        _named.add(_code(config))
    if config.is_python:
        from argus.encoders.python_encoder import PythonEncoder

        return LoadedEncoder(PythonEncoder(config.model), config)
    from argus.encoders.models import load_model

    encoder, trials = load_model(config, sample=sample, stored=stored)
    return LoadedEncoder(encoder, replace(config, precision=encoder.precision), trials)


def require_vectors(encoder: object) -> None:
    """Raise InputError for an encoder that makes no single vector per text."""
    family = family_of(encoder)
    if family != "dense":
        got = "a sparse encoder" if family == "sparse" else "a late-interaction encoder"
        fix = (
            "Sparse encoders and those of late interaction work with `argus check`, `argus "
            "research audit` and `argus explain --corpus`."
        )
        raise InputError(
            got, expected="one that makes a vector per text", fix=fix, where="--encoder"
        )


def check_named(config: EncoderConfig, where: Path) -> None:
    """Refuse an endpoint, or code, that only an index names. where: the file that names it.

    The endpoint would get every question, and the key. The default variable may go to OpenAI.
    Raises InputError for a broken ARGUS_KEYS, too.
    """
    if config.is_endpoint:
        from httpx import URL

        from argus.http_retry import check_address, is_address

        check_address(config.base_url, where=str(where))
        named = {_pair(API_KEY_ENV, BASE_URL), *_named}
        for pair in os.environ.get(KEYS_VARIABLE, "").split():
            name, _, address = pair.partition("=")
            if not name or not is_address(address):
                got = f"{name!r} without an address"
                expected = "NAME=ADDRESS, several with a space between them"
                fix = f"For example {KEYS_VARIABLE}={API_KEY_ENV}={BASE_URL}."
                raise InputError(got, expected=expected, fix=fix, where=KEYS_VARIABLE)
            named.add(_pair(name, address))
        if (pair := _pair(config.api_key_env, config.base_url)) in named:
            return
        shown = str(URL(pair.partition("=")[2]).copy_with(userinfo=b""))
        name = config.api_key_env
        got = f"has every question, and the key in {name}, sent to {shown}; only this file says so"
        expected = "a variable and an address that you, too, named together"
        pair = f"{KEYS_VARIABLE}={shlex.quote(f'{name}={shown}')}"
        fix = (
            f"Where they may go there, set {pair} (several: a space between them) and run it again."
        )
        raise InputError(got, expected=expected, fix=fix, where=where)
    if config.runs_code:
        name = _code(config)
        if name in {*_named, *os.environ.get(CODE_VARIABLE, "").split(":")}:
            return
        raise InputError(
            f"has the code of {name!r} run, and nothing but this file says so",
            expected="a model whose code you, too, trust",
            fix=f"Read the code first; then set {CODE_VARIABLE}={shlex.quote(name)} (several: a "
            "colon between them) and run it again.",
            where=where,
        )


def _pair(name: str, address: str) -> str:
    """Return a variable and an address in the one form in which they are compared."""
    from httpx import URL

    url = URL(address)
    return f"{name}={url.copy_with(path=url.path.rstrip('/') or '/')}"


def _code(config: EncoderConfig) -> str:
    """Return a folder or a Python file, or a name of the hub with its commit."""
    place = file_of(config.model)
    is_place = config.is_python or place.is_dir()
    return str(place.resolve()) if is_place else f"{config.model}@{config.revision}"
