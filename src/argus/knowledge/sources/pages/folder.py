"""A folder of pages that link to each other: a company's wiki, an exported site, notes."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO
from urllib.parse import unquote

from argus.data.kb import HYPERLINK
from argus.errors import InputError
from argus.knowledge.sources.pages.front_matter import split_front_matter
from argus.knowledge.sources.pages.html import parse_html
from argus.knowledge.sources.pages.labels import label_of, name_of, site_suffixes
from argus.knowledge.sources.pages.links import LinkResolver
from argus.knowledge.sources.pages.markdown import parse_markdown
from argus.knowledge.sources.pages.page import Link, ParsedPage, with_front_matter
from argus.knowledge.sources.pages.text import (
    decode_html,
    decode_text,
    parse_text,
)
from argus.knowledge.sources.pages.walk import ENDINGS, HTML, MARKDOWN, PageFile, page_files
from argus.knowledge.sources.raw import RawWriter
from argus.progress import progress

LINK = "link"
"""The property of hyperlinks, as of those of dumps."""


@dataclass(frozen=True)
class PageFolder:
    """Pages in HTML, Markdown and plain text, below `folder`.

    A page is an entity: its id is its path without the ending, its label the title, its paragraph
    the first of prose; links between pages relate them. Redirects (of front matter, or by
    <meta http-equiv="refresh">) are followed and become aliases. max_bytes: larger files are left
    out.
    """

    folder: Path
    max_bytes: int = 10_000_000

    def inputs(self) -> dict[str, Path]:
        """Return the folder that is read."""
        return {"pages": self.folder}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations, aliases and redirects; return counts per reason.

        Raises InputError for a folder that is missing or holds no page that can be read.
        """
        if not self.folder.is_dir():
            raise InputError(
                "is a file" if self.folder.exists() else "no such folder",
                expected=f"a folder with pages ({', '.join(ENDINGS)})",
                fix="Check the path.",
                where=self.folder,
            )
        into.start_over()
        counts: Counter[str] = Counter()
        files = page_files(self.folder, counts, max_bytes=self.max_bytes)
        with TemporaryFile(dir=into.work) as spool:
            index = _Index()
            with progress("read pages", len(files)) as advance:
                for file in files:
                    page = _read(self.folder / file.path, counts)
                    if page is not None:
                        pickle.dump(page, spool)
                        index.take(file, page)
                    advance(1)
            if not index.files:
                raise _no_page(self.folder, counts)
            resolver = index.resolver(self.folder, counts)
            for file, page in zip(index.files, _unspooled(spool, len(index.files)), strict=True):
                _write_page(file.id, page, index.labels, resolver, into, counts)
        return dict(+counts)


@dataclass(slots=True)
class _Index:
    """What has to be known of all pages before any can be written: not their text or links."""

    files: list[PageFile] = field(default_factory=list)
    heads: list[ParsedPage] = field(default_factory=list)
    labels: dict[str, str] = field(default_factory=dict)

    def take(self, file: PageFile, page: ParsedPage) -> None:
        self.files.append(file)
        self.heads.append(replace(page, paragraph="", description="", links=()))

    def resolver(self, folder: Path, counts: Counter[str]) -> LinkResolver:
        """Return what finds pages, with their labels, other names, former paths and redirects."""
        suffixes = site_suffixes(head.site_title for head in self.heads)
        resolver = LinkResolver(folder, self.files)
        pairs = list(zip(self.files, self.heads, strict=True))
        for file, head in pairs:
            self.labels[file.id] = label_of(head, file.id, suffixes)
            resolver.add_name(self.labels[file.id], file.id)
        for file, head in pairs:
            for alias in head.aliases:
                resolver.add_name(alias, file.id)
            for path in head.moved_from:
                resolver.add_former_path(path, file.id)
        redirects = [(file, head) for file, head in pairs if head.redirect]
        for file, head in redirects:
            if resolver.add_redirect(file.id, Link(head.redirect)):
                counts["redirect to no page"] += 1
        counts["redirect loop"] += sum(resolver.is_lost(file.id) for file, _ in redirects)
        return resolver


def _read(path: Path, counts: Counter[str]) -> ParsedPage | None:
    """Return the page, None (counted) for what cannot be read."""
    try:
        data = path.read_bytes()
    except OSError:
        counts["cannot be read"] += 1
        return None
    suffix = path.suffix.lower()
    note = ""
    if suffix in HTML:
        text: str | None
        text, note = decode_html(data)
    else:
        text = decode_text(data)
    if text is None or not text.strip():
        counts["empty page" if text is not None else "not UTF-8"] += 1
        return None
    values, body, amiss = split_front_matter(text)
    parse = parse_html if suffix in HTML else parse_markdown if suffix in MARKDOWN else parse_text
    for reason in filter(None, (note, amiss)):
        counts[reason] += 1
    return with_front_matter(parse(body), values)


def _unspooled(spool: IO[bytes], n: int) -> Iterator[ParsedPage]:
    spool.seek(0)
    for _ in range(n):
        yield pickle.load(spool)


def _write_page(
    id_: str,
    page: ParsedPage,
    labels: dict[str, str],
    resolver: LinkResolver,
    into: RawWriter,
    counts: Counter[str],
) -> None:
    label = labels[id_]
    target = resolver.redirect_of(id_)
    if target is not None:
        into.add_redirect(label, labels[target], target)
        _add_aliases((label, *page.aliases), target, labels[target], "redirect", into)
        counts["redirect"] += 1
        return
    into.add_entity(id_, label, page.paragraph, description=page.description, article=label)
    counts["entity"] += 1
    _add_aliases(page.aliases, id_, label, "alias", into)
    for path in page.moved_from:
        into.add_redirect(path, label, id_)
        _add_aliases((name_of(_id_of(path)),), id_, label, "redirect", into)
        counts["former path"] += 1
    for link in page.links:
        linked, reason = resolver.resolve(id_, link)
        if linked is not None:
            into.add_relation(id_, LINK, linked, HYPERLINK)
        counts[reason or "link"] += 1


def _add_aliases(
    aliases: Sequence[str], id_: str, label: str, source: str, into: RawWriter
) -> None:
    for alias in dict.fromkeys(aliases):
        if alias and alias != label:
            into.add_alias(id_, alias, source)


def _id_of(path: str) -> str:
    path = unquote(path).strip("/")
    return next((path.removesuffix(end) for end in ENDINGS if path.endswith(end)), path)


def _no_page(folder: Path, counts: Counter[str]) -> InputError:
    reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items()))
    return InputError(
        "holds no page that can be read" + (f" ({reasons})" if reasons else ""),
        expected=f"files of {', '.join(ENDINGS)}",
        fix="Give the folder that the pages are in; hidden folders are not looked into.",
        where=folder,
    )
