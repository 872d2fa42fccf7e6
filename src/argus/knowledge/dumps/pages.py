"""Read pages of a MediaWiki XML dump into tables."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal
from xml.etree import ElementTree

import pyarrow as pa

from argus.knowledge.dumps.site import ARTICLES, Site, title_of, words
from argus.knowledge.dumps.wikitext import (
    count_words,
    lead_of,
    lead_targets,
    link_targets,
    paragraph_of,
)


@dataclass(frozen=True, slots=True)
class Page:
    """One `<page>` of a MediaWiki export, as it stands there.

    title: with spaces, as in "Alan Turing". redirect: title that it leads to. None for others.
    text: wikitext of the newest revision in the dump.
    """

    id: int
    title: str
    namespace: int
    redirect: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """A relation of one item to another: ids as in "Q42", a property as in "P31"."""

    subject: str
    property: str
    object: str


@dataclass(frozen=True, slots=True)
class Item:
    """One item of Wikidata, in one language.

    label: None where there is none. article: title of its page in that language's Wikipedia, None
    where it has none. disambiguation: it says of itself that it is a disambiguation page.
    """

    id: str
    label: str | None
    description: str
    aliases: tuple[str, ...]
    article: str | None
    disambiguation: bool
    statements: tuple[Statement, ...]


_MAGIC_WORD = re.compile(
    "__(?:DISAMBIG|BEGRIFFSKLÄRUNG|HOMONYMIE|DISAMBIGUACI[OÓ]N|TÄPSUSTUS|HOM[OÓ]NIMOS|توضيح|"
    "동음이의|消歧义|ПОЈАСНУВАЊЕ)__",
    re.IGNORECASE,
)

LARGEST = 1 << 63
"""Exclusive upper bound of page ids: those of tables have 64 bits."""


class BrokenRecord(ValueError):
    """The bytes of a record cannot be read. The text says why."""


def parse_page(record: bytes) -> Page:
    """Read the bytes of one `<page>...</page>`.

    Of several revisions the newest counts. A text that was deleted is empty. A redirect is what
    `<redirect title=...>` says, or, in exports without it, the text's `#REDIRECT [[...]]`.
    Raises BrokenRecord if it is not such a record, or is not UTF-8.
    """
    try:
        page = ElementTree.fromstring(record)
    except (ElementTree.ParseError, ValueError) as error:
        raise BrokenRecord(f"not XML: {error}") from error
    if page.tag != "page":
        raise BrokenRecord(f"<{page.tag}>, where <page> was expected")
    title = (page.findtext("title") or "").replace("_", " ").strip()
    if not title:
        raise BrokenRecord("a <page> without a title")
    revisions = page.findall("revision")
    newest = max(revisions, key=lambda one: one.findtext("timestamp") or "", default=None)
    text = "" if newest is None else newest.findtext("text") or ""
    redirect = page.find("redirect")
    target = redirect_target(text) if redirect is None else redirect.get("title")
    return Page(_number(page, "id"), title, _number(page, "ns"), target or None, text)


def redirect_target(text: str) -> str | None:
    """Return the target of a text that is a redirect, as it is written there. None for others."""
    if not text.lstrip("\ufeff \t\n").startswith(("#", "＃")):
        return None
    match = _redirect_pattern().match(text)
    return match[1].strip() if match else None


@cache
def _redirect_pattern() -> re.Pattern[str]:
    names = "|".join(re.escape(word).replace("_", "[_ ]") for word in words("redirect"))
    return re.compile(rf"\ufeff?\s*[#＃]\s*(?:{names})\s*:?\s*\[\[([^\[\]|\n]+)", re.IGNORECASE)


def _number(page: ElementTree.Element, field: str) -> int:
    text = page.findtext(field)
    try:
        number = int(text or "")
        if abs(number) < LARGEST:
            return number
    except ValueError:
        pass
    beginning = text and text[:40]
    raise BrokenRecord(f"<{field}> is {beginning!r}, where a number below 2⁶³ was expected")


def is_disambiguation(page: Page, site: Site) -> bool:
    """Whether a page is a disambiguation page, by title, magic word or template.

    Pages on surnames and given names, and set indices (ships of one name, say), are articles: they
    say what they list, and Wikidata has items of other classes for them (docs/dumps.md).
    Names of templates are those of the site's language and English, of all languages that are known
    where the site's is not, in any case.
    """
    title, templates = _patterns(site.language)
    if page.title.endswith(")") and title.search(page.title):
        return True
    if "__" in page.text and _MAGIC_WORD.search(page.text):
        return True
    return templates.search(page.text) is not None


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    titles = "|".join(map(re.escape, words("title", language)))
    names = "|".join(_spelled(name) for name in words("templates", language))
    return (
        re.compile(rf"\((?:{titles})\)$", re.IGNORECASE),
        re.compile(rf"\{{\{{\s*(?:template:)?\s*(?:{names})\s*[|}}<]", re.IGNORECASE),
    )


def _spelled(name: str) -> str:
    """Return a pattern of a template's name. A space may be written as underscores."""
    return re.escape(name).replace(r"\ ", "[ _]+")


PAGES = pa.schema(
    [
        ("page_id", pa.int64()),
        ("title", pa.string()),
        ("redirect", pa.string()),
        ("reason", pa.string()),
        ("paragraph", pa.string()),
    ]
)
"""redirect: where it leads, null for others. reason: why it is no article, "" for articles.
paragraph: "" where there is none."""

LINKS = pa.schema([("source", pa.string()), ("target", pa.string())])
"""Titles of an article and of the pages that it links to."""

REDIRECT = "redirect"


@dataclass(frozen=True)
class PageSetup:
    """Settings of reading pages. min_words: articles with a shorter first paragraph are dropped."""

    site: Site
    links: Literal["lead", "page", "none"] = "lead"
    min_words: int = 5


@dataclass
class PagePart:
    """Tables of some pages, as `PAGES` and `LINKS`, and counts.

    counts: pages per reason (docs/dumps.md), "articles" being those that are usable and
    "redirects" those that are followed. Their sum is the number of records.
    """

    pages: pa.Table
    links: pa.Table
    counts: dict[str, int]


def read_pages(records: Iterable[bytes], setup: PageSetup) -> PagePart:
    """Read the `<page>` records of a dump, each as its bytes.

    Rows are those of namespace 0, in the order of the records. A record that is broken is counted.
    """
    rows: list[tuple[int, str, str | None, str, str]] = []
    sources: list[str] = []
    targets: list[str] = []
    counts: Counter[str] = Counter()
    for record in records:
        try:
            page = parse_page(record)
        except BrokenRecord:
            counts["broken XML"] += 1
            continue
        if page.namespace != ARTICLES:
            counts["not an article"] += 1
            continue
        redirect = _redirect(page, setup.site)
        lead = "" if redirect else lead_of(page.text)
        reason, paragraph = (REDIRECT, "") if redirect else _judged(page, lead, setup)
        rows.append((page.id, page.title, redirect, reason, paragraph))
        counts["redirects" if redirect else reason or "articles"] += 1
        if not reason and setup.links != "none":
            linked = _linked(page, lead, setup)
            targets += linked
            sources += [page.title] * len(linked)
    return PagePart(
        pa.table(_columns(rows), schema=PAGES),
        pa.table([pa.array(sources, pa.string()), pa.array(targets, pa.string())], schema=LINKS),
        dict(counts),
    )


def _redirect(page: Page, site: Site) -> str | None:
    """Return where a page leads, as that page's title. Other titles stay as written."""
    return None if page.redirect is None else title_of(page.redirect, site) or page.redirect


def _judged(page: Page, lead: str, setup: PageSetup) -> tuple[str, str]:
    """Return (the reason why a page is no usable article, or "", its first paragraph)."""
    if is_disambiguation(page, setup.site):
        return "disambiguation", ""
    if not page.text.strip():
        return "no text", ""
    paragraph = paragraph_of(lead, setup.site)
    if not paragraph:
        return "no first paragraph", ""
    short = count_words(paragraph) < setup.min_words
    return ("paragraph too short" if short else ""), paragraph


def _linked(page: Page, lead: str, setup: PageSetup) -> list[str]:
    """Return the links of a page. Its lead is given so that it is not cut out twice."""
    if setup.links == "lead":
        return lead_targets(lead, setup.site)
    return link_targets(page.text, setup.site, "page")


def _columns(rows: list[tuple[int, str, str | None, str, str]]) -> list[pa.Array]:
    columns = zip(*rows, strict=True) if rows else [()] * len(PAGES)
    return [pa.array(column, field.type) for column, field in zip(columns, PAGES, strict=True)]
