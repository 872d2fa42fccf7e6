"""Hashes that stand for questions and people: keyed, so that nobody can try out what they are."""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from argus.data.normal_forms import stream_safe
from argus.errors import InputError
from argus.traffic.config import LogConfig

OPEN = b"argus traffic"
"""The key where texts are kept beside the hashes, and nothing is to be hidden of questions."""
LEAST_KEY = 16


@dataclass(frozen=True)
class Keys:
    """Keyed hashes. question: of texts; person: of users and sessions, never open."""

    question: bytes
    person: bytes

    @classmethod
    def of(cls, config: LogConfig) -> Keys:
        """Read the secret, or draw one that nobody keeps. Raises InputError for a short file."""
        secret = secrets.token_bytes(32)
        if config.key_file is not None:
            secret = _read(config.key_file)
        return cls(secret if config.hash_only else OPEN, secret)

    def of_question(self, text: str) -> bytes:
        """Return 16 bytes for a question; equal ones, but for case and spaces, share them."""
        return _keyed(self.question, normal(text))

    def of_person(self, name: str) -> str:
        """Return what stands for a user or session; of nobody nothing."""
        return _keyed(self.person, name).hex()[:16] if name else ""


def _keyed(key: bytes, text: str) -> bytes:
    data = text.encode("utf-8", "replace")
    return hashlib.blake2b(data, key=key, digest_size=16).digest()


def _read(path: Path) -> bytes:
    if not path.is_file() or path.stat().st_size < LEAST_KEY:
        raise InputError(
            "no such file" if not path.is_file() else "is shorter than a secret should be",
            expected=f"a file of at least {LEAST_KEY} random bytes",
            fix="Make one: head -c 32 /dev/urandom > FILE. Keep it away from the results.",
            where=path,
        )
    return hashlib.blake2b(path.read_bytes(), digest_size=32).digest()


def normal(text: str) -> str:
    """Return a question as duplicates are compared: one case, single spaces, no closing marks."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", stream_safe(text))
    return " ".join(text.casefold().split()).rstrip(" ?!.？！。")
