"""Refuse addresses, keys and code that only an index names, not the caller.

An index may come from anybody. Its `index.json` could have every question, and any variable of the
environment, sent to any server, or code run that comes with a model. Options and configs are the
caller's own word: an index may name
anything named in this process, or in ARGUS_KEYS and ARGUS_CODE.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from argus.encoders.config import EncoderConfig
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError
from argus.python_file import file_of

KEYS_VARIABLE, CODE_VARIABLE = "ARGUS_KEYS", "ARGUS_CODE"
"""Environment variables: NAME=ADDRESS pairs with spaces between them, and models with colons."""
_pairs: set[tuple[str, str]] = set()
_models: set[str] = set()
"""Pairs of variable and address, and models with code, that the caller named."""


def remember_pair(config: EncoderConfig) -> None:
    """Let indexes, too, name the variable and the address of an encoder that is loaded."""
    from argus.http_retry import without_secrets

    _pairs.add((config.api_key_env, _normal(without_secrets(config.base_url))))


def check_pair(config: EncoderConfig, where: Path) -> None:
    """Refuse an endpoint that only an index names: it would get every question, and the key.

    where: the file that names it. The default variable may go to OpenAI. Raises InputError for a
    broken ARGUS_KEYS, too.
    """
    if not config.is_endpoint:
        return
    from httpx import URL

    from argus.http_retry import check_address, is_address

    check_address(config.base_url, where=str(where))
    trusted = {(API_KEY_ENV, BASE_URL), *_pairs}
    for pair in os.environ.get(KEYS_VARIABLE, "").split():
        name, _, address = pair.partition("=")
        if not name or not is_address(address):
            got = f"{name!r} without an address"
            expected = "NAME=ADDRESS, several with a space between them"
            fix = f"For example {KEYS_VARIABLE}={API_KEY_ENV}={BASE_URL}."
            raise InputError(got, expected=expected, fix=fix, where=KEYS_VARIABLE)
        trusted.add((name, _normal(address)))
    name, place = config.api_key_env, _normal(config.base_url)
    if (name, place) in trusted:
        return
    shown = str(URL(place).copy_with(userinfo=b""))
    got = f"has every question, and the key in {name}, sent to {shown}; only this file says so"
    expected = "a variable and an address that you, too, named together"
    pair = f"{KEYS_VARIABLE}={shlex.quote(f'{name}={shown}')}"
    fix = f"Where they may go there, set {pair} (several: a space between them) and run it again."
    raise InputError(got, expected=expected, fix=fix, where=where)


def _normal(address: str) -> str:
    """Return an address in the one form in which it is compared."""
    from httpx import URL

    url = URL(address)
    return str(url.copy_with(path=url.path.rstrip("/") or "/"))


def remember_code(config: EncoderConfig) -> None:
    """Let indexes, too, name a model whose code is run."""
    if config.trust_remote_code or config.is_python:
        _models.add(_full_name(config))


def check_code(config: EncoderConfig, where: Path) -> None:
    """Refuse a model whose code only an index wants to run. where: the file that names it."""
    if not (config.trust_remote_code or config.is_python):
        return
    name = _full_name(config)
    if name in {*_models, *os.environ.get(CODE_VARIABLE, "").split(":")}:
        return
    got = f"has the code of {name!r} run, and nothing but this file says so"
    fix = (
        f"Read the code first; then set {CODE_VARIABLE}={shlex.quote(name)} (several: a colon "
        "between them) and run it again."
    )
    raise InputError(got, expected="a model whose code you, too, trust", fix=fix, where=where)


def _full_name(config: EncoderConfig) -> str:
    """Return a folder or a Python file, or a name of the hub with its commit."""
    place = file_of(config.model)
    is_place = config.is_python or place.is_dir()
    return str(place.resolve()) if is_place else f"{config.model}@{config.revision}"
