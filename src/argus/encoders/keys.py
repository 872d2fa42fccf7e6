"""Which addresses questions and a key may be sent to, where an index names them, not the caller.

An index may come from anybody. Whoever wrote its `index.json` could have every question, and any
variable of the environment, sent to any server. What the caller names in options or a config is
his word.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from argus.encoders.config import EncoderConfig
from argus.endpoint import API_KEY_ENV, BASE_URL
from argus.errors import InputError

if TYPE_CHECKING:
    from httpx import URL

VARIABLE = "ARGUS_KEYS"
"""Environment variable: pairs NAME=ADDRESS, a space between them, that indexes may name."""
_named: set[tuple[str, str]] = set()
"""Pairs that this process was given otherwise than by an index."""


def remember_pair(config: EncoderConfig) -> None:
    """Let indexes, too, name the variable and the address of an encoder that is loaded."""
    from argus.http_retry import without_secrets

    _named.add((config.api_key_env, _spelled(without_secrets(config.base_url))))


def check_pair(config: EncoderConfig, where: Path) -> None:
    """Refuse an endpoint that only an index names: it would be sent every question, and the key.

    where: the file that says it. The default variable goes to OpenAI. Raises InputError for a
    broken ARGUS_KEYS, too.
    """
    if not config.is_endpoint:
        return
    from argus.http_retry import check_address

    check_address(config.base_url, where=str(where))
    name, place = config.api_key_env, _spelled(config.base_url)
    if (name, place) in {(API_KEY_ENV, BASE_URL), *_named, *_trusted()}:
        return
    raise InputError(
        f"has every question, and the key in {name}, sent to {_shown(place)}, and nothing but this "
        "file says so",
        expected="a variable and an address that you, too, named together",
        fix=f"Where they may go there, set {VARIABLE}={shlex.quote(f'{name}={_shown(place)}')} "
        "(several: a space between them) and run it again.",
        where=where,
    )


def _trusted() -> set[tuple[str, str]]:
    """Return the pairs in ARGUS_KEYS."""
    from argus.http_retry import is_address

    pairs = set()
    for pair in os.environ.get(VARIABLE, "").split():
        name, _, address = pair.partition("=")
        if not name or not is_address(address):
            raise InputError(
                f"{name!r} without an address",
                expected="NAME=ADDRESS, several with a space between them",
                fix=f"For example {VARIABLE}={API_KEY_ENV}={BASE_URL}.",
                where=VARIABLE,
            )
        pairs.add((name, _spelled(address)))
    return pairs


def _spelled(address: str) -> str:
    """Return an address in the one way in which it is compared."""
    url = _url(address)
    return str(url.copy_with(path=url.path.rstrip("/") or "/"))


def _shown(address: str) -> str:
    """Return an address without the password that it may hold."""
    return str(_url(address).copy_with(userinfo=b""))


def _url(address: str) -> URL:
    from httpx import URL

    return URL(address)
