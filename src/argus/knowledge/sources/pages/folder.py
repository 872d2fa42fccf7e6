"""Read a folder of pages as entities that link to each other."""

from __future__ import annotations

import os
import pickle
import posixpath
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import NamedTuple
from urllib.parse import unquote

from argus.data.kb import HYPERLINK
from argus.data.texts import stream_safe
from argus.errors import InputError
from argus.knowledge.sources.pages.html import parse_html
from argus.knowledge.sources.pages.page import Link, ParsedPage, spelled_out, with_front_matter
from argus.knowledge.sources.pages.text import (
    decode_html,
    decode_text,
    parse_markdown,
    parse_text,
    split_front_matter,
)
from argus.knowledge.sources.raw import RawWriter
from argus.progress import progress

MARKDOWN = (".md", ".markdown")
HTML = (".html", ".htm")
ENDINGS = (*MARKDOWN, *HTML, ".txt")
"""Endings of pages. A page in several formats is read in the first of these."""

LEFT_OUT_FOLDERS = frozenset({"node_modules", "__pycache__"})


class PageFile(NamedTuple):
    """A page's file: its path in the folder with "/", and the same without its ending, the id."""

    path: str
    id: str


def page_files(folder: Path, counts: Counter[str], *, max_bytes: int) -> list[PageFile]:
    """Return the pages of a folder, sorted by id. Other files are counted by reason.

    Hidden files and folders are left out, and links to folders, so that no loop can be entered.
    """
    by_id: dict[str, str] = {}
    for path in _files(folder, counts):
        stem, suffix = posixpath.splitext(path)
        if suffix.lower() not in ENDINGS:
            counts["other ending"] += 1
        elif reason := _refusal(folder / path, max_bytes):
            counts[reason] += 1
        else:
            if stem in by_id:
                counts["same page in another format"] += 1
            by_id[stem] = min(
                by_id.get(stem, path), path, key=lambda one: (ENDINGS.index(_suffix(one)), one)
            )
    return [PageFile(by_id[id_], id_) for id_ in sorted(by_id)]


def _suffix(path: str) -> str:
    return posixpath.splitext(path)[1].lower()


def _files(folder: Path, counts: Counter[str]) -> Iterator[str]:
    def unreadable(_: OSError) -> None:
        counts["folder cannot be read"] += 1

    for root, folders, names in os.walk(folder, onerror=unreadable):
        for name in sorted(folders):
            hidden = name.startswith(".") or name in LEFT_OUT_FOLDERS
            if hidden or (Path(root) / name).is_symlink():
                counts["hidden folder" if hidden else "link to a folder"] += 1
                folders.remove(name)
        folders.sort()
        for name in sorted(names):
            if name.startswith("."):
                counts["hidden file"] += 1
            else:
                yield (Path(root) / name).relative_to(folder).as_posix()


def _refusal(path: Path, max_bytes: int) -> str:
    try:
        str(path).encode("utf-8")
        if not path.is_file():
            return "no regular file"
        return "too large" if path.stat().st_size > max_bytes else ""
    except UnicodeEncodeError:
        return "file name is not UTF-8"
    except OSError:
        return "cannot be read"


INDEX_NAMES = ("index", "README", "readme", "_index", "Home")
REDIRECT_STEPS = 8
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_WORD_BREAKS = re.compile(r"[\s_-]+")


class LinkResolver:
    """Finds the page that a link means. `resolve` returns an id, or a reason why there is none.

    Paths are looked up as they are written first, then without regard to case. Names of pages are
    in order: a path from the page or from the folder, a file's name anywhere, a title, an alias.
    """

    def __init__(self, folder: Path, files: Iterable[PageFile]) -> None:
        self._folder = folder
        self._ids: dict[str, str] = {}
        self._folded: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._redirects: dict[str, str] = {}
        files = list(files)
        for file in files:
            self._ids[_composed(file.id)] = file.id
            self._folded.setdefault(_composed(file.id).casefold(), file.id)
        for file in sorted(files, key=lambda f: (f.id.count("/"), f.id)):
            self.add_name(posixpath.basename(file.id), file.id)

    def add_name(self, name: str, id_: str) -> None:
        """Take a title or an alias of a page for wiki links. The first that has a name keeps it."""
        self._names.setdefault(_name_key(name), id_)

    def add_former_path(self, path: str, id_: str) -> None:
        """Take a path at which a page once was."""
        key = _composed(_without_ending(unquote(path).strip("/")))
        self._ids.setdefault(key, id_)
        self._folded.setdefault(key.casefold(), id_)

    def add_redirect(self, id_: str, link: Link) -> bool:
        """Take that a page leads on to `link`. Return whether that is another page."""
        target, _ = self._target(id_, link)
        if target is None or target == id_:
            return False
        self._redirects[id_] = target
        return True

    def redirect_of(self, id_: str) -> str | None:
        """Return the page that a redirect leads to in the end. None for others, and for loops."""
        at, steps = id_, 0
        while at in self._redirects and steps < REDIRECT_STEPS:
            at, steps = self._redirects[at], steps + 1
        return None if steps == 0 or at in self._redirects else at

    def loops(self) -> int:
        """Return how many redirects go in a loop, or on for more than 8 steps."""
        return sum(self.redirect_of(id_) is None for id_ in self._redirects)

    def resolve(self, page: str, link: Link) -> tuple[str | None, str]:
        """Return the id of the page that `link` of `page` leads to, or None and the reason."""
        target, reason = self._target(page, link)
        return (None if target is None else self.redirect_of(target) or target), reason

    def _target(self, page: str, link: Link) -> tuple[str | None, str]:
        target = link.target.strip()
        if not link.wiki and _SCHEME.match(target):
            return None, "external link"
        path = target.split("#")[0]
        path = path if link.wiki else path.split("?")[0]
        if not path.strip():
            return None, "link to the same page"
        id_ = self._find(page, path, wiki=link.wiki)
        if id_ is not None:
            return id_, ""
        if not link.wiki and self._is_file(page, path):
            return None, "link to a file that is no page"
        return None, "dead link"

    def _find(self, page: str, path: str, *, wiki: bool) -> str | None:
        for spelling in dict.fromkeys((unquote(path), path)):
            found = [self._at(place) for place in self._places(page, spelling, wiki=wiki)]
            if wiki:
                found.append(self._names.get(_name_key(_without_ending(spelling))))
            if (id_ := next((one for one in found if one is not None), None)) is not None:
                return id_
        return None

    def _places(self, page: str, path: str, *, wiki: bool) -> Iterator[str]:
        path = path.replace("\\", "/")
        end = "/" if posixpath.basename(path) in ("", ".", "..") else ""
        if not path.startswith("/"):
            beside = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
            if not beside.startswith(".."):
                yield beside + end
        if wiki or path.startswith("/"):
            yield posixpath.normpath(f"/{path}").strip("/") + end

    def _at(self, place: str) -> str | None:
        candidates = list(_candidates(_composed(place)))
        exact = (self._ids.get(candidate) for candidate in candidates)
        folded = (self._folded.get(candidate.casefold()) for candidate in candidates)
        return next((id_ for id_ in chain(exact, folded) if id_ is not None), None)

    def _is_file(self, page: str, path: str) -> bool:
        places = self._places(page, unquote(path), wiki=False)
        try:
            return any(os.path.lexists(self._folder / place.rstrip("/")) for place in places)
        except (OSError, ValueError):  # a name that is too long, or holds a zero
            return False


def _candidates(place: str) -> Iterator[str]:
    """Yield the ids that a path may mean: a file, a page without its ending, a folder's index."""
    bare = place.strip("/")
    bare = "" if bare == "." else bare
    indexes = [f"{bare}/{name}" if bare else name for name in INDEX_NAMES]
    if place.endswith("/") or not bare:
        yield from indexes
        yield bare
    else:
        if _without_ending(bare) != bare:
            yield _without_ending(bare)
        yield bare
        yield from indexes


def _without_ending(path: str) -> str:
    stem, suffix = posixpath.splitext(path)
    return stem if suffix.lower() in ENDINGS else path


def _name_key(name: str) -> str:
    return _WORD_BREAKS.sub(" ", _composed(name)).strip().casefold()


def _composed(text: str) -> str:
    """Return the text in Unicode's composed form: file systems decompose what links compose."""
    return unicodedata.normalize("NFC", stream_safe(text))


_SIGN = r"(?:[-–—|·•»«/]|::)"
_LAST_PART = re.compile(rf"(?<!\s)\s++{_SIGN}\s++(?:(?!\s{_SIGN}\s).)++\Z")
MIN_TITLES = 3
MOST_SUFFIXES = 8
"""A site adds its name and a few sections. More are taken for a part of the titles."""


def site_suffixes(titles: Iterable[str]) -> list[str]:
    """Return the endings, like " - Acme Wiki", that more than half of the titles share.

    They are in the order in which they are to be cut: a title may end in several, at most
    `MOST_SUFFIXES`.
    """
    stems = [title for title in titles if title]
    majority = max(MIN_TITLES, len(stems) // 2 + 1)
    suffixes: list[str] = []
    while len(suffixes) < MOST_SUFFIXES:
        ends = Counter(match[0] for title in stems if (match := _LAST_PART.search(title)))
        best = max(ends, key=lambda end: (ends[end], end), default="")
        if not best or ends[best] < majority:
            break
        suffixes.append(best)
        stems = [title.removesuffix(best) for title in stems]
    return suffixes


def name_of(id_: str) -> str:
    """Return the name of a page's file as words."""
    parts = id_.split("/")
    if len(parts) > 1 and parts[-1] in INDEX_NAMES:
        parts.pop()
    return spelled_out(parts[-1])


LINK = "link"
"""The property of hyperlinks, as of those of dumps."""


@dataclass(frozen=True)
class PageFolder:
    """Pages in HTML, Markdown and plain text, below `folder`.

    A page is an entity. Its id is its path without the ending, its paragraph the first of prose,
    its label the front matter's title, else the first H1, else <title> without the part that the
    site adds, else the file's name. Links between pages relate them. Redirects (of front matter, or
    by <meta http-equiv="refresh">) are followed and become aliases. max_bytes: larger files are
    left out.
    """

    folder: Path
    max_bytes: int = 10_000_000

    def inputs(self) -> dict[str, Path]:
        """Return the folder that is read."""
        return {"pages": self.folder}

    def write(self, into: RawWriter) -> dict[str, int]:
        """Write entities, relations, aliases and redirects. Return counts per reason.

        Raises InputError for a folder that is missing or holds no page that can be read.
        """
        if not self.folder.is_dir():
            raise InputError(
                "is a file" if self.folder.exists() else "no such folder",
                expected=f"a folder with pages ({', '.join(ENDINGS)})",
                fix="Check the path.",
                where=self.folder,
            )
        counts: Counter[str] = Counter()
        files = page_files(self.folder, counts, max_bytes=self.max_bytes)
        heads: dict[PageFile, ParsedPage] = {}  # what is needed of all pages before any is written
        with TemporaryFile(dir=into.work) as spool:
            with progress("read pages", len(files)) as advance:
                for file in files:
                    page = _read(self.folder / file.path, counts)
                    if page is not None:
                        pickle.dump(page, spool)
                        heads[file] = replace(page, paragraph="", description="", links=())
                    advance(1)
            if not heads:
                reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(counts.items()))
                raise InputError(
                    "holds no page that can be read" + (f" ({reasons})" if reasons else ""),
                    expected=f"files of {', '.join(ENDINGS)}",
                    fix="Give the folder that the pages are in; hidden folders are not looked "
                    "into.",
                    where=self.folder,
                )
            resolver, labels = _resolver(self.folder, heads, counts)
            spool.seek(0)
            for file in heads:
                _write_page(file.id, pickle.load(spool), labels, resolver, into, counts)
        return dict(+counts)


def _resolver(
    folder: Path, heads: Mapping[PageFile, ParsedPage], counts: Counter[str]
) -> tuple[LinkResolver, dict[str, str]]:
    """Return a finder of pages by other names, former paths and redirects, and labels by id."""
    suffixes = site_suffixes(head.site_title for head in heads.values())
    resolver = LinkResolver(folder, heads)
    labels = {}
    for file, head in heads.items():
        site_title = head.site_title
        for suffix in suffixes:
            site_title = site_title.removesuffix(suffix)
        labels[file.id] = head.title or head.heading or site_title or name_of(file.id)
        resolver.add_name(labels[file.id], file.id)
    for file, head in heads.items():
        for alias in head.aliases:
            resolver.add_name(alias, file.id)
        for path in head.moved_from:
            resolver.add_former_path(path, file.id)
    for file, head in heads.items():
        if head.redirect and not resolver.add_redirect(file.id, Link(head.redirect)):
            counts["redirect to no page"] += 1
    counts["redirect loop"] += resolver.loops()
    return resolver, labels


def _read(path: Path, counts: Counter[str]) -> ParsedPage | None:
    """Return the page, None (counted) if it cannot be read."""
    try:
        data = path.read_bytes()
    except OSError:
        counts["cannot be read"] += 1
        return None
    suffix, note = path.suffix.lower(), ""
    text = decode_text(data) if suffix not in HTML else ""
    if suffix in HTML:
        text, note = decode_html(data)
    if text is None or not text.strip():
        counts["empty page" if text is not None else "not UTF-8"] += 1
        return None
    values, body, amiss = split_front_matter(text)
    parse = parse_html if suffix in HTML else parse_markdown if suffix in MARKDOWN else parse_text
    counts.update(filter(None, (note, amiss)))
    return with_front_matter(parse(body), values)


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
        bare = unquote(path).strip("/")
        former = next((bare.removesuffix(end) for end in ENDINGS if bare.endswith(end)), bare)
        _add_aliases((name_of(former),), id_, label, "redirect", into)
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
