"""What differs between Wikipedias and is not said in their dumps: languages.toml, read once."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Literal

What = Literal["file", "category", "redirect", "templates", "title"]


def words(what: What, language: str | None = None) -> tuple[str, ...]:
    """Return what the language calls it, and English; for one that is not known, what any does.

    what: a key of languages.toml, where each is explained.
    """
    languages = _languages()
    names = ("en", language) if language is not None and language in languages else tuple(languages)
    return tuple(dict.fromkeys(word for name in names for word in languages[name][what]))


@cache
def interwiki_prefixes() -> frozenset[str]:
    """Return what stands before the colon of a link that leads to another wiki, in lower case."""
    lines = _read("interwiki.txt").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())


@cache
def _languages() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(_read("languages.toml"))


def _read(name: str) -> str:
    return files("argus.knowledge.dumps").joinpath(name).read_text(encoding="utf-8")
