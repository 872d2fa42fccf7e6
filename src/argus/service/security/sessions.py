"""Sessions of browsers: a signed cookie, and with it a token against forged requests."""

from __future__ import annotations

import hmac
import os
import secrets
import time
from dataclasses import dataclass, field

from argus.errors import InputError

VARIABLE = "ARGUS_SERVE_TOKEN"
LEAST = 16
"""Characters of a token at least."""
LASTS_S = 12 * 3600
"""Seconds that a session lasts."""
MEMBER, GUEST = "member", "guest"


@dataclass(frozen=True)
class Token:
    """The token that every request must bring. was_made: nobody chose it, so it is printed once."""

    value: str = field(repr=False)
    was_made: bool = False

    def fits(self, value: str) -> bool:
        """Return whether a text is the token, in a time that says nothing of how much of it is."""
        return hmac.compare_digest(value.encode("utf-8", "replace"), self.value.encode())


def token_of(is_needed: bool, is_unwanted: bool) -> Token | None:
    """Return the token of the environment, or a new one where one is needed; None for none.

    Raises InputError for a token of the environment that can be guessed.
    """
    value = os.environ.get(VARIABLE, "")
    if is_unwanted:
        return None
    if value:
        if len(value) < LEAST or not value.isascii():
            raise InputError(
                f"a token of {len(value)} characters",
                expected=f"{LEAST} or more, all of them ASCII",
                fix='Make one with: python -c "import secrets; print(secrets.token_urlsafe(32))"',
                where=VARIABLE,
            )
        return Token(value)
    return Token(secrets.token_urlsafe(32), was_made=True) if is_needed else None


class Sessions:
    """Makes and reads sessions. Its key is random, so a session ends with the service."""

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def new(self, kind: str) -> str:
        """Return the cookie of a new session: of a member, who knows the token, or of a guest."""
        body = f"{kind}.{int(time.time())}.{secrets.token_urlsafe(18)}"
        return f"{body}.{self._signed('session', body)}"

    def kind(self, cookie: str) -> str | None:
        """Return whose session a cookie is; None for one that was not made here, or is too old."""
        body, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signed("session", body).encode()):
            return None
        kind, since, _ = body.split(".")
        return kind if time.time() - int(since) < LASTS_S else None

    def forgery_token(self, cookie: str) -> str:
        """Return what a page of this session sends with whatever changes something."""
        return self._signed("page", cookie)

    def _signed(self, purpose: str, text: str) -> str:
        """Return a signature that serves one purpose and no other."""
        return hmac.digest(
            self._key, f"{purpose} {text}".encode("utf-8", "replace"), "sha256"
        ).hex()
