"""Read the first paragraph and the links of a page's wikitext."""

from __future__ import annotations

import re
from collections.abc import Iterator

from argus.knowledge.dumps.markup import (
    GONE,
    render_template,
    replace_links,
    replace_templates,
    tidy,
    without_boxes,
    without_hidden,
    without_quotes,
)
from argus.knowledge.dumps.site import Site, title_of

LONGEST_LEAD = 200_000
"""Characters before the first heading that are looked at. A page whose lead is longer is broken."""

LONGEST_PARAGRAPH = 20_000
MOST_TEMPLATES = 500
"""Templates of a lead that are rendered. Further ones vanish."""

FEWEST_WORDS = 5
"""Text of fewer words that does not end as a sentence is a caption or a remnant."""

_HEADING = re.compile(r"^==", re.MULTILINE)
_NO_PROSE = re.compile(
    r"^[ \t\x00]*(?:[*#;:|}]|!(?=[^\n]*[!|])|-{4}|={1,6}[^\n]*=[ \t]*$)[^\n]*", re.MULTILINE
)
_BLOCK_TAG = re.compile(r"</?(?:p|div|center|table|tr|td|th|blockquote|hr)\b[^<>]*>", re.IGNORECASE)
_BLANK = re.compile(r"\n[ \t\x00]*(?:\n[ \t\x00]*)+")
_BREAK = re.compile(r"<br\b[^<>]*>", re.IGNORECASE)
_RAISED = re.compile(r"<sup\b[^<>]*>([^<>]*)</sup\s*>", re.IGNORECASE)
_TAG = re.compile(r"</?[a-z][\w:-]*(?:\s[^<>]*)?/?>", re.IGNORECASE)
_BEHAVIOUR = re.compile(r"__[^\W_]+__")
_VARIANTS = re.compile(r"-\{(?:[A-Za-z]+\|)?([^{}]*)\}-")
_ITALIC_NOTE = re.compile(r"(?:''(?!')(?:(?!'')[^\n])+(?<!')''[. \t\x00]*(?:\n|$))+")
_DIGITS = str.maketrans("0123456789+-−n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻ⁿ")
_POWER = re.compile(r"[-−+]?\d+|n")
_SENTENCE_END = re.compile(r"[.!?:。！？।։۔…][\"'”’»)\]]*$")
_COORDINATES = re.compile(r"coordinates\s*:", re.IGNORECASE)
_WORD = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff]{1,2}|\w+(?:['’.-]\w+)*")


def lead_of(text: str) -> str:
    """Return the wikitext before the first heading, without comments, references and the like."""
    lead = text[:LONGEST_LEAD]
    for heading in _HEADING.finditer(lead):
        at = heading.start()
        if lead.rfind("<!--", 0, at) <= lead.rfind("-->", 0, at):  # not in a comment
            return without_hidden(lead[:at])
    return without_hidden(lead)


def paragraph_of(lead: str, site: Site) -> str:
    """Return the first paragraph of prose of a lead, as plain text on one line.

    lead: as `lead_of` returns it. "" where there is none: nothing but templates, tables, lists and
    files.
    """
    best = ""
    for paragraph in _paragraphs(lead, site):
        plain = _plain(paragraph)
        if _is_prose(plain):
            return plain
        best = best or plain
    return best if any(c.isalpha() for c in best) and not _COORDINATES.match(best) else ""


def count_words(text: str) -> int:
    """Return the number of words; of scripts without spaces two characters count as one."""
    return sum(1 for _ in _WORD.finditer(text))


def _paragraphs(lead: str, site: Site) -> Iterator[str]:
    """Yield the paragraphs that stand between blank lines, lists and blocks, as wikitext."""
    text = _BLOCK_TAG.sub("\n\n", without_boxes(lead)) if "<" in lead else lead
    budget = iter(range(MOST_TEMPLATES))

    def render(span: str) -> str:
        return GONE if next(budget, None) is None else render_template(span, site.language)

    text = replace_templates(text, render)
    text = _NO_PROSE.sub("", replace_links(text, site))
    for paragraph in _BLANK.split(text):
        paragraph = paragraph.strip(" \t\n" + GONE)
        note = _ITALIC_NOTE.match(paragraph)  # "For other uses, see ..."
        if prose := paragraph[note.end() :] if note else paragraph:
            yield prose[:LONGEST_PARAGRAPH]


def _plain(paragraph: str) -> str:
    if "<" in paragraph:
        paragraph = _RAISED.sub(_raised, _BREAK.sub(" ", paragraph))
        paragraph = _TAG.sub("", paragraph)
    if "-{" in paragraph:
        paragraph = _VARIANTS.sub(_variant, paragraph)
    if "__" in paragraph:
        paragraph = _BEHAVIOUR.sub("", paragraph)
    return tidy("\n".join(map(without_quotes, paragraph.split("\n"))))


def _raised(tag: re.Match[str]) -> str:
    """Return 10<sup>6</sup> as 10⁶: plain digits would be another number."""
    inside = tag[1].strip()
    return inside.translate(_DIGITS) if _POWER.fullmatch(inside) else inside


def _variant(choice: re.Match[str]) -> str:
    """Return the first of a choice between scripts, -{zh-hans:a;zh-hant:b}-."""
    first = choice[1].partition(";")[0]
    return first.rpartition(":")[2].strip()


def _is_prose(text: str) -> bool:
    if _COORDINATES.match(text) or not any(c.isalpha() for c in text):
        return False
    words = count_words(text)
    return words >= FEWEST_WORDS or (words >= 2 and _SENTENCE_END.search(text) is not None)


LONGEST_PAGE = 2**21
"""Characters of a page that are looked at. MediaWiki saves none of more bytes."""

_TARGET = re.compile(r"\[\[([^\[\]{}|<>\n]{1,500})(?:\]\]|\|)")
_HATNOTE = re.compile(r"^:+[ \t]*''[^\n]*''[ \t.]*$", re.MULTILINE)


def lead_targets(lead: str, site: Site) -> list[str]:
    """Return the titles of the articles that a lead links to, in order, each once.

    lead: as `lead_of` returns it, infobox and captions included. Links in comments, <nowiki>,
    references and hatnotes ("For other uses, see ...") do not count, nor do those that a template
    makes of plain parameters.
    """
    return _titles(_HATNOTE.sub("", lead), site)


def page_targets(text: str, site: Site) -> list[str]:
    """Return the titles that a whole page links to, as `lead_targets` does, hatnotes included."""
    return _titles(without_hidden(text[:LONGEST_PAGE]), site)


def _titles(text: str, site: Site) -> list[str]:
    targets = dict.fromkeys(_TARGET.findall(text))
    titles = dict.fromkeys(title_of(target, site) for target in targets)
    return [title for title in titles if title]
