"""What comes out of a dump: pages, items, and what was amiss."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """One `<page>` of a MediaWiki export, as it stands there.

    title: with spaces, as in "Alan Turing". redirect: title that it leads to; None for others.
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
