"""Represent a page of a folder, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from argus.knowledge.names import without_surrogates

_MARK = re.compile(r"\{%|\{\{|\[\^[^\]\s]{1,200}\]")
_CLOSING = {"{%": "%}", "{{": "}}"}
_ATTRIBUTES = re.compile(r"(?<!\s)\s*+\{[:#.][^{}]*+\}\s*+$")
_EMPTY_BRACKETS = re.compile(r"\s?(?:\(\s*\)|\[\s*\])")
_LETTER = re.compile(r"[^\W\d_]")
_PERMALINK = "¶#§🔗"
_NO_TEXT = (list, tuple, dict, set, bool)
_LARGEST = 10**300
"""A whole number beyond it is no name. Python prints none of some thousand digits."""

_PATH_ENDINGS = (".html", ".htm", ".md", ".markdown", ".txt")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page. `wiki`: it names a page, as in [[Page]], rather than its path."""

    target: str
    wiki: bool = False


@dataclass(frozen=True, slots=True)
class ParsedPage:
    """A page as it was parsed: nothing in it is resolved yet.

    title: of the front matter. heading: its first H1. site_title: <title>, with what the site adds.
    paragraph: the first of prose, as clean text. moved_from: former paths. redirect: where it leads
    instead of being a page. notes: problems, to be counted.
    """

    title: str = ""
    heading: str = ""
    site_title: str = ""
    description: str = ""
    paragraph: str = ""
    links: tuple[Link, ...] = ()
    aliases: tuple[str, ...] = ()
    moved_from: tuple[str, ...] = ()
    redirect: str = ""
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class Prose:
    """Gathers the text of one block. The text outside links decides whether it is prose."""

    parts: list[str] = field(default_factory=list)
    has_own_words: bool = False

    def add(self, text: str, *, in_link: bool = False) -> None:
        """Take a piece of text as it stands."""
        self.parts.append(text)
        self.has_own_words = self.has_own_words or (
            not in_link and _LETTER.search(without_marks(text)) is not None
        )

    def text(self) -> str:
        """Return the clean text, empty if it is no prose: links, numbers, signs, badges."""
        text = clean(self.parts)
        return text if self.has_own_words and _LETTER.search(text) else ""


def without_marks(text: str) -> str:
    """Return text without tags of templates and marks of footnotes.

    In time that grows with its length: for a closing that is absent, it looks once.
    """
    pieces: list[str] = []
    end = at = 0
    absent: set[str] = set()
    while mark := _MARK.search(text, at):
        closing = _CLOSING.get(mark[0], "")
        close = -1 if closing in absent else text.find(closing, mark.end())
        if close < 0:
            absent.add(closing)
            at = mark.start() + 1
            continue
        pieces.append(text[end : mark.start()])
        end = at = close + len(closing)
    return "".join([*pieces, text[end:]])


def clean(parts: Iterable[str]) -> str:
    """Return text without footnote marks, template tags, attribute lists and uneven space."""
    text = _EMPTY_BRACKETS.sub("", _ATTRIBUTES.sub("", without_marks("".join(parts))))
    return " ".join(text.replace("\u00ad", "").replace("\u200b", "").split())


def clean_heading(parts: Iterable[str]) -> str:
    """Return a heading's text without the sign that links to it."""
    return clean(parts).rstrip(_PERMALINK).rstrip()


def spelled_out(name: str) -> str:
    """Return a file's name as words: "release-notes" is "release notes"."""
    words = name.replace("_", " ")
    return " ".join((words if " " in words else words.replace("-", " ")).split()) or name


def with_front_matter(page: ParsedPage, values: Mapping[str, object]) -> ParsedPage:
    """Return the page with its front matter (Jekyll, Hugo, MkDocs, Obsidian).

    `aliases` are names, or former paths where they look like one, as Hugo has it.
    """
    aliases = [*_strings(values.get("aliases")), *_strings(values.get("alias"))]
    former = [*_strings(values.get("redirect_from")), *filter(_is_path, aliases)]
    redirect = _strings(values.get("redirect_to") or values.get("redirect"))
    return replace(
        page,
        title=clean(_strings(values.get("title"))[:1]),
        description=clean(_strings(values.get("description"))[:1]) or page.description,
        aliases=(*(clean([alias]) for alias in aliases if not _is_path(alias)), *page.aliases),
        moved_from=tuple(dict.fromkeys(former)),
        redirect=redirect[0] if redirect else page.redirect,
    )


def _is_path(alias: str) -> bool:
    return alias.startswith("/") or alias.endswith(("/", *_PATH_ENDINGS))


def _strings(value: object) -> list[str]:
    """Return a value or the items of a list as texts. YAML may hold lists of themselves."""
    items = value if isinstance(value, list | tuple) else [value]
    texts = [
        without_surrogates(str(item)).strip()
        for item in items
        if item is not None
        and not isinstance(item, _NO_TEXT)
        and not (isinstance(item, int) and abs(item) > _LARGEST)
    ]
    return [text for text in texts if text]
