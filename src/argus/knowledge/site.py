"""Read a wiki's namespaces and language from its dump, and tell which article a link means.

`read_site`: the head of a dump -> `Site`. `title_of`: a link's target -> the title of the article,
None for files, categories and other wikis. `argus.knowledge.dumps` and `argus.knowledge.wikitext`
use it while `argus research kb build` parses pages.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from html import unescape
from importlib.resources import files
from pathlib import Path
from typing import Literal
from urllib.parse import unquote
from xml.etree import ElementTree

from argus.data.texts import stream_safe
from argus.errors import InputError

What = Literal["file", "category", "templates", "title"]


@cache
def words(what: What, language: str | None = None) -> tuple[str, ...]:
    """Return what the language calls it, and English; for one that is not known, what any does.

    what: a key of languages.toml, where each is explained.
    """
    languages: dict[str, dict[str, list[str]]] = tomllib.loads(_read("languages.toml"))
    names = ("en", language) if language in languages else tuple(languages)
    return tuple(dict.fromkeys(word for name in names for word in languages[name][what]))


@cache
def interwiki_prefixes() -> frozenset[str]:
    """Return the prefixes of links that lead to another wiki, in lower case."""
    lines = _read("interwiki.txt").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())


def _read(name: str) -> str:
    return files("argus.knowledge").joinpath(name).read_text(encoding="utf-8")


ARTICLES, FILES, CATEGORIES = 0, 6, 14
HEAD_BYTES = 65_536
"""A dump's <siteinfo> stands within so many bytes from its beginning."""

_SUBJECTS = ("user", "project", "file", "mediawiki", "template", "help", "category")
_CANONICAL = {
    **{"media": -2, "special": -1, "talk": 1, "wp": 4, "wt": 5},
    **{name: 2 * n for n, name in enumerate(_SUBJECTS, 1)},
    **{f"{name} talk": 2 * n + 1 for n, name in enumerate(_SUBJECTS, 1)},
    **{"image": FILES, "image talk": FILES + 1},
}
_WITH_ALIASES: tuple[tuple[What, int], ...] = (("file", FILES), ("category", CATEGORIES))
_SITEINFO = re.compile(rb"<siteinfo>.*?</siteinfo>", re.DOTALL)
_ROOT = re.compile(rb"<mediawiki[\s>]")
_LANGUAGE = re.compile(rb"<mediawiki\b[^>]*\bxml:lang=[\"']([\w-]+)[\"']")
_WHITE_SPACE = re.compile(r"[\s_\u200e\u200f]+")


@dataclass(frozen=True)
class Site:
    """A wiki, as its dump's <siteinfo> says.

    namespaces: names in lower case, with the canonical English ones and common aliases ("image"),
    to numbers. Articles have no name.
    """

    dbname: str
    language: str
    namespaces: Mapping[str, int]


def read_site(head: bytes, *, where: Path | str | None = None) -> Site:
    """Read the wiki's settings from the beginning of a dump.

    head: the first `HEAD_BYTES` bytes, or more, decompressed. where: the dump, for messages.
    Raises InputError if it is not a MediaWiki export, and where <siteinfo> is cut off or broken.
    """
    siteinfo = _SITEINFO.search(head) if _ROOT.search(head[:HEAD_BYTES]) else None
    try:
        if siteinfo is None:
            raise ValueError(f"it begins with {head[:40].decode('utf-8', 'replace')!r}")
        info = ElementTree.fromstring(siteinfo[0])
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError(
            f"no MediaWiki export with a whole <siteinfo> ({error})",
            expected="a MediaWiki export: XML that begins with <mediawiki> and <siteinfo>",
            fix="Give a pages-articles dump, such as enwiki-latest-pages-articles.xml.bz2.",
            where=where,
        ) from error
    dbname = (info.findtext("dbname") or "").strip()
    language = _LANGUAGE.search(head)
    code = language[1].decode().lower() if language else dbname.removesuffix("wiki")
    namespaces = _CANONICAL | {
        name.lower(): number for what, number in _WITH_ALIASES for name in words(what, code)
    }
    for namespace in info.iter("namespace"):
        name, key = (namespace.text or "").strip().lower(), namespace.get("key", "")
        if name and key.lstrip("-").isdigit():
            namespaces[name] = int(key)  # wins over aliases
    return Site(dbname, code, namespaces)


def title_of(target: str, site: Site) -> str | None:
    """Return the title of the article that a link's target means, as its page writes it.

    None where it means no article of this wiki: a place on the same page ("#History"), another
    namespace, another wiki or language.
    """
    title = unquote(unescape(target).partition("#")[0], errors="replace")
    title = _WHITE_SPACE.sub(" ", title).strip().removeprefix(":").lstrip()
    prefix, colon, _ = title.partition(":")
    if not title or (colon and is_prefix(prefix, site)):
        return None
    first = title[0].title()  # Georgian has capitals, but not in titles; "ß" would become two
    title = (first if len(first) == 1 else title[0]) + title[1:]
    return title if title.isascii() else unicodedata.normalize("NFC", stream_safe(title))


def is_prefix(prefix: str, site: Site) -> bool:
    """Whether the text before a colon names a namespace or another wiki."""
    name = prefix.strip().lower()
    return name in site.namespaces or name in interwiki_prefixes()
