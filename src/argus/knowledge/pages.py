"""Read a folder of HTML, Markdown and text pages as entities that link to each other.

The source `--pages` of `argus research kb build`. A page gives its title, first paragraph of prose
and links. They are written as raw tables (`argus.knowledge.raw`), which `argus.knowledge.alignment`
turns into a knowledge base.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from argus.corpora.opening import visible_files
from argus.data.kb import HYPERLINK
from argus.data.texts import stream_safe
from argus.errors import InputError
from argus.extras import naming_extras
from argus.knowledge.names import without_surrogates
from argus.knowledge.raw import RawWriter
from argus.progress import progress

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

HTML = (".html", ".htm")
# Endings of pages. A page in several formats is read in the first of these.
ENDINGS = (".md", ".markdown", *HTML, ".txt")
INDEX_NAMES = ("index", "README", "readme", "_index", "Home")
# The property of hyperlinks, as of those of dumps.
LINK = "link"

_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n((?:.*\n)*?)---[ \t]*(?:\r?\n|\Z)")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
# Tags of templates, attribute lists, footnotes.
_MARKS = re.compile(r"\{[%{:#.][^{}]*+\}+|\[\^[^\[\]\s]{1,200}+\]")
# Begin a paragraph of Markdown that is a box of MkDocs, Pandoc or VitePress.
_BOXES = ("!!!", "???", ":::")
_FRAME = frozenset({"nav", "header", "footer", "aside"})
_NO_PROSE = _FRAME | set(
    re.findall(
        r"\w+",
        "table pre form figure ul ol dl menu blockquote details script style template noscript",
    )
)
_FRAME_CLASSES = frozenset(
    re.findall(
        r"[\w-]+",
        "toc toctree breadcrumb breadcrumbs hatnote navbox infobox noprint admonition metadata "
        "sidebar navigation sr-only visually-hidden",
    )
)
_NO_WORDS = "script, style, sup.reference, a.headerlink, .mw-editsection"


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it was parsed. links: addresses as they are written."""

    heading: str = ""
    title: str = ""
    description: str = ""
    paragraph: str = ""
    links: tuple[str, ...] = ()


def parse_html(text: str) -> Page:
    """Return first H1, <title>, description, first paragraph of prose and links of a page.

    Prose is a paragraph outside lists, tables, quotations, code and the frame of the site that is
    more than links, numbers and signs.
    """
    with naming_extras():
        from selectolax.lexbor import LexborHTMLParser
    tree = LexborHTMLParser(text)
    root = tree.css_first("main") or tree.css_first("article") or tree.body
    if root is None:
        return Page()
    in_body = root.tag == "body"  # an H1 in a frame of it is the site's, not the page's
    headings = (h for h in root.css("h1") if not (in_body and _is_inside(h, _FRAME)))
    title, meta = tree.css_first("title"), tree.css_first('meta[name="description"]')
    paragraphs = (p for p in root.css("p") if not _is_inside(p, _NO_PROSE))
    links = (a for a in root.css("a[href]") if not _is_inside(a, _FRAME))
    return Page(
        heading=next((_text(heading) for heading in headings), ""),
        title="" if title is None else _clean(title.text()),
        description="" if meta is None else _clean(meta.attributes.get("content") or ""),
        links=tuple(a.attributes["href"] or "" for a in links),
        paragraph=next(filter(None, map(_prose, paragraphs)), ""),  # last: it takes marks away
    )


def parse_markdown(text: str) -> Page:
    """Return the first H1, first paragraph of prose and links of a page, as of its HTML."""
    with naming_extras():
        from markdown_it import MarkdownIt

    return parse_html(MarkdownIt("commonmark").enable("table").render(text))


def _is_inside(node: LexborNode, tags: frozenset[str]) -> bool:
    """Whether a node or what holds it is hidden, in the site's frame, or one of the tags."""
    at: LexborNode | None = node
    while at is not None and at.tag != "body":
        attributes = at.attributes
        classes = (attributes.get("class") or "").lower().split() if attributes else []
        if at.tag in tags or "hidden" in attributes or attributes.get("role") == "navigation":
            return True
        if not _FRAME_CLASSES.isdisjoint(classes):
            return True
        at = at.parent
    return False


def _text(node: LexborNode) -> str:
    while (mark := node.css_first(_NO_WORDS)) is not None:
        mark.decompose()
    return _clean(node.text(separator=""))


def _prose(paragraph: LexborNode) -> str:
    """Return the text of a paragraph, "" for one of nothing but links, numbers, signs, or a box."""
    text = _text(paragraph)
    own, linked = (
        sum(map(str.isalpha, part))
        for part in (text, "".join(a.text() for a in paragraph.css("a")))
    )
    return text if own > linked and not text.startswith(_BOXES) else ""


def _clean(text: str) -> str:
    """Return text without template tags, footnote marks, soft hyphens and uneven space."""
    text = _MARKS.sub("", text).replace("\u00ad", "").replace("\u200b", "")
    return " ".join(text.split())


def split_front_matter(text: str) -> tuple[dict[str, object], str]:
    """Return the YAML values between lines of "---", and the rest. No values for broken ones."""
    import yaml

    match = _FRONT_MATTER.match(text)
    if match is None:
        return {}, text
    try:
        values = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        values = None
    return (values if isinstance(values, dict) else {}), text[match.end() :]


def resolve_link(page: str, target: str, ids: Mapping[str, str]) -> str | None:
    """Return the page that a link of `page` leads to, "" for none, None for another site.

    ids: pages by `path_key`. Paths stand beside the page or, with a first "/", in the folder, with
    or without ending.
    """
    if _SCHEME.match(target.strip()):
        return None
    path = unquote(target.strip().split("#")[0].split("?")[0])
    if not path:
        return page
    place = posixpath.normpath(posixpath.join("/", posixpath.dirname(page), path)).strip("/")
    bare, ending = posixpath.splitext(place)
    places = [place, *(f"{place}/{name}".lstrip("/") for name in INDEX_NAMES)]
    if ending.lower() in ENDINGS:
        places.insert(0, bare)
    return next((ids[key] for key in map(path_key, places) if key in ids), "")


def path_key(path: str) -> str:
    """Return a path without regard to case and Unicode form, which file systems change."""
    return unicodedata.normalize("NFC", stream_safe(path)).casefold()


def name_of(id_: str) -> str:
    """Return a file's name as words, of an index that of its folder."""
    *folders, name = id_.split("/")
    name = folders[-1] if folders and name in INDEX_NAMES else name
    words = name.replace("_", " ")
    return " ".join((words if " " in words else words.replace("-", " ")).split()) or name


@dataclass(frozen=True)
class PageFolder:
    """Pages in HTML, Markdown and plain text (read as Markdown), below `folder`.

    A page is an entity. Its id is its path without the ending, its paragraph the first of prose,
    else its description, its label the front matter's title, else the first H1, else <title>, else
    the file's name. Links between pages relate them.
    """

    folder: Path

    def inputs(self) -> dict[str, Path]:
        """Return the folder that is read."""
        return {"pages": self.folder}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations and aliases. Return counts.

        Raises InputError for a folder that is missing or holds no page that can be read.
        """
        counts: Counter[str] = Counter()
        pages = self._files(counts)
        ids = {path_key(id_): id_ for id_ in pages}
        with progress("read pages", len(pages)) as advance:
            for id_, path in pages.items():
                text = path.read_text("utf-8-sig", errors="replace")
                advance(1)
                if not text.strip():
                    counts["empty page"] += 1
                    continue
                values, body = split_front_matter(text)
                page = (parse_html if path.suffix.lower() in HTML else parse_markdown)(body)
                fields = {name: values.get(name) for name in ("title", "description")}
                own = {
                    name: _clean(without_surrogates(value)) if isinstance(value, str) else ""
                    for name, value in fields.items()
                }
                label = own["title"] or page.heading or page.title or name_of(id_)
                description = own["description"] or page.description
                paragraph = page.paragraph or description
                into.add_entity(id_, label, paragraph, description=description, article=label)
                counts["entity"] += 1
                aliases = values.get("aliases")
                names = aliases if isinstance(aliases, list) else [aliases]
                into.add_aliases(
                    id_, label, [without_surrogates(n) for n in names if isinstance(n, str)]
                )
                for target in page.links:
                    linked = resolve_link(id_, target, ids)
                    if linked:
                        into.add_relation(id_, LINK, linked, HYPERLINK)
                    if linked is not None:
                        counts["link" if linked else "dead link"] += 1
        if not counts["entity"]:
            reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items()))
            raise InputError(
                "holds no page that can be read" + (f" ({reasons})" if reasons else ""),
                expected=f"files of {', '.join(ENDINGS)}",
                fix="Give the folder that the pages are in; hidden folders are not looked into.",
                where=self.folder,
            )
        return dict(counts)

    def _files(self, counts: Counter[str]) -> dict[str, Path]:
        """Return the files of pages by id, sorted. Hidden ones, and links to folders, are not."""
        if not self.folder.is_dir():
            raise InputError(
                "is a file" if self.folder.exists() else "no such folder",
                expected=f"a folder with pages ({', '.join(ENDINGS)})",
                fix="Check the path.",
                where=self.folder,
            )
        pages: dict[str, Path] = {}
        files, others = visible_files(self.folder, ENDINGS)
        for path in files.values():
            id_ = path.relative_to(self.folder).with_suffix("").as_posix()
            pages[id_] = min(
                pages.get(id_, path), path, key=lambda p: ENDINGS.index(p.suffix.lower())
            )
        others["hidden"] = 0
        counts += Counter({"other file": others.total()})  # in place, and none where it is 0
        return dict(sorted(pages.items()))
