"""Wikitext with its balanced parts cut out or replaced: tags, templates, tables, links, quotes.

All of it is linear in the length of the text, however broken the text is.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from argus.knowledge.dumps.site import CATEGORIES, FILES, Site, is_prefix

GONE = "\x00"
"""Stands where something vanished, for the tidying; XML cannot contain it."""

_PLACEHOLDER = "\x01"
"""Stands for a template or table until it is replaced."""

# Possessive repeats are of single characters: before Python 3.11.5 those of groups are wrong.
DEEPEST_LINKS = 6
_MEDIA = -2
_DROPPED = (
    "ref|references|math|chem|ce|gallery|timeline|score|imagemap|syntaxhighlight|source|pre|graph|"
    "mapframe|maplink|templatedata|templatestyles|indicator|hiero|poem|blockquote|includeonly|"
    "inputbox|categorytree|style|script|rt|rp"
)
_WITH_CONTENT = r"({})\b[^<>]{{0,1000}}+(?:(?<=/)>|>[^<]*+(?:<(?!/?{}\b)[^<]*+)*</{}\s*>)"
_HIDDEN = re.compile(
    r"<(?:!--(?:.*?-->|.*)(?P<end>[ \t]*\n)?|nowiki\s*/>"
    r"|nowiki\s*>(?P<literal>[^<]*+(?:<(?!/?nowiki\b)[^<]*+)*)</nowiki\s*>|"
    + _WITH_CONTENT.format(f"?P<tag>{_DROPPED}", "(?P=tag)", "(?P=tag)")
    + ")",
    re.DOTALL | re.IGNORECASE,
)
_BOXES = re.compile("<" + _WITH_CONTENT.format("table|div", r"\1", r"\1"), re.IGNORECASE)
_BRACES = re.compile(r"\{\{|\}\}|^[ \t:]*+\{\||^[ \t]*+\|\}(?!\})", re.MULTILINE)
_STRAY = re.compile(
    rf"{_PLACEHOLDER}|"
    r"^[ \t]*\{\{[^\n]*|\{\{+(?:[^{}|\n]{0,200}\|){0,5}|\}\}+|^[ \t:]*\{\|[^\n]*|\{\||\|\}",
    re.MULTILINE,
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_EXTERNAL = re.compile(
    r"\[(?:https?:|ftps?:|mailto:|news:|irc:)?(?://)?(?<=[:/])[^\s\[\]<>\"]++"
    r"[ \t]*+([^\[\]\n]*+)\]",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[\[([^\[\]|{}\n]*+)(\|(?:[^\[\]]++|\[(?!\[)|\](?!\]))*)?\]\]")
_STRAY_LINK = re.compile(r"\[\[+([^\[\]|\n]*+)(\|?)|\]\]+")
_FINAL_QUALIFIER = re.compile(r"(?<!\s)\s*+\([^()]*+\)$|,\s(?s:.*)")
_QUOTES = re.compile(r"''+")
_SPECIAL = re.compile(r"[\[\]{}|<>'*#:;=_]")


def without_hidden(text: str) -> str:
    """Return wikitext without comments, references, formulas, galleries and the like.

    What <nowiki> protects stays, as entities.
    """
    return _HIDDEN.sub(_remainder, text) if "<" in text else text


def without_boxes(text: str) -> str:
    """Return wikitext without <div> and <table>: pictures, navigation, old hatnotes."""
    for _ in range(4):
        if "<" not in text:
            break
        text, n = _BOXES.subn("\n\n", text)
        if not n:
            break
    return text


def _remainder(hidden: re.Match[str]) -> str:
    """Return what stays of it; a comment that fills whole lines takes their end along."""
    if literal := hidden["literal"]:
        return _SPECIAL.sub(lambda sign: f"&#{ord(sign[0])};", literal)
    whole = hidden.start() == 0 or hidden.string[hidden.start() - 1] == "\n"
    return "" if whole else hidden["end"] or ""


def replace_templates(text: str, render: Callable[[str], str]) -> str:
    """Return wikitext with outermost templates as `render` says, and without tables.

    render: from a whole "{{...}}" to what takes its place. Braces that are never closed, or never
    opened, go: at the beginning of a line with the line, a table with all to the next blank line.
    """
    if "{" not in text and "}" not in text:
        return text
    text = text.replace(_PLACEHOLDER, "")
    parts, end, spans = [], 0, _outermost(text)
    for start, stop in spans:
        parts += [text[end:start], _PLACEHOLDER]
        end = stop
    places = iter(spans)

    def replaced(sign: re.Match[str]) -> str:
        if sign[0] != _PLACEHOLDER:
            for _ in range(sign[0].count(_PLACEHOLDER)):
                next(places)
            return ""
        start, stop = next(places)
        return render(text[start:stop]) if text.startswith("{{", start) else "\n\n"

    return _STRAY.sub(replaced, "".join([*parts, text[end:]]))


def _outermost(text: str) -> list[tuple[int, int]]:
    """Return the spans of templates and tables that are not in another one, in order."""
    spans: list[tuple[int, int]] = []
    opened: list[tuple[str, int]] = []
    unclosed = {"{{": 0, "{|": 0}
    for token in _BRACES.finditer(text):
        sign = token[0].strip(" \t:")
        if sign in unclosed:
            opened.append((sign, token.start()))
            unclosed[sign] += 1
            continue
        opening = "{{" if sign == "}}" else "{|"
        if not unclosed[opening]:
            continue
        last, start = "", 0
        while last != opening:
            last, start = opened.pop()
            unclosed[last] -= 1
        while spans and spans[-1][0] > start:
            spans.pop()
        spans.append((start, token.end()))
    end = -1
    for sign, start in opened:
        if sign == "{|" and start > end:
            blank = _BLANK_LINE.search(text, start)
            end = blank.start() if blank else len(text)
            spans.append((start, end))
    return _merged(spans)


def _merged(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, stop in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(stop, merged[-1][1]))
        else:
            merged.append((start, stop))
    return merged


def replace_links(text: str, site: Site) -> str:
    """Return wikitext with links as the words that they show.

    Files (with their captions), categories and links to the same page in other languages vanish.
    """
    if "[" not in text:
        return text
    text = _EXTERNAL.sub(r"\1", text)
    for _ in range(DEEPEST_LINKS):
        if "[[" not in text:
            return text
        text, n = _LINK.subn(lambda link: _link_words(link[1], link[2], site), text)
        if not n:
            break
    return _without_stray_links(text, site)


def _link_words(target: str, label: str | None, site: Site) -> str:
    prefix, colon, _ = target.partition(":")
    if colon and (number := _namespace(prefix, site)) in {_MEDIA, FILES, CATEGORIES}:
        return GONE if number != CATEGORIES else ""
    if label is not None and label[1:].strip():
        return label[1:]
    place = target.strip().replace("_", " ")
    if colon and label is None and prefix.strip() and is_prefix(prefix, site):
        if _namespace(prefix, site) is None:
            return ""
        return place
    if label is None:
        return place.lstrip(":").partition("#")[0] or place.lstrip("#")
    return _FINAL_QUALIFIER.sub("", place.rpartition(":")[2])  # the pipe trick


def _namespace(prefix: str, site: Site) -> int | None:
    return site.namespaces.get(prefix.replace("_", " ").strip().lower())


def _without_stray_links(text: str, site: Site) -> str:
    """Return wikitext without the signs of links that never end; such a file takes its line."""
    lines = []
    for line in text.split("\n"):
        if "[[" in line or "]]" in line:
            stray = _STRAY_LINK.search(line)
            while stray and stray[0][0] == "[" and not _is_file(stray[1], site):
                stray = _STRAY_LINK.search(line, stray.end())
            if stray and stray[0][0] == "[":
                line = line[: stray.start()]
            line = _STRAY_LINK.sub(lambda sign: "" if sign[2] else sign[1] or "", line)
        lines.append(line)
    return "\n".join(lines)


def _is_file(target: str, site: Site) -> bool:
    prefix, colon, _ = target.partition(":")
    return bool(colon) and _namespace(prefix, site) in {_MEDIA, FILES}


def without_quotes(line: str) -> str:
    """Return one line without the apostrophes of bold and italics; others stay.

    As MediaWiki reads them: four are bold after an apostrophe; where both bold and italics stay
    open, one of the threes was an apostrophe and italics ("''Voyager'''s").
    """
    if "''" not in line:
        return line
    runs = list(_QUOTES.finditer(line))
    sizes = [len(run[0]) for run in runs]
    bold = sum(size in {3, 4} or size >= 5 for size in sizes)
    italics = sum(size == 2 or size >= 5 for size in sizes)
    apostrophes = [size == 4 or size > 5 for size in sizes]
    if bold % 2 and italics % 2 and 3 in sizes:
        apostrophes[_apostrophe(line, runs)] = True
    signs = iter(apostrophes)
    return _QUOTES.sub(lambda _: "'" if next(signs) else "", line)


def _apostrophe(line: str, runs: list[re.Match[str]]) -> int:
    """Return which bold run begins with an apostrophe: after one letter, else a word, else any."""
    threes = [i for i, run in enumerate(runs) if len(run[0]) == 3]

    def before(i: int, n: int) -> str:
        return line[max(runs[i].start() - n, 0) : runs[i].start()]

    for i in threes:
        if before(i, 1).strip() and before(i, 2)[:-1] == " ":
            return i
    for i in threes:
        if before(i, 1).strip():
            return i
    return threes[0]
