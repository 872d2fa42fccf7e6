"""Read sources and the chunks of an index, and find which source a chunk names.

`read_sources`: a folder, a table or documents -> `Sources`. A file that cannot be read is told, and
stops nothing. `read_chunks`: a store, a table or documents -> `Chunks`. `names_of`: paths, or parts
of paths, in the chunks' payload -> rows of sources.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow.parquet as pq

from argus.corpora import Corpus, StoreCorpus, named
from argus.corpora.opening import READERS, FileFolder, Origin, open_corpus, visible_files
from argus.corpora.stored import read_records
from argus.data.documents import CORPUS_STEMS, documents_in, find_file
from argus.data.fields import FieldNames, FieldPath, payload_values, seconds
from argus.data.folders import kb_file
from argus.data.reading import nothing_in
from argus.data.rows import field_names
from argus.data.types import Document, FloatArray, IntArray
from argus.errors import ArgusError, InputError
from argus.indexes.views import ViewIndex, originals
from argus.retrievers.dense import parse_index
from argus.retrievers.names import is_index
from argus.stores.spec import open_store

# Endings of sources beside those of `READERS`: text, too.
PLAIN = (".rst", ".mdx", ".adoc", ".org", ".tex")
LOOKED_AT = 2_000  # chunks that tell which field names their source
LEAST = 0.05  # share of these that a field must resolve
ABSENT, NO_NAME, UNREAD = -2, -1, -3  # in place of a row of a source
SQL = "sql:"
_TIME = re.compile("time|date|modif|index|ingest", re.I)
_HASH = re.compile(r"(?:\w+:)?([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})")
_DIGESTS = {32: hashlib.md5, 40: hashlib.sha1, 64: hashlib.sha256}
_NUMBERED = re.compile(r"(?:[#:_/-]+(?:chunk|part|p)?[_-]?\d+)+$")


@dataclass(frozen=True)
class Sources:
    """Holds the sources of an index. unread: id to why. left_out: files by why they are none.

    recoded: files that are not in UTF-8. query: of DuckDB, if they are its rows.
    """

    documents: list[Document]
    origin: Origin | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    recoded: int = 0
    place: Path | None = None
    query: str | None = None

    def digests(self, row: int, length: int) -> set[str]:
        """Return hashes of a source, of its bytes and its text. length: of a hash, in digits."""
        document, make = self.documents[row], _DIGESTS[length]
        made = {make(text.encode()).hexdigest() for text in (document.text, document.content)}
        if self.place is not None:
            with suppress(OSError):
                made.add(make((self.place / document.id).read_bytes()).hexdigest())
        return made


@dataclass(frozen=True)
class Chunks:
    """Chunks of an index. said: records that the store said to hold. repeated: ids that came again.

    vectors: of a store's records, (n, dim); None of another index.
    """

    documents: list[Document]
    origin: Origin | None = None
    said: int | None = None
    repeated: int = 0
    vectors: FloatArray | None = None


def read_sources(place: Corpus, fields: FieldNames) -> Sources:
    """Read sources: files of text below a folder, a corpus, or rows of DuckDB by "sql:SELECT ...".

    Links that lead out of the folder are not followed. Raises InputError where nothing is there.
    """
    path = named(place) if isinstance(place, str | Path) else None
    if isinstance(path, Path) and str(place).startswith(SQL):
        return _by_sql(str(place).removeprefix(SQL), fields)
    is_folder = isinstance(path, Path) and path.is_dir()
    if not is_folder or find_file(path, CORPUS_STEMS) or kb_file(path):  # type: ignore[arg-type]
        source = open_corpus(place)
        return Sources(source.documents(fields), source.origin)
    assert isinstance(path, Path)
    unread: dict[str, str] = {}
    documents, recoded = [], 0
    files, left_out = visible_files(path, {*READERS, *PLAIN})
    for id_, file in files.items():
        if not file.resolve().is_relative_to(path.resolve()):
            left_out["links out of the folder"] += 1
            continue
        try:
            title, text, is_recoded = _read(file)
        except (ArgusError, ImportError) as error:
            unread[id_] = str(error)
            continue
        recoded += is_recoded
        if text.strip():
            documents.append(Document(id_, text, title or file.stem))
        else:
            left_out["empty"] += 1
    if not documents:
        raise nothing_in(path, "source", "a folder with files of text")
    found = {kind: n for kind, n in left_out.items() if n}
    return Sources(documents, FileFolder(path), unread, found, recoded, path)


def _by_sql(query: str, fields: FieldNames) -> Sources:
    """Return the rows of a query. Raises InputError where DuckDB cannot answer it."""
    import duckdb

    found, got = None, "it has no rows"
    try:
        found = duckdb.sql(query)  # None of what is no SELECT
    except duckdb.Error as error:
        got = str(error).splitlines()[0]
    if found is None:
        expected, fix = "a SELECT of DuckDB with an id and a text", "Try it in duckdb first."
        raise InputError(got, expected=expected, fix=fix, where=f"{SQL}{query}")
    with TemporaryDirectory() as folder:
        rows = Path(folder) / "sources.parquet"
        pq.write_table(found.to_arrow_table(), rows)
        return Sources(documents_in(rows, fields), query=f"{SQL}{query}")


def changed_since(place: Path | None, commit: str) -> set[str]:
    """Return the files of a git checkout that changed since a commit, untracked ones too.

    Paths are as seen from the folder. Raises InputError where git cannot tell.
    """
    names: set[str] = set()
    got = "sources that are no folder" if place is None else ""
    asked = ["diff", "--name-only", "--no-renames", "--relative", "-z", "--end-of-options", commit]
    for words in (asked, ["ls-files", "--others", "--exclude-standard", "-z"]):
        if got:
            break
        try:
            told = subprocess.run(
                ["git", *words], cwd=place, capture_output=True, timeout=60, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            got = str(error)
            break
        names |= {os.fsdecode(name) for name in told.stdout.split(b"\0") if name}
        got = told.stderr.decode(errors="replace") if told.returncode else ""
    if got:
        expected = "a commit of the git checkout that the sources are in"
        got = got.strip().splitlines()[0]
        raise InputError(got, expected=expected, fix="See git log.", where="--since")
    return names


def _read(file: Path) -> tuple[str, str, bool]:
    """Return title and text of a file, and whether it was in another encoding than UTF-8."""
    read = READERS.get(file.suffix.lower(), READERS[".txt"])
    try:
        return *read(file), False
    except InputError:
        content = file.read_bytes() if read is READERS[".txt"] else b"\0"
        coding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "cp1252"
        if coding == "cp1252" and b"\0" in content:  # binary
            raise
        with suppress(UnicodeDecodeError):
            return "", content.decode(coding), True
        raise


def read_chunks(corpus: Corpus, fields: FieldNames) -> Chunks:
    """Read the chunks of a store, an index folder or a corpus.

    A store may change meanwhile: ids that come again are counted.
    Raises InputError as `open_corpus` and `documents_in` do.
    """
    place = named(corpus) if isinstance(corpus, str | Path | StoreCorpus) else None
    if isinstance(place, Path) and is_index(str(place)):
        return Chunks(originals(ViewIndex.open(parse_index(str(place))[0].path)))
    if not isinstance(place, StoreCorpus):
        source = open_corpus(corpus)
        return Chunks(source.documents(fields), source.origin)
    found: dict[str, Document] = {}
    vectors: list[FloatArray] = []
    repeated = of_remedies = 0
    with open_store(place.store, place.opening) as store:
        said = store.describe().records
        for records, rows, read in read_records(store, fields, said, strict=False):
            of_remedies += len(records.ids) - len(rows)
            for row, document in zip(rows, read, strict=True):
                repeated += document.id in found
                if document.id not in found:
                    vectors.append(records.vectors[row])
                found[document.id] = document
        said = max(said, store.describe().records) - of_remedies
    return Chunks([*found.values()], None, said, repeated, np.stack(vectors))


class _Paths:
    """Sources by the ends of their paths."""

    def __init__(self, sources: Sources) -> None:
        self.place = sources.place
        self.rows = {document.id: row for row, document in enumerate(sources.documents)}
        self.rows |= dict.fromkeys(sources.unread, UNREAD)
        self.ends: dict[str, list[tuple[str, int]]] = defaultdict(list)
        for id_, row in self.rows.items():
            for path in {id_, str(PurePosixPath(id_).with_suffix("")) if id_.strip("./") else id_}:
                self.ends[path.rpartition("/")[2]].append((f"/{path}", row))
        self.known: dict[str, int] = {"": NO_NAME}

    def find(self, value: str) -> int:
        """Return the row of the source that a value names by its end, or that ends with it.

        ABSENT: of none that is there. NO_NAME: it may be one of several.
        """
        if value not in self.known:
            self.known[value] = self.rows[value] if value in self.rows else self._find(value)
        return self.known[value]

    def _find(self, value: str) -> int:
        scheme, colon, rest = value.replace("\\", "/").partition("://")
        bare = (rest if colon else scheme).partition("?")[0].partition("#")[0]
        plain = f"/{bare.strip('./')}"
        same = [
            (min(len(plain), len(path)), row) for path, row in self.ends[plain.rpartition("/")[2]]
            if plain.endswith(path) or path.endswith(plain)
        ]  # fmt: skip
        rows = {row for n, row in same if n == max(same)[0]}
        if len(rows) == 1:
            return rows.pop()
        with suppress(OSError):  # a text that is longer than a path may be
            if not rows and self.place is not None and (self.place / plain[1:]).is_file():
                return UNREAD
        return NO_NAME if rows else ABSENT


def names_of(
    chunks: Sequence[Document], sources: Sources, field_name: str | None
) -> tuple[str | None, list[str], IntArray]:
    """Return the field that names sources, its value in each chunk, and the row of the source.

    The field with most values that name one source, where none is given; None where no field does.
    Rows, (n_chunks,), may be NO_NAME, ABSENT or UNREAD. Raises InputError for a field of no chunk.
    """
    paths = _Paths(sources)
    if field_name is None:
        found: dict[str, Counter[int]] = defaultdict(Counter)
        for chunk in chunks[:LOOKED_AT]:
            for name, value in _texts(chunk).items():
                found[name][paths.find(value)] += 1
        few = LEAST * min(len(chunks), LOOKED_AT)  # "en" may be one source's name, of all chunks
        rows_of = {
            name: sum(row >= 0 for row in rows) for name, rows in found.items()
            if sum(n for row, n in rows.items() if row >= 0) >= few
        }  # fmt: skip
        field_name = max(rows_of, key=rows_of.__getitem__, default=None)
        if field_name and rows_of[field_name] < min(2, len(sources.documents)):
            field_name = None
        values = [_texts(chunk).get(field_name or "", "") for chunk in chunks]
    else:
        held = payload_values(chunks, field_name, "--path-field")
        values = [str(of[0]) if of else "" for of in held]
    return field_name, values, np.array([*map(paths.find, values)], np.int64)


def _texts(chunk: Document) -> dict[str, str]:
    """Return the short texts of a chunk's payload by field, and its id without a number behind."""
    found = {}
    for name in field_names(chunk.metadata):
        with suppress(ValueError):  # a name that is no path
            value = FieldPath.parse(name).look(chunk.metadata)
            if isinstance(value, str) and 0 < len(value) < 500:
                found[name] = value
    id_ = chunk.id
    return {**found, "id": id_[:-40] + _NUMBERED.sub("", id_[-40:])}


def hashes_of(
    chunks: Sequence[Document], sources: Sources, rows: IntArray, field_name: str | None
) -> tuple[str | None, list[bool | None]]:
    """Return the field of hashes, and for each chunk whether its source has that hash still.

    None where it is not known: without a hash, and where no hash is one of its source. A chunk
    with neither hash nor text is as its source is if that was last written before a time of it.
    """
    if field_name is not None:
        given = payload_values(chunks, field_name, "--hash-field")
        columns = {field_name: [str(of[0]) if of else "" for of in given]}
    else:
        names = Counter(
            name for chunk in chunks[:LOOKED_AT] for name, value in _texts(chunk).items()
            if _HASH.fullmatch(value.lower())
        )  # fmt: skip
        columns = {n: [_texts(chunk).get(n, "") for chunk in chunks] for n in names}
    digests: dict[tuple[int, int], set[str]] = {}
    for name, values in columns.items():
        same: list[bool | None] = []
        for value, row in zip(values, rows.tolist(), strict=True):
            match = _HASH.fullmatch(value.lower())
            if match is None or row < 0:
                same.append(None)
                continue
            key = row, len(match[1])
            if key not in digests:
                digests[key] = sources.digests(*key)
            same.append(match[1] in digests[key])
        if any(same):
            return name, same
    return None, [_is_older(chunk, sources, row) for chunk, row in zip(chunks, rows, strict=True)]


def _is_older(chunk: Document, sources: Sources, row: int) -> bool | None:
    """Return whether a chunk without text was indexed after its source was last written."""
    if row < 0 or sources.place is None or chunk.text.strip():
        return None
    told = [at for name in field_names(chunk.metadata) if _TIME.search(name)
            and (at := seconds(chunk.metadata.get(name)))]  # fmt: skip
    file = sources.place / sources.documents[row].id
    return file.stat().st_mtime <= max(told) if told else None
