"""Which pages only tell apart what shares a name (docs/knowledge.md, "From dumps").

Pages on surnames and given names, and set indices (ships of one name, say), are articles: they say
what they list, and Wikidata has items of other classes for them.
"""

from __future__ import annotations

import re
from functools import cache

from argus.knowledge.dumps.languages import words
from argus.knowledge.dumps.records import Page
from argus.knowledge.dumps.site import Site

_MAGIC_WORD = re.compile(
    "__(?:DISAMBIG|BEGRIFFSKLÄRUNG|HOMONYMIE|DISAMBIGUACI[OÓ]N|TÄPSUSTUS|HOM[OÓ]NIMOS|توضيح|"
    "동음이의|消歧义|ПОЈАСНУВАЊЕ)__",
    re.IGNORECASE,
)


def is_disambiguation(page: Page, site: Site) -> bool:
    """Whether a page is a disambiguation page, by its title, a magic word or a template.

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
