"""The articles that a page links to."""

from __future__ import annotations

import re
from typing import Literal

from argus.knowledge.dumps.markup import without_hidden
from argus.knowledge.dumps.site import Site, title_of
from argus.knowledge.dumps.wikitext import lead_of

Scope = Literal["lead", "page"]

LONGEST_PAGE = 2**21
"""Characters of a page that are looked at; MediaWiki saves none of more bytes."""

_TARGET = re.compile(r"\[\[([^\[\]{}|<>\n]{1,500})(?:\]\]|\|)")
_HATNOTE = re.compile(r"^:+[ \t]*''[^\n]*''[ \t.]*$", re.MULTILINE)


def link_targets(text: str, site: Site, scope: Scope) -> list[str]:
    """Return the titles of the articles that a text links to, in order, each once.

    scope: "lead" for the text before the first heading, infobox and captions included. Links in
    comments, <nowiki>, references, and, in the lead, hatnotes ("For other uses, see ...") do not
    count; nor do those that a template makes of plain parameters.
    """
    if scope == "lead":
        return lead_targets(lead_of(text), site)
    return _titles(without_hidden(text[:LONGEST_PAGE]), site)


def lead_targets(lead: str, site: Site) -> list[str]:
    """Return the titles that a text as `lead_of` returns it links to, in order, each once."""
    return _titles(_HATNOTE.sub("", lead), site)


def _titles(text: str, site: Site) -> list[str]:
    targets = dict.fromkeys(_TARGET.findall(text))
    titles = dict.fromkeys(title_of(target, site) for target in targets)
    return [title for title in titles if title]
