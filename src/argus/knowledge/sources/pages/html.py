"""Read title, text and links of an HTML page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from argus.extras import naming_extras
from argus.knowledge.sources.pages.page import Link, ParsedPage, Prose, clean, clean_heading

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


FRAME = _names("nav header footer aside")
NO_CONTENT = _names(
    """
    script style template noscript svg math iframe object canvas audio video head
    """
)
NO_PROSE = _names(
    """
    table pre form button select textarea figure ul ol dl menu blockquote details h1 h2 h3 h4 h5
    h6
    """
)
INLINE = _names(
    """
    a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark q ruby
    s samp small span strike strong sub sup time tt u var wbr
    """
)
_FRAME_CLASSES = _names(
    """
    toc toctree breadcrumb breadcrumbs hatnote navbox infobox mw-editsection headerlink noprint
    admonition metadata reference sidebar navigation sr-only visually-hidden
    """
)
_REFRESH = re.compile(r"[\s\d.]*[;,]\s*url\s*=\s*[\"']?([^\"']+)", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*+:", re.IGNORECASE)
_PATH = re.compile(rf"(?:{_SCHEME.pattern})?(?://[^/?#]*+)?([^?#]*+)", re.IGNORECASE)
"""Path of an address, even of a broken one (RFC 3986, appendix B)."""

_MAIN = ("main", "[role=main]", "article")
_LOOSE_WORDS = 5
"""A text outside <p> counts as a paragraph from this number of words on."""


def parse_html(text: str) -> ParsedPage:
    """Return <title>, first H1, first paragraph of prose, links and refresh of a page."""
    tree = _tree(text)
    root = next((n for n in (tree.css_first(s) for s in _MAIN) if n is not None), tree.body)
    if root is None:
        return ParsedPage()
    reading = _Reading(base=_base(tree))
    reading.read(root)
    title = tree.css_first("title")
    description = tree.css_first('meta[name="description"]')
    content = description.attributes.get("content") if description is not None else None
    return ParsedPage(
        heading=_heading(root),
        site_title=clean([title.text()]) if title is not None else "",
        description=clean([content or ""]),
        paragraph=reading.paragraph or reading.loose,
        links=tuple(reading.links),
        redirect=_refresh(tree),
    )


def links_of_fragment(html: str) -> list[Link]:
    """Return the links of a piece of HTML inside a Markdown page."""
    if "href" not in html:
        return []
    return [Link(node.attributes["href"] or "") for node in _tree(html).css("a[href]")]


@dataclass(slots=True)
class _Reading:
    """Walks a page's main part once, in the order of the text, for paragraphs and links."""

    base: str
    links: list[Link] = field(default_factory=list)
    paragraph: str = ""
    loose: str = ""
    _block: Prose = field(default_factory=Prose)
    _in_paragraph: bool = False

    def read(self, root: LexborNode) -> None:
        """Read the descendants of `root`. A stack, because pages may nest without end."""
        # a node, whether its text is prose, whether it is in a link, whether it ends a block
        stack: list[tuple[LexborNode | None, bool, bool, bool]] = [(root.child, True, False, False)]
        while stack:
            node, prose, linked, is_block = stack.pop()
            if node is None:
                if is_block:
                    self._end_block()
                continue
            stack.append((node.next, prose, linked, is_block))
            tag = node.tag or ""
            if node.is_text_node and prose:
                self._block.add(node.text_content or "", in_link=linked)
            if not node.is_element_node or tag in NO_CONTENT or tag in FRAME or is_frame(node):
                continue
            if tag == "a" and (target := node.attributes.get("href")):
                self.links.append(Link(_on_base(self.base, target)))
            if tag == "br":
                self._break(node)
            elif tag in INLINE:
                stack.append((node.child, prose, linked or tag == "a", False))
            else:
                self._end_block()
                self._in_paragraph = tag == "p"
                stack.append((node.child, prose and tag not in NO_PROSE, linked, True))
        self._end_block()

    def _break(self, node: LexborNode) -> None:
        """Take a line break as a space. Two of them end a paragraph that has begun."""
        before = node.prev
        while (
            before is not None and before.is_text_node and not (before.text_content or "").strip()
        ):
            before = before.prev
        if before is not None and before.tag == "br":
            in_paragraph = self._in_paragraph
            self._end_block()
            self._in_paragraph = in_paragraph
        else:
            self._block.add(" ")

    def _end_block(self) -> None:
        text = self._block.text()
        if text and self._in_paragraph:
            self.paragraph = self.paragraph or text
        elif len(text.split()) >= _LOOSE_WORDS:
            self.loose = self.loose or text
        self._block = Prose()
        self._in_paragraph = False


def is_frame(node: LexborNode) -> bool:
    """Whether an element is hidden, or by role or class is no part of the page's own text."""
    attributes = node.attributes
    if not attributes:
        return False
    classes = (attributes.get("class") or "").lower().split()
    return (
        "hidden" in attributes
        or attributes.get("role") == "navigation"
        or not _FRAME_CLASSES.isdisjoint(classes)
    )


def _heading(root: LexborNode) -> str:
    """Return the first H1: in <body>, that of a frame is the site's, not the page's."""
    frame = FRAME if root.tag == "body" else frozenset[str]()
    stack = [root]
    while stack:
        node = stack.pop()
        if node.tag == "h1":
            if heading := clean_heading(_texts(node)):
                return heading
        elif node.tag not in frame:
            stack.extend(reversed([*node.iter()]))
    return ""


def _texts(heading: LexborNode) -> Iterator[str]:
    for node in heading.traverse(include_text=True):
        if node.is_text_node and not (node.parent is not None and is_frame(node.parent)):
            yield node.text_content or ""


def _refresh(tree: LexborHTMLParser) -> str:
    for node in tree.css("meta[http-equiv]"):
        if (node.attributes.get("http-equiv") or "").lower() == "refresh":
            match = _REFRESH.match(node.attributes.get("content") or "")
            if match is not None:
                return _on_base(_base(tree), match[1].strip())
    return ""


def _base(tree: LexborHTMLParser) -> str:
    """Return the folder that <base> names. The host of it is where the site once was."""
    node = tree.css_first("base[href]")
    address = (node.attributes.get("href") or "").strip() if node is not None else ""
    path = _PATH.match(address)
    return path[1][: path[1].rfind("/") + 1] if path is not None else ""


def _on_base(base: str, target: str) -> str:
    is_path = not target.startswith(("/", "#", "?")) and _SCHEME.match(target) is None
    return base + target if base and is_path else target


def _tree(text: str) -> LexborHTMLParser:
    with naming_extras():
        from selectolax.lexbor import LexborHTMLParser
    return LexborHTMLParser(text)
