"""Open a corpus by its name: a file, a folder, a knowledge base, a vector database, or a list.

`open_corpus`: a name or documents -> `CorpusSource`, of which nothing is read yet. `read_corpus`:
the same -> `Document`s, in order. Every job reads its corpus here. A `FileFolder` has one document
a file: text, Markdown, HTML or PDF. The records of a vector database come from `stored`, with their
vectors where an encoder is there to compare those with.
"""

from __future__ import annotations

import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

from argus.corpora import Corpus, StoreCorpus, named, parse_template
from argus.data.documents import CORPUS_STEMS, check_limit, documents_in, find_file, whole_documents
from argus.data.fields import FieldNames
from argus.data.folders import MARKER, kb_file
from argus.data.provenance import content_hash, file_hash
from argus.data.reading import no_file, nothing_in, read_text, reading
from argus.data.rows import FORMATS, suffix_of
from argus.data.types import Document
from argus.errors import InputError
from argus.extras import naming_extras

if TYPE_CHECKING:
    from argus.corpora.stored import StoredCorpus
    from argus.data.kb import KnowledgeFolder
    from argus.encoders import Encoder

log = logging.getLogger(__name__)
Origin: TypeAlias = "Path | StoredCorpus | FileFolder"
"""Entry of a corpus in a manifest."""
FORM = "text in UTF-8"
_HEADING = re.compile(r"^#{1,6}[ \t]+(.+)$|^(\S.*)\n=+[ \t]*$", re.MULTILINE)
OTHERS = frozenset({"node_modules", "__pycache__"})


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
    tree.strip_tags(["script", "style", "template", "noscript", "nav"])
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


# By the ending of a file, the function that returns its heading and its text.
READERS: dict[str, Callable[[Path], tuple[str, str]]] = {
    ".txt": _text, ".md": _text, ".markdown": _text, ".html": _html, ".htm": _html, ".pdf": _pdf,
}  # fmt: skip


def document_id(file: PurePath, folder: PurePath) -> str:
    """Return the id of a file's document: its path below the folder, with / on every system."""
    return file.relative_to(folder).as_posix()


def visible_files(folder: Path, endings: Collection[str]) -> tuple[dict[str, Path], Counter[str]]:
    """Return the files of some endings below a folder by id, in order, and counts of the others.

    Hidden folders, those of packages and caches, and results of Argus are not looked into.
    """
    found, left_out = {}, Counter[str]()
    for root, folders, names in os.walk(folder):
        left_out["hidden"] += sum(name[0] == "." for name in (*folders, *names))
        folders[:] = [
            name for name in folders
            if name[0] != "." and name not in OTHERS and not Path(root, name, MARKER).exists()
        ]  # fmt: skip
        for path in (Path(root, name) for name in names if name[0] != "."):
            if path.suffix.lower() in endings and path.is_file():
                found[document_id(path, folder)] = path
            else:
                left_out[path.suffix or "without an ending"] += 1
    return dict(sorted(found.items())), left_out


@dataclass(frozen=True)
class FileFolder:
    """A folder of files as a corpus. It stands for them in a manifest.

    Hidden files, empty ones and those of other endings are left out, and a message counts them.
    """

    place: Path
    limit: int | None = None

    def files(self) -> tuple[dict[str, Path], Counter[str]]:
        """Return the files to read by id, in order, and counts of the others by kind."""
        found, left_out = visible_files(self.place, READERS)
        return dict(list(found.items())[: self.limit]), left_out

    def documents(self) -> list[Document]:
        """Read the files. The title is the first heading, else the file's name.

        Raises InputError for a file that cannot be read, is not UTF-8, or is a PDF without text,
        and where all are empty. Raises ImportError, with the extra, where HTML and PDF lack their
        library.
        """
        files, left_out = self.files()
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
        files, _ = self.files()
        sha256 = content_hash(*(id_ + file_hash(p) for id_, p in files.items()), size=32).hex()
        return {"file": str(self.place), "records": len(files), "sha256": sha256}


@dataclass(frozen=True)
class CorpusSource:
    """A corpus that was found by `open_corpus`. Its documents are not read before they are needed.

    limit: how many documents, or entities, to take of it. read: reads them. file: of rows, or
    kb.json. None for a store, for a `folder` with a file per document, and for documents of a
    program.
    """

    limit: int | None
    read: Callable[[FieldNames], list[Document]]
    file: Path | None = None
    kb: KnowledgeFolder | None = None
    stored: StoredCorpus | None = None
    folder: FileFolder | None = None

    @property
    def origin(self) -> Origin | None:
        """The file, store or folder, for a manifest. None for documents of a program."""
        return self.file or self.stored or self.folder

    def documents(self, fields: FieldNames) -> list[Document]:
        """Return the documents, in order. Raises InputError as `read_corpus` does."""
        template = parse_template(fields.template)
        self.refuse_fields(fields)
        documents = self.read(replace(fields, template=template))
        return [replace(d, template=template) for d in documents] if template else documents

    def refuse_fields(self, fields: FieldNames) -> None:
        """Raise InputError where columns are named for a knowledge base, or a folder of files."""
        columns = [name for name in (fields.id, fields.title, fields.text) if name]
        if columns and (self.kb or self.folder):
            got, expected = f"a column was named ({columns[0]!r})", "none: the corpus has its own"
            fix = "Leave it out; or give a knowledge base's entities/*.parquet as the corpus."
            where = self.folder.place if self.folder else self.file
            raise InputError(got, expected=expected, fix=fix, where=where)


def open_corpus(
    corpus: Corpus, *, limit: int | None = None, asking: Callable[[], Encoder] | None = None
) -> CorpusSource:
    """Find the corpus that a name stands for, or take documents as they are. Read none of it yet.

    asking: opens the encoder to compare the vectors of a store with. None where its texts are
    enough. Raises InputError for a name that stands for nothing, an unfinished knowledge base,
    documents that repeat an id or hold half a character, and a limit below 1.
    """
    check_limit(limit)
    if not isinstance(corpus, (str, Path, StoreCorpus)):
        documents = list(whole_documents(tuple(corpus)[:limit]))
        return CorpusSource(limit, lambda _: documents)
    place = named(corpus)
    if isinstance(place, StoreCorpus):
        from argus.corpora.stored import StoredCorpus

        stored = StoredCorpus(place, limit, asking)
        return CorpusSource(limit, stored.documents, stored=stored)
    if kb_file(place):
        from argus.data.kb import KnowledgeFolder

        kb = KnowledgeFolder.open(place)
        return CorpusSource(limit, lambda _: kb.documents(limit), kb.file, kb)
    if rows := place if place.is_file() else find_file(place, CORPUS_STEMS):
        return CorpusSource(limit, lambda fields: documents_in(rows, fields, limit=limit), rows)
    inside = [path for path in place.iterdir() if path.is_file()] if place.is_dir() else []
    is_other = any(path.name == MARKER or suffix_of(path) in FORMATS for path in inside)
    folder = FileFolder(place, limit)
    if not is_other and folder.files()[0]:
        return CorpusSource(limit, lambda _: folder.documents(), folder=folder)
    got, fix = "no such file or folder", "Check the path."
    if place.exists():
        got = "the folder holds no corpus file" if place.is_dir() else no_file(place)
        fix = "Give the file itself, or name it corpus.jsonl; a knowledge base holds kb.json."
    expected = f"a {', '.join(FORMATS)} file, a folder with one that is named "
    expected += f"{' or '.join(CORPUS_STEMS)}, or a folder of {', '.join(READERS)} files"
    raise InputError(got, expected=expected, fix=fix, where=place)


def read_corpus(
    corpus: Corpus, fields: FieldNames | None = None, *, limit: int | None = None
) -> list[Document]:
    """Read documents, in order: of a knowledge base its paragraphs, of a store its records.

    Fields other than id, title and text become metadata. Raises InputError as `open_corpus`,
    `argus.data.documents.documents_in` and `StoredCorpus.documents` do.
    """
    return open_corpus(corpus, limit=limit).documents(fields or FieldNames())
