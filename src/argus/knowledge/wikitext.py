"""Read the first paragraph of prose and the links of a page's wikitext."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import unescape
from importlib.resources import files
from typing import Any

from argus.data.texts import stream_safe
from argus.extras import naming_extras
from argus.knowledge.site import CATEGORIES, FILES, Site, is_prefix, title_of

GONE = "\x00"
"""Stands where something vanished, for the tidying. XML cannot contain it."""

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
    """Return the text without comments. A comment that fills whole lines takes their end along."""
    if literal := hidden["literal"]:
        return _SPECIAL.sub(lambda sign: f"&#{ord(sign[0])};", literal)
    whole = hidden.start() == 0 or hidden.string[hidden.start() - 1] == "\n"
    return "" if whole else hidden["end"] or ""


def replace_templates(text: str, render: Callable[[str], str]) -> str:
    """Return wikitext with outermost templates as `render` says, and without tables.

    render: from a whole "{{...}}" to its replacement. Braces that are never closed, or never
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
    return text


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


def without_quotes(line: str) -> str:
    """Return one line without the apostrophes of bold and italics. Others stay.

    As MediaWiki reads them, four are bold after an apostrophe.
    """
    return _QUOTES.sub(lambda run: "'" if len(run[0]) == 4 or len(run[0]) > 5 else "", line)


_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_SPACES = re.compile(r"\s+")
_BRACKETS = re.compile(r"\(((?:[^()]++|\([^()]*+\))*)\)")
_INNER = re.compile(r"\(([^()]*+)\)")
_SEPARATOR = re.compile(r"([;,])")
_NOTHING = " ;,:/[]–—-·&" + GONE
_LEFT = re.compile(r"^\s*+\x00[\s\x00]*+(?:or|and)\s++|(?<!\s)\s++(?:or|and)\s*+\x00[\s\x00]*+$")
_GAP = r" ?\x00[ \x00]*+"
_BEFORE_SIGN = re.compile(rf"{_GAP}(?=[,.;:!?)\]])|({_GAP})")
"""A gap that goes, or, as its group, one that stays: each is looked at once, as a whole."""
_AFTER_BRACKET = re.compile(r"(?<=[(\[])[ \x00]+")
_WIDE = re.compile(r"(?<=（)[\x00 、，；]++|(?<![\x00 、，；])[\x00 、，；]++(?=）)")
_DANGLING = re.compile(rf",{_GAP}(?=\()")
_QUOTED_NOTHING = re.compile(r'"\x00++"|“\x00++”|« *+\x00[ \x00]*+»')
_MENDS = (
    (re.compile(r" +"), " "),
    (re.compile(r"\( ?[,;:]+[ ,;:]*"), "("),
    (re.compile(r"(?<![ ,;])[ ,;]++\)"), ")"),
    (re.compile(r" ?\( ?\)"), ""),
    (re.compile(r" ?\[ ?\]"), ""),
    (re.compile(r"(?<! ) +(?=[,.](?:[ \"”’)]|$))"), ""),
    (re.compile(r",(?: ?,)+"), ","),
    (re.compile(r";(?: ?;)+"), ";"),
    (re.compile(r"^[ ,;:)\]]+|^[.–—-] +"), ""),
    (re.compile(r"(?<=[^.])\.(?: ?\.)(?=$| [A-Z])"), "."),
)
_TAGS = "ref|nowiki|math|small|big|sub|sup|span|div|br|gallery|noinclude|onlyinclude|includeonly"
_NEVER = re.compile(
    rf"\{{\{{+|\}}\}}+|\[\[+|\]\]+|\{{\||\|\}}|</?(?:{_TAGS})\b[^<>]*+>?|<!--|''+|__[^\W_]+__",
    re.IGNORECASE,
)
_DEEPEST_MARKS = 100
"""Marks that only stand there once others are gone, as in "<!-<!---". A text of more is broken."""


def tidy(text: str) -> str:
    """Return the text with entities decoded, in NFC, its spaces, brackets and commas made even.

    text: prose in which `GONE` stands where something vanished. A bracket that is left with nothing
    but separators, or with the label of vanished text ("pronounced"), vanishes with it.
    """
    if "&" in text:
        text = unescape(text)
    text = _INVISIBLE.sub("", _SPACES.sub(" ", text))
    if GONE in text:
        text = _without_gaps(text)
    text = _mended(text)
    for _ in range(_DEEPEST_MARKS):
        if not _NEVER.search(text):
            break
        text = _mended(_NEVER.sub("", text))
    else:
        return ""
    return text if text.isascii() else unicodedata.normalize("NFC", stream_safe(text))


def _mended(text: str) -> str:
    for pattern, instead in _MENDS:
        text = pattern.sub(instead, text)
    return text.strip()


def _without_gaps(text: str) -> str:
    text = _BRACKETS.sub(_bracket, _INNER.sub(_bracket, text))
    text = _QUOTED_NOTHING.sub("", text)
    text = _WIDE.sub("", text).replace("（）", "")
    text = _BEFORE_SIGN.sub(r"\1", _DANGLING.sub(" ", text))
    return _AFTER_BRACKET.sub("", text).replace(GONE, "")


def _bracket(bracket: re.Match[str]) -> str:
    """Return a bracket without the parts of it that vanished. `GONE` where nothing is left."""
    inside = bracket[1]
    if GONE not in inside:
        return bracket[0]
    text = ""
    pieces = ["", *_SEPARATOR.split(_LEFT.sub(" ", inside))]
    for separator, piece in zip(pieces[::2], pieces[1::2], strict=True):
        if not _is_nothing(piece):
            text += (separator if text else "") + piece
    text = text.strip(" ;,")
    return f"({text})" if text.strip(_NOTHING) else GONE


def _is_nothing(piece: str) -> bool:
    """Whether all that a part of a bracket had to say vanished."""
    if GONE not in piece:
        return not piece.strip(_NOTHING)
    words = piece.strip(_NOTHING).lower().replace(":", " ").replace(GONE, " ").split()
    return all(word in _data()["words"]["labels"] for word in words) or piece.rstrip(
        " \x00"
    ).endswith(":")


DEEPEST, LONGEST = 8, 4000
"""Templates in templates beyond this depth, or with more characters, vanish."""

Parameters = Mapping[str, str]

_NAME = re.compile(r"\{\{\s*([^|{}\n<\x00]*)")
_PLACE = re.compile(r"\{(\w+)\}")
_FUNCTION = re.compile(
    r"\{\{\s*(?:formatnum|[ul]c(?:first)?)\s*:([^{}|]*+)[^{}]*+\}\}", re.IGNORECASE
)
_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:[+/⁄]\d+(?:/\d+)?)?(?:e[-−]?\d+)?")
_GROUPED = re.compile(r"[-−]?\d{4,}")
_MULTIPLE = re.compile(r"e(3|6|9|12)(?=[a-z])", re.IGNORECASE)
_MULTIPLES = {"3": "thousand", "6": "million", "9": "billion", "12": "trillion"}
_COMPOUND = {("ft", "in"), ("mi", "yd"), ("mi", "ft"), ("yd", "ft"), ("st", "lb"), ("lb", "oz")}


def render_template(span: str, language: str, depth: int = 0) -> str:
    """Return the words that a whole "{{...}}" stands for. `GONE` where it stands for none.

    Words are wikitext: links in them are as they were.
    """
    match = _NAME.match(span)
    name = match[1].strip().replace("_", " ").lower() if match else ""
    if function := _FUNCTION.fullmatch(span):  # {{formatnum:12345}}
        return _grouped(function[1].strip()) or GONE
    rule = _rule(name.removeprefix("template:").strip(), language)
    if rule is None or depth >= DEEPEST or len(span) > LONGEST:
        return GONE
    parameters = _parameters(span, language, depth)
    if parameters is None:
        return GONE
    if "make" in rule:
        return _MAKERS[rule["make"]](parameters) or GONE
    last = ["", *_positional(parameters)][-1]
    values = {**parameters, "last": last, "name": name.upper()}
    for pattern in rule["keep"]:
        if all(values.get(field) for field in _PLACE.findall(pattern)):
            return _PLACE.sub(lambda place: values[place[1]], pattern) or GONE
    return GONE


def _parameters(span: str, language: str, depth: int) -> Parameters | None:
    """Return the parameters of a template, templates in them rendered. None for broken ones."""
    with naming_extras():
        import mwparserfromhell
        from mwparserfromhell.parser import ParserError
    try:
        nodes = mwparserfromhell.parse(span, skip_style_tags=True).nodes
    except (ParserError, RecursionError):
        return None
    if len(nodes) != 1 or not isinstance(nodes[0], mwparserfromhell.nodes.Template):
        return None

    def inner(span: str) -> str:
        return render_template(span, language, depth + 1)

    values: dict[str, str] = {}
    for parameter in nodes[0].params:
        name = str(parameter.name).strip().lower()
        values[name] = replace_templates(str(parameter.value), inner).strip()
    return values


def _positional(parameters: Parameters) -> list[str]:
    """Return the parameters without names, in order, up to the first that is missing."""
    values: list[str] = []
    while (value := parameters.get(str(len(values) + 1))) is not None:
        values.append(value)
    return values


def _converted(parameters: Parameters) -> str:
    """5|km -> 5 km; 5|-|10|km -> 5–10 km; 6|ft|2|in -> 6 ft 2 in; the conversion goes."""
    rest = _positional(parameters)
    if not rest:
        return ""
    text = _grouped(rest.pop(0))
    between = _data()["between"]
    while len(rest) >= 2 and rest[0].lower() in between:
        text += between[rest[0].lower()] + _grouped(rest[1])
        rest = rest[2:]
    if not rest:
        return text
    unit = rest.pop(0)
    text = f"{text} {_unit(unit)}"
    while len(rest) >= 2 and (unit, rest[1]) in _COMPOUND and _NUMBER.fullmatch(rest[0]):
        text += f" {rest[0]} {_unit(rest[1])}"
        unit, rest = rest[1], rest[2:]
    return text


def _grouped(number: str) -> str:
    """12000 -> 12,000; 5+1/2 -> 5 1/2."""
    if _GROUPED.fullmatch(number) and number.lstrip("-−").isascii():
        return f"{int(number.replace('−', '-')):,}"
    return re.sub(r"(?<=\d)\+(?=\d+[/⁄])", " ", number)


def _unit(code: str) -> str:
    multiple = _MULTIPLE.match(code)
    if multiple:
        return f"{_MULTIPLES[multiple[1]]} {_unit(code[multiple.end() :])}"
    return str(_data()["units"].get(code, code))


def _date(parameters: Parameters) -> str:
    """1967|8|31 -> August 31, 1967; with df=y 31 August 1967; a date in words stays."""
    year, month, day = (parameters.get(key, "") for key in ("1", "2", "3"))
    if not month or not year.isdigit():
        return year
    name = _month(month)
    if not day or not day.isdigit():
        return f"{name} {year}"
    day_first = parameters.get("df", "").lower() in {"y", "yes", "1"}
    return f"{int(day)} {name} {year}" if day_first else f"{name} {int(day)}, {year}"


def _as_of(parameters: Parameters) -> str:
    """2010|3 -> As of March 2010; what alt= says, and small letters with lc=."""
    if parameters.get("alt"):
        return parameters["alt"]
    begin = "as of" if parameters.get("lc") else "As of"
    year, month, day = (parameters.get(key, "") for key in ("1", "2", "3"))
    parts = [day if month else "", _month(month) if month else "", year]
    return " ".join([begin, *(part for part in parts if part)])


def _month(month: str) -> str:
    number = int(month) if month.isascii() and month.isdigit() else 0
    return str(_data()["words"]["months"][number - 1]) if 1 <= number <= 12 else month


_MAKERS: Mapping[str, Callable[[Parameters], str]] = {
    "as_of": _as_of,
    "converted": _converted,
    "date": _date,
}


def _rule(name: str, language: str) -> Mapping[str, Any] | None:
    names, prefixes = _rules(language)
    return names.get(name) or next((r for begin, r in prefixes if name.startswith(begin)), None)


@cache
def _data() -> dict[str, Any]:
    """Return wikitext_templates.toml, which explains its fields."""
    data = files("argus.knowledge").joinpath("wikitext_templates.toml")
    return tomllib.loads(data.read_text(encoding="utf-8"))


@cache
def _rules(
    language: str,
) -> tuple[dict[str, Mapping[str, Any]], list[tuple[str, Mapping[str, Any]]]]:
    """Return the rules by name and by how a name begins. A language's own win."""
    names: dict[str, Mapping[str, Any]] = {}
    prefixes: list[tuple[str, Mapping[str, Any]]] = []
    for rule in sorted(_data()["template"], key=lambda rule: "language" in rule):
        if rule.get("language", language) == language:
            names |= dict.fromkeys(rule.get("names", ()), rule)
            prefixes += [(begin, rule) for begin in rule.get("prefixes", ())]
    return names, prefixes


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
    if "__" in paragraph:
        paragraph = _BEHAVIOUR.sub("", paragraph)
    return tidy("\n".join(map(without_quotes, paragraph.split("\n"))))


def _raised(tag: re.Match[str]) -> str:
    """Return 10<sup>6</sup> as 10⁶: plain digits would be another number."""
    inside = tag[1].strip()
    return inside.translate(_DIGITS) if _POWER.fullmatch(inside) else inside


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
