"""Read a wiki's namespaces, and extract first paragraph and links from the wikitext of its pages.

`read_site`: the head of a dump -> `Site`. `title_of`: a link's target -> the title of the article,
None for files, categories and other wikis. `paragraph_of`: wikitext -> one line of plain text, with
templates rendered by rules per language and without references, tables and boxes. `link_targets`:
wikitext -> titles of articles. Called for every page by `argus.knowledge.dumps`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from html import unescape
from importlib.resources import files
from itertools import count, takewhile
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote
from xml.etree import ElementTree

from argus.data.texts import stream_safe
from argus.errors import InputError
from argus.extras import naming_extras

What = Literal["file", "category", "templates", "title"]


@cache
def words(what: What, language: str | None = None) -> tuple[str, ...]:
    """Return what the language calls it, and English; for one that is not known, what any does.

    what: a key of languages.toml, where each is explained.
    """
    languages: dict[str, dict[str, list[str]]] = tomllib.loads(_read("languages.toml"))
    names = ("en", language) if language in languages else tuple(languages)
    return tuple(dict.fromkeys(word for name in names for word in languages[name][what]))


@cache
def interwiki_prefixes() -> frozenset[str]:
    """Return the prefixes of links that lead to another wiki, in lower case."""
    lines = _read("interwiki.txt").splitlines()
    return frozenset(" ".join(line for line in lines if not line.startswith("#")).split())


def _read(name: str) -> str:
    return files("argus.knowledge").joinpath(name).read_text(encoding="utf-8")


ARTICLES, FILES, CATEGORIES = 0, 6, 14
# A dump's <siteinfo> stands within so many bytes from its beginning.
HEAD_BYTES = 65_536

_SUBJECTS = ("user", "project", "file", "mediawiki", "template", "help", "category")
_CANONICAL = {
    **{"media": -2, "special": -1, "talk": 1, "wp": 4, "wt": 5},
    **{name: 2 * n for n, name in enumerate(_SUBJECTS, 1)},
    **{f"{name} talk": 2 * n + 1 for n, name in enumerate(_SUBJECTS, 1)},
    **{"image": FILES, "image talk": FILES + 1},
}
_WITH_ALIASES: tuple[tuple[What, int], ...] = (("file", FILES), ("category", CATEGORIES))
_SITEINFO = re.compile(rb"<siteinfo>.*?</siteinfo>", re.DOTALL)
_ROOT = re.compile(rb"<mediawiki[\s>]")
_LANGUAGE = re.compile(rb"<mediawiki\b[^>]*\bxml:lang=[\"']([\w-]+)[\"']")
_WHITE_SPACE = re.compile(r"[\s_\u200e\u200f]+")


@dataclass(frozen=True)
class Site:
    """A wiki, as its dump's <siteinfo> says.

    namespaces: names in lower case, with the canonical English ones and common aliases ("image"),
    to numbers. Articles have no name.
    """

    dbname: str
    language: str
    namespaces: Mapping[str, int]


def read_site(head: bytes, *, where: Path | str | None = None) -> Site:
    """Read the wiki's settings from the beginning of a dump.

    head: the first `HEAD_BYTES` bytes, or more, decompressed. where: the dump, for messages.
    Raises InputError if it is not a MediaWiki export, and where <siteinfo> is cut off or broken.
    """
    siteinfo = _SITEINFO.search(head) if _ROOT.search(head[:HEAD_BYTES]) else None
    try:
        if siteinfo is None:
            raise ValueError(f"it begins with {head[:40].decode('utf-8', 'replace')!r}")
        info = ElementTree.fromstring(siteinfo[0])
    except (ElementTree.ParseError, ValueError) as error:
        raise InputError(
            f"no MediaWiki export with a whole <siteinfo> ({error})",
            expected="a MediaWiki export: XML that begins with <mediawiki> and <siteinfo>",
            fix="Give a pages-articles dump, such as enwiki-latest-pages-articles.xml.bz2.",
            where=where,
        ) from error
    dbname = (info.findtext("dbname") or "").strip()
    language = _LANGUAGE.search(head)
    code = language[1].decode().lower() if language else dbname.removesuffix("wiki")
    namespaces = _CANONICAL | {
        name.lower(): number for what, number in _WITH_ALIASES for name in words(what, code)
    }
    for namespace in info.iter("namespace"):
        name, key = (namespace.text or "").strip().lower(), namespace.get("key", "")
        if name and key.lstrip("-").isdigit():
            namespaces[name] = int(key)  # wins over aliases
    return Site(dbname, code, namespaces)


def title_of(target: str, site: Site) -> str | None:
    """Return the title of the article that a link's target means, as its page writes it.

    None where it means no article of this wiki: a place on the same page ("#History"), another
    namespace, another wiki or language.
    """
    title = unquote(unescape(target).partition("#")[0], errors="replace")
    title = _WHITE_SPACE.sub(" ", title).strip().removeprefix(":").lstrip()
    prefix, colon, _ = title.partition(":")
    if not title or (colon and is_prefix(prefix, site)):
        return None
    first = title[0].title()  # Georgian has capitals, but not in titles; "ß" would become two
    title = (first if len(first) == 1 else title[0]) + title[1:]
    return title if title.isascii() else unicodedata.normalize("NFC", stream_safe(title))


def is_prefix(prefix: str, site: Site) -> bool:
    """Whether the text before a colon names a namespace or another wiki."""
    name = prefix.strip().lower()
    return name in site.namespaces or name in interwiki_prefixes()


# Stands where something vanished, for the tidying. XML cannot contain it.
GONE = "\x00"

# Stands for a template or table until it is replaced.
_PLACEHOLDER = "\x01"

# Possessive repeats are of single characters: before Python 3.11.5 those of groups are wrong.
MAX_NESTED_LINKS, MAX_NESTED_BOXES = 6, 4
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
_EXTERNAL = re.compile(
    r"\[(?:https?:|ftps?:|mailto:|news:|irc:)?(?://)?(?<=[:/])[^\s\[\]<>\"]++"
    r"[ \t]*+([^\[\]\n]*+)\]",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[\[([^\[\]|{}\n]*+)(\|(?:[^\[\]]++|\[(?!\[)|\](?!\]))*)?\]\]")
_QUOTES = re.compile(r"''+")
_SPECIAL = re.compile(r"[\[\]{}|<>'*#:;=_]")


def without_hidden(text: str) -> str:
    """Return wikitext without comments, references, formulas, galleries and the like.

    Text in <nowiki> stays, as entities. A comment that fills whole lines takes their end along.
    """

    def remainder(hidden: re.Match[str]) -> str:
        if literal := hidden["literal"]:
            return _SPECIAL.sub(lambda sign: f"&#{ord(sign[0])};", literal)
        whole = hidden.start() == 0 or hidden.string[hidden.start() - 1] == "\n"
        return "" if whole else hidden["end"] or ""

    return _HIDDEN.sub(remainder, text) if "<" in text else text


def replace_templates(text: str, render: Callable[[str], str]) -> str:
    """Return wikitext with outermost templates as `render` says, and without tables.

    render: from a whole "{{...}}" to its replacement. Braces that are never closed, or never
    opened, go: at the beginning of a line with the line.
    """
    text = text.replace(_PLACEHOLDER, "")
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
        last, start = "", len(text)
        while last != opening and unclosed[opening]:
            last, start = opened.pop()
            unclosed[last] -= 1
        while spans and spans[-1][0] > start:
            spans.pop()
        if last:
            spans.append((start, token.end()))
    borders = [0, *(at for span in spans for at in span), len(text)]
    between = (text[a:b] for a, b in zip(borders[::2], borders[1::2], strict=True))
    places = iter(spans)

    def replaced(sign: re.Match[str]) -> str:
        if sign[0] != _PLACEHOLDER:
            for _ in range(sign[0].count(_PLACEHOLDER)):
                next(places)
            return ""
        start, stop = next(places)
        return render(text[start:stop]) if text.startswith("{{", start) else "\n\n"

    return _STRAY.sub(replaced, _PLACEHOLDER.join(between))


def replace_links(text: str, site: Site) -> str:
    """Return wikitext with links as the words that they show.

    Files (with their captions), categories and links to the same page in other languages vanish.
    """

    def words(link: re.Match[str]) -> str:
        target, label = link[1], (link[2] or "")[1:]
        prefix, colon, _ = target.partition(":")
        number = site.namespaces.get(prefix.replace("_", " ").strip().lower()) if colon else None
        if number in (_MEDIA, FILES, CATEGORIES):
            return "" if number == CATEGORIES else GONE
        place = target.strip().replace("_", " ")
        if label.strip():
            return label
        if colon and prefix.strip() and is_prefix(prefix, site):
            return "" if number is None else place
        return place.lstrip(":").partition("#")[0] or place.lstrip("#")

    text = _EXTERNAL.sub(r"\1", text) if "[" in text else text
    for _ in range(MAX_NESTED_LINKS):
        text, n = _LINK.subn(words, text)
        if not n:
            break
    return text


_INVISIBLE = re.compile("[\u00ad\u200b\u200e\u200f\u2060\ufeff]")
_SPACES = re.compile(r"\s+")
_BRACKETS = re.compile(r"\(((?:[^()]++|\([^()]*+\))*)\)")
_INNER = re.compile(r"\(([^()]*+)\)")
_SEPARATOR = re.compile(r"([;,])")
_NOTHING = " ;,:/[]–—-·&" + GONE
_LEFT = re.compile(r"^\s*+\x00[\s\x00]*+(?:or|and)\s++|(?<!\s)\s++(?:or|and)\s*+\x00[\s\x00]*+$")
_GAP = r" ?\x00[ \x00]*+"
# A gap that goes, or, as its group, one that stays: each is looked at once, as a whole.
_BEFORE_SIGN = re.compile(rf"{_GAP}(?=[,.;:!?)\]])|({_GAP})")
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
# Marks that only stand there once others are gone, as in "<!-<!---". A text of more is broken.
_DEEPEST_MARKS = 100


def tidy(text: str) -> str:
    """Return the text with entities decoded, in NFC, its spaces, brackets and commas made even.

    text: prose in which `GONE` stands where something vanished. A bracket that is left with nothing
    but separators, or with the label of vanished text ("pronounced"), vanishes with it.
    """
    text = _INVISIBLE.sub("", _SPACES.sub(" ", unescape(text)))
    if GONE in text:
        text = _BRACKETS.sub(_bracket, _INNER.sub(_bracket, text))
        text = _QUOTED_NOTHING.sub("", text)
        text = _WIDE.sub("", text).replace("（）", "")
        text = _BEFORE_SIGN.sub(r"\1", _DANGLING.sub(" ", text))
        text = _AFTER_BRACKET.sub("", text).replace(GONE, "")
    for _ in range(_DEEPEST_MARKS):
        for pattern, instead in _MENDS:
            text = pattern.sub(instead, text)
        text = text.strip()
        if not _NEVER.search(text):
            return text if text.isascii() else unicodedata.normalize("NFC", stream_safe(text))
        text = _NEVER.sub("", text)
    return ""


def _bracket(bracket: re.Match[str]) -> str:
    """Return a bracket without the parts of it that vanished. `GONE` where nothing is left.

    A part vanished when nothing, or nothing but labels of vanished text, is left of it.
    """
    inside = bracket[1]
    if GONE not in inside:
        return bracket[0]
    labels = _data()["words"]["labels"]
    text = ""
    pieces = ["", *_SEPARATOR.split(_LEFT.sub(" ", inside))]
    for separator, piece in zip(pieces[::2], pieces[1::2], strict=True):
        bare = piece.strip(_NOTHING)
        if GONE in piece:
            words = bare.lower().replace(":", " ").replace(GONE, " ").split()
            vanished = all(word in labels for word in words) or piece.rstrip(" \x00").endswith(":")
        else:
            vanished = not bare
        if not vanished:
            text += (separator if text else "") + piece
    text = text.strip(" ;,")
    return f"({text})" if text.strip(_NOTHING) else GONE


MAX_NESTED_TEMPLATES, MAX_TEMPLATE = 8, 4000
"""Templates in templates beyond this depth, or with more characters, vanish."""

_NAME = re.compile(r"\{\{\s*([^|{}\n<\x00]*)")
_PLACE = re.compile(r"\{(\w+)\}")
_FUNCTION = re.compile(
    r"\{\{\s*(?:formatnum|[ul]c(?:first)?)\s*:([^{}|]*+)[^{}]*+\}\}", re.IGNORECASE
)
_NUMBER = re.compile(r"[-−+]?[\d.,]+(?:[+/⁄]\d+(?:/\d+)?)?(?:e[-−]?\d+)?")
_GROUPED = re.compile(r"[-−]?\d{4,}")
_COMPOUND = {("ft", "in"), ("mi", "yd"), ("mi", "ft"), ("yd", "ft"), ("st", "lb"), ("lb", "oz")}


def render_template(span: str, language: str, depth: int = 0) -> str:
    """Return the words that a whole "{{...}}" stands for. `GONE` where it stands for none.

    Words are wikitext: links in them are as they were.
    """
    with naming_extras():
        import mwparserfromhell
        from mwparserfromhell.parser import ParserError

    if function := _FUNCTION.fullmatch(span):  # {{formatnum:12345}}
        return _grouped(function[1].strip()) or GONE
    match = _NAME.match(span)
    name = match[1].strip().replace("_", " ").lower() if match else ""
    name = name.removeprefix("template:").strip()
    names, prefixes = _rules(language)
    rule = names.get(name) or next((r for begin, r in prefixes if name.startswith(begin)), None)
    if rule is None or depth >= MAX_NESTED_TEMPLATES or len(span) > MAX_TEMPLATE:
        return GONE
    try:
        (template,) = mwparserfromhell.parse(span, skip_style_tags=True).ifilter_templates(False)
    except (ParserError, RecursionError, ValueError):
        return GONE

    def inner(span: str) -> str:
        return render_template(span, language, depth + 1)

    values = {"name": name.upper()}
    for parameter in template.params:
        key = str(parameter.name).strip().lower()
        values[key] = replace_templates(str(parameter.value), inner).strip()
    positional = [values[key] for key in takewhile(values.__contains__, map(str, count(1)))]
    if rule.get("make") == "converted":
        return _converted(positional) or GONE
    values["last"] = positional[-1] if positional else ""
    month = values.get("2", "")
    if month.isascii() and month.isdigit() and 1 <= int(month) <= 12:
        month = _data()["words"]["months"][int(month) - 1]
    values["month"] = month
    for pattern in rule["keep"]:
        if all(values.get(field) for field in _PLACE.findall(pattern)):
            return _PLACE.sub(lambda place: values[place[1]], pattern) or GONE
    return GONE


def _converted(values: list[str]) -> str:
    """5|km -> 5 km; 5|-|10|km -> 5–10 km; 6|ft|2|in -> 6 ft 2 in; the conversion goes."""
    between, units = _data()["between"], _data()["units"]
    if len(values) < 2:
        return "".join(map(_grouped, values))
    text, rest = _grouped(values[0]), values[1:]
    while len(rest) >= 2 and rest[0].lower() in between:
        text += between[rest[0].lower()] + _grouped(rest[1])
        rest = rest[2:]
    unit, number, smaller = [*rest, "", "", ""][:3]
    text = f"{text} {units.get(unit, unit)}".strip()
    if (unit, smaller) in _COMPOUND and _NUMBER.fullmatch(number):
        text += f" {number} {smaller}"
    return text


def _grouped(number: str) -> str:
    """12000 -> 12,000; 5+1/2 -> 5 1/2."""
    if _GROUPED.fullmatch(number) and number.lstrip("-−").isascii():
        return f"{int(number.replace('−', '-')):,}"
    return re.sub(r"(?<=\d)\+(?=\d+[/⁄])", " ", number)


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


# Characters before the first heading that are looked at. A page whose lead is longer is broken.
MAX_LEAD = 200_000

MAX_PARAGRAPH = 20_000
# Text of fewer words that does not end as a sentence is a caption or a remnant.
MIN_WORDS = 5

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
    lead = text[:MAX_LEAD]
    for heading in _HEADING.finditer(lead):
        at = heading.start()
        if lead.rfind("<!--", 0, at) <= lead.rfind("-->", 0, at):  # not in a comment
            return without_hidden(lead[:at])
    return without_hidden(lead)


def paragraph_of(lead: str, site: Site) -> str:
    """Return the first paragraph of prose of a lead, as plain text on one line.

    lead: as `lead_of` returns it. Paragraphs stand between blank lines, lists and blocks. "" where
    there is none: nothing but templates, tables, lists and files.
    """
    for _ in range(MAX_NESTED_BOXES):
        lead = _BOXES.sub("\n\n", lead)
    text = _BLOCK_TAG.sub("\n\n", lead)
    text = replace_templates(text, partial(render_template, language=site.language))
    text = _NO_PROSE.sub("", replace_links(text, site))
    best = ""
    for paragraph in _BLANK.split(text):
        paragraph = paragraph.strip(" \t\n" + GONE)
        note = _ITALIC_NOTE.match(paragraph)  # "For other uses, see ..."
        plain = _plain(paragraph[note.end() if note else 0 :][:MAX_PARAGRAPH])
        if _COORDINATES.match(plain) or not any(c.isalpha() for c in plain):
            continue
        words = count_words(plain)
        if words >= MIN_WORDS or (words >= 2 and _SENTENCE_END.search(plain)):
            return plain
        best = best or plain
    return best


def _plain(paragraph: str) -> str:
    """Return a paragraph without tags, bold, italics and switches. 10<sup>6</sup> becomes 10⁶."""

    def raised(tag: re.Match[str]) -> str:
        inside = tag[1].strip()
        return inside.translate(_DIGITS) if _POWER.fullmatch(inside) else inside

    paragraph = _RAISED.sub(raised, _BREAK.sub(" ", paragraph))
    paragraph = _BEHAVIOUR.sub("", _TAG.sub("", paragraph))
    # As MediaWiki reads them, four quotes are bold after an apostrophe.
    return tidy(_QUOTES.sub(lambda run: "'" if len(run[0]) == 4 else "", paragraph))


def count_words(text: str) -> int:
    """Return the number of words; of scripts without spaces two characters count as one."""
    return sum(1 for _ in _WORD.finditer(text))


_TARGET = re.compile(r"\[\[([^\[\]{}|<>\n]{1,500})(?:\]\]|\|)")
_HATNOTE = re.compile(r"^:+[ \t]*''[^\n]*''[ \t.]*$", re.MULTILINE)


def without_hatnotes(lead: str) -> str:
    """Return a lead without lines such as "For other uses, see ..."."""
    return _HATNOTE.sub("", lead)


def link_targets(text: str, site: Site) -> list[str]:
    """Return the titles of the articles that wikitext links to, in order, each once.

    text: as `without_hidden` returns it. Links that a template makes of plain parameters do not
    count.
    """
    targets = dict.fromkeys(_TARGET.findall(text))
    titles = dict.fromkeys(title_of(target, site) for target in targets)
    return [title for title in titles if title]
