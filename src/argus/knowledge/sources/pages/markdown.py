"""A Markdown page: CommonMark with tables and [[wiki links]]."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from argus.extras import naming_extras
from argus.knowledge.sources.pages.html import links_of_fragment
from argus.knowledge.sources.pages.page import Link, ParsedPage, Prose, clean_heading
from argus.knowledge.sources.pages.text import WIKI_LINK, wiki_text

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

_WIKI = "wiki_link"
_CONTAINER_MARKS = ("!!!", "???", ":::", "%%")
"""Begin a paragraph that is a box of MkDocs, Pandoc or VitePress, or a comment of Obsidian."""


def parse_markdown(text: str) -> ParsedPage:
    """Return the first H1, the first paragraph of prose and all links of a page.

    Prose is a paragraph outside lists and quotations; code, tables, images, comments and HTML are
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
    """Read [[Page]] and [[Page|text]]; ![[Page]], which puts the page in, links but shows none."""
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
