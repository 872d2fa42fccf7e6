"""Tables of what the pages of a dump give: paragraphs, redirects, links, and what was lost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from argus.knowledge.dumps.links import lead_targets, link_targets
from argus.knowledge.dumps.pages import BrokenRecord, is_disambiguation, parse_page
from argus.knowledge.dumps.records import Page
from argus.knowledge.dumps.site import ARTICLES, Site, title_of
from argus.knowledge.dumps.wikitext import count_words, lead_of, paragraph_of

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
"""Titles of an article and of what it links to."""

REDIRECT = "redirect"


@dataclass(frozen=True)
class PageSetup:
    """How pages are read. min_words: articles with a shorter first paragraph are dropped."""

    site: Site
    links: Literal["lead", "page", "none"] = "lead"
    min_words: int = 5


@dataclass
class PagePart:
    """What some pages gave: tables as `PAGES` and `LINKS`, and counts.

    counts: pages per reason (docs/dumps.md), "articles" being those that are usable and
    "redirects" those that are followed; their sum is the number of records.
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
    """Return where a page leads, as that page's title; what is no article stays as written."""
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
    """Return what a page links to, its lead being given so that it is not cut out twice."""
    if setup.links == "lead":
        return lead_targets(lead, setup.site)
    return link_targets(page.text, setup.site, "page")


def _columns(rows: list[tuple[int, str, str | None, str, str]]) -> list[pa.Array]:
    columns = zip(*rows, strict=True) if rows else [()] * len(PAGES)
    return [pa.array(column, field.type) for column, field in zip(columns, PAGES, strict=True)]
