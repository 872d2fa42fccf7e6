"""Bytes of a page to text, and plain text as a page."""

from __future__ import annotations

import codecs
import re

from argus.knowledge.sources.pages.page import Link, ParsedPage, Prose, clean

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
"""Encodings of https://encoding.spec.whatwg.org as Python names them; others are of no page."""

_AS_BROWSERS_READ = {
    "iso8859-1": _FALLBACK,
    "ascii": _FALLBACK,
    "utf-16": "utf-8",
    "utf-16-le": "utf-8",
    "utf-16-be": "utf-8",
}
"""What can be read as ASCII declares no UTF-16 of its own."""

WIKI_LINK = re.compile(r"!?\[\[([^\[\]|\n]+?)\\?(?:\|([^\[\]\n]*))?\]\](?![\[(])")
_UNDERLINE = re.compile(r"\s*([=\-~*#^])\1{2,}\s*")
_TITLE_WORDS = 12


def decode_text(data: bytes) -> str | None:
    """Return UTF-8, or what a byte-order mark says; None for other bytes."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _strictly(data[len(mark) :], encoding)
    return None if b"\0" in data[:4096] else _strictly(data, "utf-8")


def decode_html(data: bytes) -> tuple[str, str]:
    """Return the text as browsers read it, and a note on what was amiss, else empty.

    A byte-order mark goes before <meta charset>, that before UTF-8, that before Windows-1252.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _kindly(data[len(mark) :], encoding)
    name = _declared(data[:4096])
    if name and name != "utf-8":
        return _kindly(data, name)
    text = _strictly(data, "utf-8")
    if text is not None:
        return text, ""
    if name:
        return _kindly(data, "utf-8")
    return data.decode(_FALLBACK, "replace"), "read as Windows-1252"


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


def _kindly(data: bytes, encoding: str) -> tuple[str, str]:
    text = data.decode(encoding, "replace")
    return text, "broken characters" if "\ufffd" in text else ""


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return None


def wiki_text(name: str, label: str | None) -> str:
    """Return what [[name]] or [[name|label]] shows."""
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
    if len(blocks) > 1 and _is_heading(*blocks[0]):
        heading = clean([blocks.pop(0)[1]])
    paragraph = ""
    for _, block in blocks:
        prose = Prose()
        prose.add(block)
        paragraph = prose.text()
        if paragraph:
            break
    return ParsedPage(heading=heading, paragraph=paragraph, links=links)


def _is_heading(lines: int, text: str) -> bool:
    words = text.split()
    return lines == 1 and len(words) <= _TITLE_WORDS and not text.rstrip().endswith((".", "!", ":"))
