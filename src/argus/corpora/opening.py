"""Open a corpus by its name: a file, a folder, a knowledge base, a vector database, or a list.

`open_corpus`: a name or documents -> `CorpusSource`, of which nothing is read yet. `read_corpus`:
the same -> `Document`s, in order. Every job reads its corpus here. The records of a vector database
come from `stored`, with their vectors where an encoder is there to compare those with.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from argus.corpora import Corpus, StoreCorpus, named, parse_template
from argus.corpora.files import READERS, FileFolder
from argus.data.documents import CORPUS_STEMS, check_limit, documents_in, find_file, whole_documents
from argus.data.fields import FieldNames
from argus.data.folders import kb_file
from argus.data.reading import no_file
from argus.data.rows import FORMATS
from argus.data.types import Document
from argus.errors import InputError

if TYPE_CHECKING:
    from argus.corpora.stored import Embeds, StoredCorpus
    from argus.data.kb import KnowledgeFolder

Origin: TypeAlias = "Path | StoredCorpus | FileFolder"
"""Entry of a corpus in a manifest."""


@dataclass(frozen=True)
class CorpusSource:
    """A corpus that was found by `open_corpus`. Nothing of it is read before it is needed.

    limit: how many documents, or entities, to take of it. file: of rows, or kb.json. None for a
    store, for a `folder` with a file per document, and for documents of a program, `in_memory`.
    """

    limit: int | None
    file: Path | None = None
    is_kb: bool = False
    stored: StoredCorpus | None = None
    folder: FileFolder | None = None
    in_memory: tuple[Document, ...] = ()

    @property
    def origin(self) -> Origin | None:
        """The file, store or folder, for a manifest. None for documents of a program."""
        return self.file or self.stored or self.folder

    @cached_property
    def kb(self) -> KnowledgeFolder | None:
        """The knowledge base. None for another corpus."""
        if self.file is None or not self.is_kb:
            return None
        from argus.data.kb import KnowledgeFolder

        return KnowledgeFolder.open(self.file)

    def documents(self, fields: FieldNames) -> list[Document]:
        """Return the documents, in order. Raises InputError as `read_corpus` does."""
        if self.stored is not None:
            return self.stored.documents(fields)
        template = parse_template(fields.template)
        self.refuse_fields(fields)
        if self.kb is not None:
            documents = self.kb.documents(self.limit)
        elif self.folder is not None:
            documents = self.folder.documents()
        elif self.file is not None:
            documents = documents_in(self.file, fields, limit=self.limit)
        else:
            documents = list(self.in_memory)
        return [replace(d, template=template) for d in documents] if template else documents

    def refuse_fields(self, fields: FieldNames) -> None:
        """Raise InputError where columns are named for a knowledge base, or a folder of files."""
        columns = [name for name in (fields.id, fields.title, fields.text) if name]
        if columns and (self.is_kb or self.folder):
            got, expected = f"a column was named ({columns[0]!r})", "none: the corpus has its own"
            fix = "Leave it out; or give a knowledge base's entities/*.parquet as the corpus."
            where = self.folder.place if self.folder else self.file
            raise InputError(got, expected=expected, fix=fix, where=where)


def open_corpus(
    corpus: Corpus, *, limit: int | None = None, asking: Callable[[], Embeds] | None = None
) -> CorpusSource:
    """Find the corpus that a name stands for, or take documents as they are. Read nothing yet.

    asking: opens the encoder to compare the vectors of a store with. None where its texts are
    enough. Raises InputError for a name that stands for nothing, an unfinished knowledge base,
    documents that repeat an id or hold half a character, and a limit below 1.
    """
    check_limit(limit)
    if not isinstance(corpus, (str, Path, StoreCorpus)):
        return CorpusSource(limit, in_memory=whole_documents(tuple(corpus)[:limit]))
    place = named(corpus)
    if isinstance(place, StoreCorpus):
        from argus.corpora.stored import StoredCorpus

        return CorpusSource(limit, stored=StoredCorpus(place, limit, asking))
    rows = place if place.is_file() else find_file(place, CORPUS_STEMS)
    if knowledge := kb_file(place):
        return CorpusSource(limit, knowledge, is_kb=True)
    if rows is not None:
        return CorpusSource(limit, rows)
    if place.is_dir() and (folder := FileFolder(place, limit)).is_corpus:
        return CorpusSource(limit, folder=folder)
    got, fix = "no such file or folder", "Check the path."
    expected = f"a JSONL, CSV, TSV or Parquet file, or a folder of {', '.join(READERS)}"
    if place.exists():
        got = "the folder holds no corpus file" if place.is_dir() else no_file(place)
        expected = (
            f"files of {', '.join(READERS)}, or {' or '.join(CORPUS_STEMS)} with an ending of "
        )
        expected += ", ".join(FORMATS)
        fix = "Give the file itself, or name it corpus.jsonl; a knowledge base holds kb.json."
    raise InputError(got, expected=expected, fix=fix, where=place)


def read_corpus(
    corpus: Corpus, fields: FieldNames | None = None, *, limit: int | None = None
) -> list[Document]:
    """Read documents, in order: of a knowledge base its paragraphs, of a store its records.

    Fields other than id, title and text become metadata. Raises InputError as `open_corpus`,
    `argus.data.documents.documents_in` and `StoredCorpus.documents` do.
    """
    return open_corpus(corpus, limit=limit).documents(fields or FieldNames())


def corpus_file(path: Path) -> Path:
    """Return the corpus file that `path` (a file, or a folder) stands for.

    Of a BEIR-like folder it is corpus.jsonl or the like; of a knowledge base, kb.json. Raises
    InputError where there is none, and for a knowledge base that was not finished.
    """
    return open_corpus(path).file or path
