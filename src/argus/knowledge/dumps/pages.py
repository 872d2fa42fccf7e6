"""One `<page>` of a MediaWiki export: from bytes to a record, and what kind of page it is."""

from __future__ import annotations

import re
from functools import cache
from xml.etree import ElementTree

from argus.knowledge.dumps.languages import words
from argus.knowledge.dumps.records import Page
from argus.knowledge.dumps.site import Site

_MAGIC_WORD = re.compile(
    "__(?:DISAMBIG|BEGRIFFSKLÄRUNG|HOMONYMIE|DISAMBIGUACI[OÓ]N|TÄPSUSTUS|HOM[OÓ]NIMOS|توضيح|"
    "동음이의|消歧义|ПОЈАСНУВАЊЕ)__",
    re.IGNORECASE,
)

LARGEST = 1 << 63
"""What no page id reaches: those of tables have 64 bits."""


class BrokenRecord(ValueError):
    """The bytes of a record cannot be read; the text says why."""


def parse_page(record: bytes) -> Page:
    """Read the bytes of one `<page>...</page>`.

    Of several revisions the newest counts; a text that was deleted is empty. A redirect is what
    `<redirect title=...>` says, or, in exports without it, the text's `#REDIRECT [[...]]`.
    Raises BrokenRecord for what is not such a record, or is not UTF-8.
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
    """Return the target of a text that is a redirect, as it is written there; None for others."""
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
    """Whether a page only tells apart what shares a name, by title, magic word or template.

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
    """Return a pattern of a template's name; a space may be written as underscores."""
    return re.escape(name).replace(r"\ ", "[ _]+")
