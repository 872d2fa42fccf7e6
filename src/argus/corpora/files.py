"""Read a folder of text, Markdown, HTML and PDF files as a corpus: one document a file.

`FileFolder`: a folder -> `Document`s, whose ids are paths below it. Hidden files, empty ones and
those of other endings are left out, and a message counts them.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

from argus.data.documents import whole_documents
from argus.data.folders import MARKER
from argus.data.provenance import content_hash, file_hash
from argus.data.reading import nothing_in, read_text, reading
from argus.data.rows import FORMATS, suffix_of
from argus.data.types import Document
from argus.errors import InputError
from argus.extras import naming_extras

log = logging.getLogger(__name__)
FORM = "text in UTF-8"
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
OTHERS = frozenset({"node_modules", "__pycache__"})
_NO_TEXT = ["script", "style", "template", "noscript", "nav"]  # tags


def _text(path: Path) -> tuple[str, str]:
    text = read_text(path, FORM)
    heading = _HEADING.search(text)
    return (heading[1] or heading[2]).rstrip(" \t#") if heading else "", text


def _html(path: Path) -> tuple[str, str]:
    with naming_extras():
        from selectolax.lexbor import LexborHTMLParser
    tree = LexborHTMLParser(read_text(path, FORM))
    heading = tree.css_first("h1") or tree.css_first("title")
    title = "" if heading is None else heading.text()
    tree.strip_tags(_NO_TEXT)
    text = "" if tree.body is None else tree.body.text(separator=" ")
    return " ".join(title.split()), " ".join(text.split())


def _pdf(path: Path) -> tuple[str, str]:
    with naming_extras():
        from pypdf import PdfReader
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # the error below says all
    fix = "Export it as PDF again, whole and without a password; or move it out of the folder."
    with reading(path, "cannot be read", expected="a PDF", fix=fix):
        text = "\n".join(page.extract_text() for page in PdfReader(path).pages)
    if not text.strip():
        fix = f"Recognise it (ocrmypdf {path.name} {path.name}), or move it out of the folder."
        raise InputError("no text in it", expected="a PDF with text", fix=fix, where=path)
    return "", text


READERS: dict[str, Callable[[Path], tuple[str, str]]] = {
    ".txt": _text, ".md": _text, ".markdown": _text, ".html": _html, ".htm": _html, ".pdf": _pdf,
}  # fmt: skip
"""By the ending of a file, the function that returns its heading and its text."""


def visible_files(folder: Path, endings: Collection[str], left_out: Counter[str]) -> list[Path]:
    """Return the files of some endings below a folder. left_out: counts the others by kind.

    Hidden folders, those of packages and caches, and results of Argus are not looked into.
    """
    found = []
    for root, folders, names in os.walk(folder):
        left_out["hidden"] += sum(name[0] == "." for name in (*folders, *names))
        folders[:] = [
            name for name in folders
            if name[0] != "." and name not in OTHERS and not Path(root, name, MARKER).exists()
        ]  # fmt: skip
        for path in (Path(root, name) for name in names if name[0] != "."):
            if path.suffix.lower() in endings and path.is_file():
                found.append(path)
            else:
                left_out[path.suffix or "without an ending"] += 1
    return found


def document_id(file: PurePath, folder: PurePath) -> str:
    """Return the id of a file's document: its path below the folder, with / on every system."""
    return file.relative_to(folder).as_posix()


@dataclass(frozen=True)
class FileFolder:
    """A folder of files as a corpus. It stands for them in a manifest."""

    place: Path
    limit: int | None = None

    @property
    def is_corpus(self) -> bool:
        """Whether it holds a file to read, and beside it no table and no results of Argus."""
        names = [path for path in self.place.iterdir() if path.is_file()]
        is_other = any(path.name == MARKER or suffix_of(path) in FORMATS for path in names)
        return not is_other and bool(self.files(Counter()))

    def files(self, left_out: Counter[str]) -> dict[str, Path]:
        """Return the files to read by id, in order. left_out: counts the others by kind."""
        found = visible_files(self.place, READERS, left_out)
        ids = {document_id(path, self.place): path for path in found}
        return dict(sorted(ids.items())[: self.limit])

    def documents(self) -> list[Document]:
        """Read the files. The title is the first heading, else the file's name.

        Raises InputError for a file that cannot be read, is not UTF-8, or is a PDF without text,
        and where all are empty. Raises ImportError, with the extra, where HTML and PDF lack their
        library.
        """
        left_out: Counter[str] = Counter()
        files = self.files(left_out)
        read = {id_: READERS[path.suffix.lower()](path) for id_, path in files.items()}
        documents = [
            Document(id_, text, title or files[id_].stem)
            for id_, (title, text) in read.items() if text.strip()
        ]  # fmt: skip
        left_out["empty"] = len(read) - len(documents)
        if not documents:
            raise nothing_in(self.place, "text")
        if others := ", ".join(f"{n:,} {kind}" for kind, n in left_out.items() if n):
            log.info("%s: %d files are read; left out: %s", self.place, len(documents), others)
        return list(whole_documents(tuple(documents)))

    def describe(self) -> dict[str, Any]:
        """Return name, number of files and hash of all, for a manifest."""
        files = self.files(Counter())
        sha256 = content_hash(*(id_ + file_hash(p) for id_, p in files.items()), size=32).hex()
        return {"file": str(self.place), "records": len(files), "sha256": sha256}
