"""Where a link of a page leads: to a page of the folder, out of it, or nowhere."""

from __future__ import annotations

import os
import posixpath
import re
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from argus.data.texts import stream_safe
from argus.knowledge.sources.pages.page import Link
from argus.knowledge.sources.pages.walk import ENDINGS, PageFile

INDEX_NAMES = ("index", "README", "readme", "_index", "Home")
REDIRECT_STEPS = 8
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_WORD_BREAKS = re.compile(r"[\s_-]+")


class LinkResolver:
    """Finds the page that a link means; `resolve` returns an id, or a reason why there is none.

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
        """Take a title or an alias of a page for wiki links; the first that has a name keeps it."""
        self._names.setdefault(_name_key(name), id_)

    def add_former_path(self, path: str, id_: str) -> None:
        """Take a path at which a page once was."""
        key = _composed(_without_ending(unquote(path).strip("/")))
        self._ids.setdefault(key, id_)
        self._folded.setdefault(key.casefold(), id_)

    def add_redirect(self, id_: str, link: Link) -> str:
        """Take that a page leads on to `link`; return a reason where that is no other page."""
        target, reason = self._target(id_, link)
        if target is None or target == id_:
            return reason or "link to the same page"
        self._redirects[id_] = target
        return ""

    def redirect_of(self, id_: str) -> str | None:
        """Return the page that a redirect leads to in the end; None for others, and for loops."""
        at, steps = id_, 0
        while at in self._redirects and steps < REDIRECT_STEPS:
            at, steps = self._redirects[at], steps + 1
        return None if steps == 0 or at in self._redirects else at

    def is_lost(self, id_: str) -> bool:
        """Whether a page is a redirect that goes in a loop, or on for more than 8 steps."""
        return id_ in self._redirects and self.redirect_of(id_) is None

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
            for place in self._places(page, spelling, wiki=wiki):
                id_ = self._at(place)
                if id_ is not None:
                    return id_
            if wiki:
                id_ = self._names.get(_name_key(_without_ending(spelling)))
                if id_ is not None:
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
        for candidate in candidates:
            if candidate in self._ids:
                return self._ids[candidate]
        for candidate in candidates:
            if candidate.casefold() in self._folded:
                return self._folded[candidate.casefold()]
        return None

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
