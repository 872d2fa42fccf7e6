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

from argus.knowledge.alignment.raw_tables import LINKS, PAGES, rows_to_table
from argus.knowledge.dumps.site import ARTICLES, Site, title_of, words
from argus.knowledge.dumps.wikitext import (
    count_words,
    lead_of,
    lead_targets,
    page_targets,
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
    try:
        number = int(page.findtext(field) or "")
    except ValueError as error:
        raise BrokenRecord(f"<{field}> is no number") from error
    if abs(number) >= LARGEST:
        raise BrokenRecord(f"<{field}> is not below 2⁶³")
    return number


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


REDIRECT = "redirect"


def read_pages(
    records: Iterable[bytes],
    site: Site,
    links: Literal["lead", "page", "none"] = "lead",
    min_words: int = 5,
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """Read the `<page>` records of a dump, each as its bytes. Return tables and counts.

    Tables are "pages" (PAGES), those of namespace 0 in the order of the records, and "links"
    (LINKS). Counts are pages per reason (docs/dumps.md), "articles" being those that are usable and
    "redirects" those that are followed. Their sum is the number of records. min_words: articles
    with a shorter first paragraph are dropped.
    """
    rows: list[tuple[int, str, str | None, str, str]] = []
    linked: list[tuple[str, str]] = []
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
        if page.redirect is not None:  # a target that is no title stays as it is written
            target = title_of(page.redirect, site) or page.redirect
            rows.append((page.id, page.title, target, REDIRECT, ""))
            counts["redirects"] += 1
            continue
        lead, reason, paragraph = lead_of(page.text), "", ""
        if is_disambiguation(page, site):
            reason = "disambiguation"
        elif not page.text.strip():
            reason = "no text"
        elif not (paragraph := paragraph_of(lead, site)):
            reason = "no first paragraph"
        elif count_words(paragraph) < min_words:
            reason = "paragraph too short"
        rows.append((page.id, page.title, None, reason, paragraph))
        counts[reason or "articles"] += 1
        if not reason and links != "none":
            targets = lead_targets(lead, site) if links == "lead" else page_targets(page.text, site)
            linked += [(page.title, target) for target in targets]
    tables = {"pages": rows_to_table(rows, PAGES), "links": rows_to_table(linked, LINKS)}
    return tables, dict(counts)
