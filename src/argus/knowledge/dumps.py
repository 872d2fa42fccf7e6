"""Parse pages of a MediaWiki XML dump and items of a Wikidata JSON dump into tables.

`read_pages`: `<page>` elements -> titles, redirects, first paragraphs, links. `read_items`: JSON
lines -> labels, aliases, statements. The workers of `argus.kb.reading` call them on the blocks of
`argus.knowledge.blocks`. `argus.knowledge.wikitext` reads the text of a page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from xml.etree import ElementTree

import pyarrow as pa

from argus.extras import naming_extras
from argus.knowledge.raw import ITEMS, LINKS, PAGES, STATEMENTS, rows_to_table
from argus.knowledge.wikitext import (
    ARTICLES,
    Site,
    count_words,
    lead_of,
    link_targets,
    paragraph_of,
    title_of,
    without_hatnotes,
    without_hidden,
    words,
)


@dataclass(frozen=True, slots=True)
class Page:
    """One `<page>` of a MediaWiki export, as it stands there.

    title: with spaces, as in "Alan Turing". redirect: title that it leads to. None for others.
    text: wikitext of its revision.
    """

    title: str
    namespace: int
    redirect: str | None
    text: str


_MAGIC_WORD = re.compile(
    "__(?:DISAMBIG|BEGRIFFSKLÄRUNG|HOMONYMIE|DISAMBIGUACI[OÓ]N|TÄPSUSTUS|HOM[OÓ]NIMOS|توضيح|"
    "동음이의|消歧义|ПОЈАСНУВАЊЕ)__",
    re.IGNORECASE,
)


def parse_page(record: bytes) -> Page:
    """Read the bytes of one `<page>...</page>`. A text that was deleted is empty.

    Raises ParseError or ValueError if it is not such a record, or is not UTF-8.
    """
    page = ElementTree.fromstring(record)
    title = (page.findtext("title") or "").replace("_", " ").strip()
    if page.tag != "page" or not title:
        raise ValueError("no page")
    redirect = page.find("redirect")
    target = None if redirect is None else redirect.get("title")
    return Page(title, int(page.findtext("ns") or ""), target, page.findtext("revision/text") or "")


def is_disambiguation(page: Page, site: Site) -> bool:
    """Whether a page is a disambiguation page, by title, magic word or template.

    Pages on surnames and given names, and set indices (ships of one name, say), are articles: they
    say what they list, and Wikidata has items of other classes for them (docs/knowledge.md).
    Names of templates are those of the site's language and English, of all languages that are known
    where the site's is not, in any case.
    """
    title, templates = _patterns(site.language)
    magic = "__" in page.text and _MAGIC_WORD.search(page.text)
    return bool(title.search(page.title) or magic or templates.search(page.text))


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the patterns of titles and of templates. A space may be written as underscores."""
    titles = "|".join(map(re.escape, words("title", language)))
    escaped = (re.escape(name).replace(r"\ ", "[ _]+") for name in words("templates", language))
    names = "|".join(escaped)
    return (
        re.compile(rf"\((?:{titles})\)$", re.IGNORECASE),
        re.compile(rf"\{{\{{\s*(?:template:)?\s*(?:{names})\s*[|}}<]", re.IGNORECASE),
    )


def read_pages(
    records: Iterable[bytes],
    site: Site,
    links: Literal["lead", "page", "none"] = "lead",
    min_words: int = 5,
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """Read the `<page>` records of a dump, each as its bytes. Return tables and counts.

    Tables are "pages" (PAGES), those of namespace 0 in the order of the records, and "links"
    (LINKS). Counts are pages per reason (docs/knowledge.md), "articles" being those that are usable
    and "redirects" those that are followed. Their sum is the number of records. min_words: articles
    with a shorter first paragraph are dropped.
    """
    rows: list[tuple[str, str | None, str, str]] = []
    linked: list[tuple[str, str]] = []
    counts: Counter[str] = Counter()
    for record in records:
        try:
            page = parse_page(record)
        except (ElementTree.ParseError, ValueError):
            counts["broken XML"] += 1
            continue
        if page.namespace != ARTICLES:
            counts["not an article"] += 1
            continue
        if page.redirect is not None:  # a target that is no title stays as it is written
            target = title_of(page.redirect, site) or page.redirect
            rows.append((page.title, target, "redirect", ""))
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
        rows.append((page.title, None, reason, paragraph))
        counts[reason or "articles"] += 1
        if not reason and links != "none":
            text = without_hatnotes(lead) if links == "lead" else without_hidden(page.text)
            linked += [(page.title, target) for target in link_targets(text, site)]
    tables = {"pages": rows_to_table(rows, PAGES), "links": rows_to_table(linked, LINKS)}
    return tables, dict(counts)


# Wikimedia disambiguation page: the class (P31) of every disambiguation page.
DISAMBIGUATION = "Q4167410"
# Wikidata's code for labels and aliases that hold in every language.
ANY_LANGUAGE = "mul"
# Wikipedias whose address is not the code that Wikidata has for their language.
LANGUAGE_OF_LABELS = {
    "als": "gsw", "bat-smg": "sgs", "be-x-old": "be-tarask", "fiu-vro": "vro", "no": "nb",
    "roa-rup": "rup", "simple": "en", "zh-classical": "lzh", "zh-min-nan": "nan", "zh-yue": "yue",
}  # fmt: skip
Row = tuple[Any, ...]
"""Values in the order of ITEMS, or of STATEMENTS."""


def read_items(
    records: Iterable[bytes], language: str = "en"
) -> tuple[dict[str, pa.Table], dict[str, int]]:
    """Read lines of a dump, each one entity, bracket or nothing. Return tables and counts.

    Tables are "items" (ITEMS) and "statements" (STATEMENTS). Statements are main statements whose
    value is an item. Counts are "entities" on the lines, of which "broken JSON" and "no article"
    are in no table, and "deprecated" statements, which are left out.
    """
    with naming_extras():
        import orjson

    site = f"{language.replace('-', '_')}wiki"  # Wikidata's name, as in "zh_yuewiki"
    codes = tuple(dict.fromkeys((language, LANGUAGE_OF_LABELS.get(language, language))))
    quoted = b'"%s"' % site.encode()
    counts: Counter[str] = Counter()
    items: list[Row] = []
    statements: list[Row] = []
    for line in records:
        text = line.strip().rstrip(b",").rstrip()
        if text in (b"", b"[", b"]", b"[]"):
            continue
        counts["entities"] += 1
        if quoted not in text:  # as most items of a full dump, which need no parsing
            counts["no article"] += 1
            continue
        try:
            item, own, deprecated = _parse_item(orjson.loads(text), codes, site)
        except (KeyError, TypeError, AttributeError, ValueError):
            counts["broken JSON"] += 1
            continue
        if item[ITEMS.get_field_index("article")] is None:
            counts["no article"] += 1
            continue
        counts["deprecated"] += deprecated
        items.append(item)
        statements += own
    tables = {
        "items": rows_to_table(items, ITEMS),
        "statements": rows_to_table(statements, STATEMENTS),
    }
    return tables, dict(counts)


def _parse_item(
    entity: dict[str, Any], codes: Sequence[str], site: str
) -> tuple[Row, list[Row], int]:
    """Return an item's row, its statements and how many of them are deprecated.

    codes: of the language, the first to be preferred. PHP writes an empty object as `[]`. Raises
    KeyError, TypeError and their like for JSON that is not built as items are.
    """

    def first(part: str, codes: Sequence[str]) -> str | None:
        texts = entity.get(part) or {}
        return next((texts[code]["value"] for code in codes if texts.get(code)), None)

    id_, every = entity["id"], (*codes, ANY_LANGUAGE)
    label = first("labels", every)
    aliases = entity.get("aliases") or {}
    names = dict.fromkeys(alias["value"] for code in every for alias in aliases.get(code) or ())
    statements, deprecated = [], 0
    for property_, claims in (entity.get("claims") or {}).items():
        for claim in claims:
            value = claim["mainsnak"].get("datavalue")
            if value is None or value["type"] != "wikibase-entityid":
                continue
            target = value["value"]["id"]
            if target.startswith("Q") and claim.get("rank") == "deprecated":
                deprecated += 1
            elif target.startswith("Q"):
                statements.append((id_, property_, target))
    link = (entity.get("sitelinks") or {}).get(site) or {}
    row = (
        *(id_, label, first("descriptions", codes) or ""),
        [name for name in names if name and name != label],
        link.get("title") or None,
        (id_, "P31", DISAMBIGUATION) in statements,
    )
    return row, statements, deprecated
