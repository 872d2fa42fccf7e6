"""What a page is called, and which part of its <title> is the site's and not the page's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from argus.knowledge.sources.pages.links import INDEX_NAMES
from argus.knowledge.sources.pages.page import ParsedPage, spelled_out

_SIGN = r"(?:[-–—|·•»«/]|::)"
_LAST_PART = re.compile(rf"(?<!\s)\s++{_SIGN}\s++(?:(?!\s{_SIGN}\s).)++\Z")
MIN_TITLES = 3
MOST_SUFFIXES = 8
"""A site adds its name and a few sections; more are taken for a part of the titles."""


def site_suffixes(titles: Iterable[str]) -> list[str]:
    """Return the endings, like " - Acme Wiki", that more than half of the titles share.

    They are in the order in which they are to be cut: a title may end in several, at most
    `MOST_SUFFIXES`.
    """
    stems = [title for title in titles if title]
    majority = max(MIN_TITLES, len(stems) // 2 + 1)
    suffixes: list[str] = []
    while len(suffixes) < MOST_SUFFIXES:
        ends = Counter(match[0] for title in stems if (match := _LAST_PART.search(title)))
        best = max(ends, key=lambda end: (ends[end], end), default="")
        if not best or ends[best] < majority:
            break
        suffixes.append(best)
        stems = [title.removesuffix(best) for title in stems]
    return suffixes


def label_of(page: ParsedPage, id_: str, suffixes: Sequence[str]) -> str:
    """Return the front matter's title, else the first H1, else <title>, else the file's name.

    The name of an index file is that of its folder.
    """
    site_title = page.site_title
    for suffix in suffixes:
        site_title = site_title.removesuffix(suffix)
    return page.title or page.heading or site_title or name_of(id_)


def name_of(id_: str) -> str:
    """Return the name of a page's file as words."""
    parts = id_.split("/")
    if len(parts) > 1 and parts[-1] in INDEX_NAMES:
        parts.pop()
    return spelled_out(parts[-1])
