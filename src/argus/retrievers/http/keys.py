"""Keys of a request, which nobody else should see: told by the names that they have in it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from argus.hidden import secrets_of
from argus.retrievers.http.spec import EndpointSpec, Json

KEY_CHARS = 8
"""A shorter value may be part of an id by chance."""
_NAME = re.compile(
    r"auth(?!or(?!i[sz]))|cookie|key(?!word)|pass(?!age)|secret|token(?!i[sz])", re.IGNORECASE
)
"""Of a header, a parameter, a field of the body or a variable: no author, keyword or passage."""


def keys_of(request: EndpointSpec) -> set[str]:
    """Return the values that are keys by their names, and the password of the address.

    request: with the values of its variables. Of a value of several words the last one is a key,
    too (`Bearer KEY`).
    """
    named = _named([request.headers, request.parameters, request.body])
    named |= {os.environ.get(name, "") for name in request.variables() if _NAME.search(name)}
    parts = {part for value in named for part in (value, value.rpartition(" ")[2])}
    return (parts | secrets_of(request.url)) - {""}


def _named(value: Json, *, is_key: bool = False) -> set[str]:
    """Return the texts and numbers in a value that stand, at any depth, under the name of a key."""
    if isinstance(value, Mapping):
        pairs = [_named(v, is_key=is_key or bool(_NAME.search(name))) for name, v in value.items()]
        return {text for texts in pairs for text in texts}
    if isinstance(value, list):
        return {text for one in value for text in _named(one, is_key=is_key)}
    is_text = isinstance(value, str | int | float) and not isinstance(value, bool)
    return {str(value)} if is_key and is_text else set()
