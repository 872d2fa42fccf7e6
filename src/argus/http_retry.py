"""What every client of an HTTP endpoint here shares: addresses, keys, and when to try again."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from argus.errors import InputError

RETRIED = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
LONGEST_WAIT_S = 120.0  # whatever Retry-After asks


def check_address(address: str, *, where: str = "--base-url") -> None:
    """Raise InputError unless `address` has a scheme that is http or https, and a host."""
    try:
        url = httpx.URL(address)
    except (httpx.InvalidURL, ValueError):
        url = httpx.URL("")
    if url.scheme not in ("http", "https") or not url.host or " " in address:
        shown = address.rpartition("@")[2].partition("?")[0]
        raise InputError(
            f"{shown!r}",
            expected="an address such as http://127.0.0.1:8000/v1",
            fix="Give scheme and host.",
            where=where,
        )


def check_key(api_key: str | None, *, where: str = "--api-key-env") -> None:
    """Raise InputError when no HTTP header can carry the key. The key itself is never shown."""
    if api_key is not None and not (api_key.isascii() and api_key.isprintable()):
        raise InputError(
            "the API key holds characters that no HTTP header can",
            expected="printable ASCII",
            fix="Check what the variable named by --api-key-env holds.",
            where=where,
        )


def endpoint(base_url: str, name: str) -> str:
    """Return the address of one endpoint, such as `embeddings`, below a base address."""
    url = httpx.URL(base_url)
    return str(url.copy_with(path=f"{url.path.rstrip('/')}/{name}"))


def without_secrets(address: str) -> str:
    """Return an address without user, password and query: it goes into files that are shared."""
    return str(httpx.URL(address).copy_with(userinfo=b"", query=None))


def without_half_pairs(text: str) -> str:
    """Return `text` with U+FFFD for each half surrogate pair, which UTF-8 cannot carry."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def retry_after_s(value: str | None) -> float | None:
    """Return the seconds that a Retry-After header asks for, at most LONGEST_WAIT_S.

    It holds seconds or a date (RFC 9110, section 10.2.3); None for anything else, and for the past.
    """
    if value is None:
        return None
    try:
        wait = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        wait = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return min(wait, LONGEST_WAIT_S) if not math.isnan(wait) and wait >= 0 else None
