"""Hide API keys and passwords in every message and file that Argus writes.

Code that is given a secret calls `remember`. Printed and stored text goes through `without_known`.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote, unquote, urlsplit

# Characters of a secret that messages hide: a shorter one may be a word.
LEAST_IN_MESSAGES = 6
# Least length of a secret that files hide, where a changed word is a loss.
LEAST_IN_FILES = 16
_KNOWN: set[str] = set()
_IN_ADDRESS = re.compile(r"(?<=//)[^\s/@:]{1,200}:[^\s/@]{1,200}(?=@)")
_BY_NAME = re.compile(
    r"((?:api[_-]?key|token|password|passwd|secret)="
    r"|(?:api[_-]?key|password|authorization)[\"']?\s{0,3}:\s{0,3}[\"']?(?:bearer\s{1,3})?)"
    r"[^\s\"'&,;]{4,}",
    re.IGNORECASE,
)


def remember(*, keys: Iterable[str | None] = (), addresses: Iterable[str] = ()) -> None:
    """Hide keys, and users and passwords of addresses, from now on."""
    _KNOWN.update(key for key in keys if key)
    for address in addresses:
        _KNOWN.update(secrets_of(address))


def secrets_of(address: str) -> set[str]:
    """Return the password of an address, and with its user all text before the `@`."""
    try:
        url = urlsplit(address)
        user, password = url.username or "", url.password or ""
    except ValueError:
        return set()
    if not password:
        return set()
    pair = f"{unquote(user)}:{unquote(password)}"
    basic = base64.b64encode(pair.encode()).decode()
    return {unquote(password), f"{user}:{password}@", f"{pair}@", basic}


def scrub(text: str, secrets: Iterable[str], least: int) -> str:
    """Return a text without secrets of at least so many characters, however they are written."""
    for secret in sorted((s for s in secrets if len(s) >= least), key=len, reverse=True):
        for shape in dict.fromkeys(
            (secret, repr(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe=""))
        ):
            text = text.replace(shape, "***")
        if "\\u" in text or "%" in text:
            units = secret.encode("utf-16-be", "surrogatepass")
            pattern = ""  # each character may be an escape: `\u0073` or `%73`
            for code in (units[i : i + 2].hex() for i in range(0, len(units), 2)):
                percent = f"|%(?i:{code[2:]})" if code < "0080" else ""
                pattern += rf"(?:{re.escape(chr(int(code, 16)))}|\\+u(?i:{code}){percent})"
            text = re.sub(pattern, "***", text)
    return text


def without_likely(text: str) -> str:
    """Return a text of strangers without words that look like secrets. Nobody remembered these."""
    return _BY_NAME.sub(r"\1***", _IN_ADDRESS.sub("***", text))


def without_known(text: str, least: int = LEAST_IN_MESSAGES) -> str:
    """Return a text without the remembered secrets.

    The user and password of an address are hidden together whatever their length.
    """
    pairs = [s for s in _KNOWN if s.endswith("@")]
    return scrub(scrub(text, pairs, 0), _KNOWN, least)
