"""Read title, text and links of a Markdown or plain-text page."""

from __future__ import annotations

import codecs
import re
import tomllib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import yaml

from argus.extras import naming_extras
from argus.knowledge.sources.pages.html import links_of_fragment
from argus.knowledge.sources.pages.page import Link, ParsedPage, Prose, clean, clean_heading

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token


_FRONT_MATTER = re.compile(
    r"\s*(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<values>(?:.*?\n)??)(?P=fence)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL,
)
_MOST_CHARS = 1 << 18
_MOST_DOTS = 4_000
"""Dots in TOML keys at most. Readers take time with the square of a key's parts."""
_BROKEN_VALUES = (RecursionError, ArithmeticError, LookupError, TypeError, AttributeError)
"""Errors of readers of YAML and TOML, beside errors of their own, for a value of a wrong form."""


def split_front_matter(text: str) -> tuple[dict[str, object], str, str]:
    """Return the values between `---` (YAML) or `+++` (TOML) lines, the rest, and a note.

    A longer text than front matter gets is all text: nothing of it is taken off.
    """
    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text, ""
    if len(match["values"]) > _MOST_CHARS:
        return {}, text, "broken front matter"
    rest = text[match.end() :]
    try:
        if match["fence"] == "---":
            values = yaml.load(match["values"], Loader=_Loader)
        elif match["values"].count(".") > _MOST_DOTS:
            raise ValueError
        else:
            values = tomllib.loads(match["values"])
    except (yaml.YAMLError, ValueError, *_BROKEN_VALUES):
        return {}, rest, "broken front matter"
    if isinstance(values, dict):
        return values, rest, ""
    return {}, text if values is not None else rest, ""  # a rule, then text, then a rule


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Refuses `<<`: mappings that merge each other double with each level."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise ValueError


_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*+[\"']?\s*+([\w.:-]+)", re.IGNORECASE)
_FALLBACK = "cp1252"
_OF_BROWSERS = re.compile(
    r"utf-8|cp(?:125\d|866|874|932|949)|iso8859-\d+|koi8-[ru]|mac-(?:roman|cyrillic)|tis-620|"
    r"gb2312|gbk|gb18030|big5(?:hkscs)?|euc_(?:jp|kr)|iso2022_jp|shift_jis"
)
"""Encodings of https://encoding.spec.whatwg.org as Python names them. Others are of no page."""

_AS_BROWSERS_READ = dict.fromkeys(("iso8859-1", "ascii"), _FALLBACK)
_AS_BROWSERS_READ |= dict.fromkeys(("utf-16", "utf-16-le", "utf-16-be"), "utf-8")
"""Encodings that an ASCII text cannot declare for itself."""

WIKI_LINK = re.compile(r"!?\[\[([^\[\]|\n]+?)\\?(?:\|([^\[\]\n]*))?\]\](?![\[(])")
_UNDERLINE = re.compile(r"\s*([=\-~*#^])\1{2,}\s*")
_TITLE_WORDS = 12


def _split_mark(data: bytes) -> tuple[bytes, str]:
    """Return data behind a byte-order mark, and its encoding. "" where there is no mark."""
    marked = ((data[len(mark) :], encoding) for mark, encoding in _BOMS if data.startswith(mark))
    return next(marked, (data, ""))


def decode_text(data: bytes) -> str | None:
    """Return UTF-8, or the encoding of a byte-order mark. None for other bytes."""
    body, encoding = _split_mark(data)
    if not encoding and b"\0" in data[:4096]:
        return None
    try:
        return body.decode(encoding or "utf-8")
    except UnicodeDecodeError:
        return None


def decode_html(data: bytes) -> tuple[str, str]:
    """Return the text as browsers read it, and a note on any problem, else empty.

    A byte-order mark goes before <meta charset>, that before UTF-8, that before Windows-1252.
    """
    data, encoding = _split_mark(data)
    encoding = encoding or _declared(data[:4096])
    if encoding in ("", "utf-8"):
        try:
            return data.decode("utf-8"), ""
        except UnicodeDecodeError:
            if not encoding:
                return data.decode(_FALLBACK, "replace"), "read as Windows-1252"
    text = data.decode(encoding, "replace")
    return text, "broken characters" if "\ufffd" in text else ""


def _declared(head: bytes) -> str:
    """Return the encoding that <meta charset> names, "" for none that browsers have."""
    declared = _CHARSET.search(head)
    if declared is None:
        return ""
    label = declared[1].decode("ascii").lower().removeprefix("x-")
    try:
        name = codecs.lookup(label.replace("windows-", "cp")).name
    except LookupError:
        return ""
    name = _AS_BROWSERS_READ.get(name, name)
    return name if _OF_BROWSERS.fullmatch(name) else ""


def wiki_text(name: str, label: str | None) -> str:
    """Return the text that [[name]] or [[name|label]] shows."""
    return label.strip() if label and label.strip() else name.split("#")[0].strip()


def parse_text(text: str) -> ParsedPage:
    """Return a plain text as a page: paragraphs stand between empty lines.

    A first line that stands alone, is short and does not end as a sentence does is the heading.
    """
    links = tuple(Link(match[1].strip(), wiki=True) for match in WIKI_LINK.finditer(text))
    blocks = []
    for block in re.split(r"\n[ \t]*\n", text.replace("\r\n", "\n")):
        lines = [line for line in block.splitlines() if line.strip()]
        prose_lines = [line for line in lines if not _UNDERLINE.fullmatch(line)]
        if prose_lines:
            prose_text = WIKI_LINK.sub(lambda m: wiki_text(m[1], m[2]), "\n".join(prose_lines))
            blocks.append((len(prose_lines), prose_text))
    heading = ""
    if len(blocks) > 1:
        n_lines, first = blocks[0]
        ended = first.rstrip().endswith((".", "!", ":"))
        if n_lines == 1 and len(first.split()) <= _TITLE_WORDS and not ended:
            heading = clean([first])
            del blocks[0]
    paragraph = ""
    for _, block in blocks:
        prose = Prose()
        prose.add(block)
        if paragraph := prose.text():
            break
    return ParsedPage(heading=heading, paragraph=paragraph, links=links)


_WIKI = "wiki_link"
_CONTAINER_MARKS = ("!!!", "???", ":::", "%%")
"""Begin a paragraph that is a box of MkDocs, Pandoc or VitePress, or a comment of Obsidian."""


def parse_markdown(text: str) -> ParsedPage:
    """Return the first H1, the first paragraph of prose and all links of a page.

    Prose is a paragraph outside lists and quotations. Code, tables, images, comments and HTML are
    none, nor is a paragraph of nothing but links, images and badges.
    """
    heading = paragraph = ""
    links: list[Link] = []
    before: Token | None = None
    for token in _parser().parse(text):
        children = token.children or []
        links += _links(children)
        if token.type == "html_block":
            links += links_of_fragment(token.content)
        if before is not None and before.type == "heading_open" and before.tag == "h1":
            heading = heading or clean_heading(_prose(children).parts)
        elif before is not None and before.type == "paragraph_open" and before.level == 0:
            boxed = token.content.startswith(_CONTAINER_MARKS)
            paragraph = paragraph or ("" if boxed else _prose(children).text())
        before = token
    return ParsedPage(heading=heading, paragraph=paragraph, links=tuple(links))


def _links(children: Sequence[Token]) -> list[Link]:
    links = []
    for child in children:
        if child.type == "link_open" and child.info != "auto":
            links.append(Link(str(child.attrs.get("href", ""))))
        elif child.type == _WIKI:
            links.append(Link(str(child.meta["page"]), wiki=True))
        elif child.type == "html_inline":
            links += links_of_fragment(child.content)
    return links


def _prose(children: Sequence[Token]) -> Prose:
    prose = Prose()
    depth = 0
    for child in children:
        if child.type == "link_open":
            depth += 1
        elif child.type == "link_close":
            depth -= 1
        elif child.type in ("text", "code_inline", _WIKI):
            prose.add(child.content, in_link=depth > 0 or child.type == _WIKI)
        elif child.type in ("softbreak", "hardbreak"):
            prose.add(" ")
    return prose


@cache
@naming_extras()
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.inline.ruler.before("link", _WIKI, _wiki_link)
    return parser


def _wiki_link(state: StateInline, silent: bool) -> bool:
    """Read [[Page]] and [[Page|text]]. ![[Page]], which puts the page in, links but shows none."""
    at = state.pos
    match = WIKI_LINK.match(state.src, at, state.posMax)
    if match is None:
        return False
    if not silent:
        token = state.push(_WIKI, "", 0)
        token.content = "" if match[0].startswith("!") else wiki_text(match[1], match[2])
        token.meta = {"page": match[1].strip()}
    state.pos = match.end()
    return True
