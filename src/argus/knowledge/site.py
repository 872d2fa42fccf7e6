"""Read a wiki's own settings from its dump, and say which article a link means."""

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
from argus.errors import InputError, Location

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
    """Return the prefixes of links that lead to another wiki, in lower case."""
    lines = _read("interwiki.txt").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())


@cache
def _languages() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(_read("languages.toml"))


def _read(name: str) -> str:
    return files("argus.knowledge").joinpath(name).read_text(encoding="utf-8")


Case = Literal["first-letter", "case-sensitive"]

ARTICLES, FILES, CATEGORIES = 0, 6, 14
HEAD_BYTES = 65_536
"""A dump's <siteinfo> stands within so many bytes from its beginning."""

LONGEST_TITLE = 255
"""In bytes of UTF-8. MediaWiki has no longer ones."""

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
_PLAIN_TITLE = re.compile(r"[A-Z0-9][A-Za-z0-9,.'()-]*(?: [A-Za-z0-9,.'()-]+)*")
_WHITE_SPACE = re.compile(r"[\s_\u200e\u200f]+")
_NO_TITLE = re.compile(r"[\[\]{}|<>\x00-\x1f\ufffd]")
_DOTTED_I = frozenset({"tr", "az", "kaa", "kk"})


@dataclass(frozen=True)
class Site:
    """A wiki, as its dump's <siteinfo> says.

    case: whether the first letter of a title counts. namespaces: names in lower case, with the
    canonical English ones and common aliases ("image"), to numbers. Articles have no name.
    """

    dbname: str
    language: str
    case: Case
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
            where=Location(where) if isinstance(where, Path) else where,
        ) from error
    dbname = (info.findtext("dbname") or "").strip()
    language = _LANGUAGE.search(head)
    code = language[1].decode().lower() if language else dbname.removesuffix("wiki")
    sensitive = (info.findtext("case") or "").strip() == "case-sensitive"
    namespaces = _CANONICAL | {
        name.lower(): number for what, number in _WITH_ALIASES for name in words(what, code)
    }
    for namespace in info.iter("namespace"):
        name, key = (namespace.text or "").strip().lower(), namespace.get("key", "")
        if name and key.lstrip("-").isdigit():
            namespaces[name] = int(key)  # wins over aliases
    return Site(dbname, code, "case-sensitive" if sensitive else "first-letter", namespaces)


def title_of(target: str, site: Site) -> str | None:
    """Return the title of the article that a link's target means, as its page writes it.

    None where it means no article of this wiki: a place on the same page ("#History"), another
    namespace, another wiki or language, or nothing that could be a title.
    """
    if _PLAIN_TITLE.fullmatch(target):
        return target if len(target) <= LONGEST_TITLE else None
    title = _clean(target)
    prefix, colon, _ = title.partition(":")
    if colon and is_prefix(prefix, site):
        return None
    if not title or _NO_TITLE.search(title) or len(title.encode()) > LONGEST_TITLE:
        return None
    return title if site.case == "case-sensitive" else _with_capital(title, site.language)


def is_prefix(prefix: str, site: Site) -> bool:
    """Whether the text before a colon names a namespace or another wiki."""
    name = prefix.strip().lower()
    return name in site.namespaces or name in interwiki_prefixes()


def _clean(target: str) -> str:
    """Return a target without its fragment, escapes, leading colon and uneven white space."""
    if "&" in target:
        target = unescape(target)
    target = target.partition("#")[0]
    if "%" in target:
        target = unquote(target, errors="replace")
    title = _WHITE_SPACE.sub(" ", target).strip()
    if title.startswith(":"):
        title = title[1:].lstrip()
    return title if title.isascii() else unicodedata.normalize("NFC", stream_safe(title))


def _with_capital(title: str, language: str) -> str:
    """Return a title with its first letter as MediaWiki capitalises it.

    It leaves Georgian as it is (that has no capitals in titles), and what would become two letters.
    """
    first = title[0]
    if first == "i" and language in _DOTTED_I:
        return "İ" + title[1:]
    upper = first.upper()
    if len(upper) != 1 or "\u10d0" <= first <= "\u10ff":
        return title
    return upper + title[1:]
