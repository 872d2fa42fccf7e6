"""BM25 over texts (bm25s): exact scores, ties by id.

Every word of a text is indexed. Stop words are left out of a query unless it has no other word
("The Who", "It" stay findable), which keeps long questions fast and changes hardly any score, since
such words occur nearly everywhere. Words are not stemmed where surface forms of names must match as
they are; where BM25 is fused with vectors they are (`argus.indexes.words`). Robertson's BM25 as
Lucene computes it, k1 = 1.5, b = 0.75.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from argus.data.documents import listed
from argus.data.provenance import content_hash
from argus.data.reading import UNREADABLE, damage
from argus.data.tables import read_table, write_table
from argus.data.types import FloatArray, IntArray, Run
from argus.data.writing import remove
from argus.errors import InputError
from argus.indexes.postings import K1, B, PostingArrays, Postings, inverse_frequency
from argus.indexes.snapshot import check_k
from argus.indexes.words import ANALYZERS, SURFACE, Analyzer

IDS, STARTS, POSTINGS = "ids.parquet", "starts.npy", "data.csc.index.npy"
"""Files of a saved index, beside bm25s' own."""
MADE_OF, ANALYZER, FILES = b"made of", b"analyzer", b"files"
END_BYTES = 1 << 16
"""Of either end of a file, by which it is told from another of its size."""
ATTEMPTS = 10
PART = ".part"
"""How the name of a folder ends that is being written or removed."""
"""How often a folder is put in the place of one that others put there at the same time."""
BATCH = 10_000
"""Texts whose words are counted at a time."""


@dataclass(frozen=True)
class Hits:
    """Ranked ids per query, best first, scores above 0 only; a query may have none."""

    ids: list[list[str]]
    scores: list[list[float]]
    coverage: list[float]
    """How much of a query the best document covers, 0 to 1: its score over all that the words of
    the query count, those that no document has included."""

    def run(self, query_ids: Sequence[str]) -> Run:
        """Return `query_id -> id -> score`, in rank order."""
        return {
            query: dict(zip(ids, scores, strict=True))
            for query, ids, scores in zip(query_ids, self.ids, self.scores, strict=True)
        }


@dataclass(frozen=True)
class _Built:
    """BM25 that was just built. bm25s, which brings a compiler along, is for what is on disk."""

    vocab_dict: dict[str, int]
    scores: PostingArrays

    def get_scores_from_ids(self, tokens: Sequence[int]) -> FloatArray:
        """Return the score of every text: as bm25s adds them up, word after word."""
        arrays = self.scores
        sums = np.zeros(arrays["num_docs"], np.float32)
        for token in tokens:
            part = slice(*arrays["indptr"][token : token + 2])
            sums[arrays["indices"][part]] += arrays["data"][part]  # each text once in a word
        return sums

    def save(self, folder: Path, show_progress: bool) -> None:
        """Write it as bm25s does."""
        bm25 = _bm25s().BM25(k1=K1, b=B, auto_compile=False)
        bm25.vocab_dict, bm25.scores = self.vocab_dict, self.scores
        bm25.nonoccurrence_array = None
        bm25.save(folder, show_progress=show_progress)


class LexicalIndex:
    """BM25 over documents of one or several texts. Make one with `build`, or `open` a saved one."""

    def __init__(
        self,
        ids: list[str],
        starts: IntArray,
        bm25: Any | None,
        *,
        made_of: str = "",
        analyzer: Analyzer = SURFACE,
    ) -> None:
        self.ids, self._starts, self.analyzer = ids, starts, analyzer
        self.made_of = made_of
        """What a caller knows its texts by; "" where it named nothing."""
        self._bm25 = bm25  # None where no text has a word
        self._folds = len(ids) < int(starts[-1])

    @classmethod
    def build(
        cls,
        ids: Sequence[str],
        texts: Sequence[str],
        analyzer: Analyzer = SURFACE,
        *,
        made_of: str = "",
        only: frozenset[str] | None = None,
    ) -> LexicalIndex:
        """Index `texts[i]` under `ids[i]`.

        An id given several times is a document with several texts, of which the best counts.
        Texts may be empty: they are never found. only: the words of the queries, where these are
        known beforehand; their scores are the same, and no other word is found.
        """
        if len(ids) != len(texts):
            raise ValueError(f"{len(ids)} ids for {len(texts)} texts")
        order = sorted(range(len(ids)), key=lambda i: ids[i])  # stable: texts of one id keep order
        parts = (order[at : at + BATCH] for at in range(0, len(order), BATCH))
        return cls.from_batches(
            (([ids[i] for i in part], [texts[i] for i in part]) for part in parts),
            made_of=made_of,
            analyzer=analyzer,
            only=only,
        )

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[tuple[Sequence[str], Sequence[str]]],
        *,
        made_of: str = "",
        analyzer: Analyzer = SURFACE,
        only: frozenset[str] | None = None,
    ) -> LexicalIndex:
        """Index ids and texts that come batch by batch, as `build` does; no text is kept.

        Raises ValueError where ids are not in ascending order.
        """
        postings = Postings(analyzer, only)
        ids: list[str] = []
        starts: list[int] = []
        n = 0
        for names, texts in batches:
            for name, _ in zip(names, texts, strict=True):
                if ids and name < ids[-1]:
                    raise ValueError(f"{name!r} comes after {ids[-1]!r}")
                if not ids or name != ids[-1]:
                    ids.append(name)
                    starts.append(n)
                n += 1
            postings.add(texts)
        bm25 = None
        if len(postings.vocabulary) > 1:
            bm25 = _Built(postings.vocabulary, postings.scores())
        bounds = np.array([*starts, n], np.int64)
        return cls(ids, bounds, bm25, made_of=made_of, analyzer=analyzer)

    def save(self, folder: Path) -> None:
        """Write the index to a folder, in the place of what is there; whole or not at all.

        Several may save to one folder at once: one of them stays.
        """
        temporary, lock = _new_beside(folder)
        try:
            _remove_leftovers(folder.parent)
            if self._bm25 is not None:
                self._bm25.save(temporary, show_progress=False)
            names = pa.table({"id": pa.array(self.ids, pa.string())})
            np.save(temporary / STARTS, self._starts)
            files = json.dumps({path.name: _mark(path) for path in temporary.iterdir()})
            about = {MADE_OF: self.made_of, ANALYZER: self.analyzer.name, FILES: files}
            write_table(names.replace_schema_metadata(about), temporary / IDS)
            _put(temporary, folder)
        finally:
            os.close(lock)
            shutil.rmtree(temporary, ignore_errors=True)

    @classmethod
    def open(cls, folder: Path) -> LexicalIndex:
        """Open a saved index, its postings memory-mapped.

        Raises InputError for another folder, and where a file of it is missing or another's.
        """
        try:
            bm25 = None
            if (folder / POSTINGS).exists():  # first: were the folder removed now, ids are missed
                bm25 = _bm25s().BM25.load(folder, mmap=True, show_progress=False)
            names = read_table(folder / IDS, fix="Build it again.")
            ids = names["id"].to_pylist()
            starts = np.load(folder / STARTS)
            analyzer = ANALYZERS[_about(names.schema, ANALYZER) or SURFACE.name]
            if other := _other_file(folder, names.schema):
                raise ValueError(f"{other} is missing, or not the file that was saved")
        except (*UNREADABLE, pa.ArrowException) as error:
            raise InputError(
                f"cannot be read as a BM25 index ({damage(error)})",
                expected="the folder as Argus wrote it",
                fix="Build it again.",
                where=folder,
            ) from error
        made_of = _about(names.schema, MADE_OF)
        return cls(ids, starts, bm25, made_of=made_of, analyzer=analyzer)

    @staticmethod
    def remove(folder: Path) -> None:
        """Remove a saved index; a folder that is none, or is not there, stays as it is."""
        if (folder / IDS).is_file():
            discard(folder)

    @staticmethod
    def is_saved(folder: Path, *, made_of: str) -> bool:
        """Return whether an index of that is saved whole in a folder, without opening it."""
        try:
            schema = pq.read_schema(folder / IDS)
            return _about(schema, MADE_OF) == made_of and not _other_file(folder, schema)
        except (*UNREADABLE, pa.ArrowException):
            return False

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.ids)

    @property
    def bytes(self) -> int:
        """Bytes of the postings; 0 where no text has a word."""
        scores = {} if self._bm25 is None else self._bm25.scores
        return sum(int(np.asarray(column).nbytes) for column in scores.values())

    def search(self, queries: Iterable[str], k: int) -> Hits:
        """Return the k best documents of each query text; ties by id."""
        check_k(k)
        hits = Hits([], [], [])
        for query in listed(queries, "queries"):
            tokens = self._tokens(query)
            scores = self._scores(tokens)
            rows = _best(scores, k)
            hits.ids.append([self.ids[row] for row in rows])
            hits.scores.append(scores[rows].tolist())
            hits.coverage.append(self._coverage(tokens, hits.scores[-1]))
        return hits

    def _tokens(self, query: str) -> list[int | None]:
        """Return the number of each word of a query; None for one that no document has."""
        known = self._bm25.vocab_dict if self._bm25 is not None else {}
        return [known.get(word) for word in self.analyzer.queries(query)]

    def _coverage(self, tokens: Sequence[int | None], scores: Sequence[float]) -> float:
        if self._bm25 is None or not scores:
            return 0.0
        bounds, n = self._bm25.scores["indptr"], int(self._starts[-1])
        having = [0 if word is None else int(bounds[word + 1] - bounds[word]) for word in tokens]
        return scores[0] / sum(inverse_frequency(df, n) for df in having)

    def scores(self, query: str) -> FloatArray:
        """Return the score of every document, in the order of `ids`; shape (len(self),)."""
        return self._scores(self._tokens(query))

    def _scores(self, words: Sequence[int | None]) -> FloatArray:
        tokens = [word for word in words if word is not None]
        if self._bm25 is None or not tokens:
            return np.zeros(len(self), np.float32)
        scores: FloatArray = self._bm25.get_scores_from_ids(tokens)
        return np.maximum.reduceat(scores, self._starts[:-1]) if self._folds else scores


def _best(scores: FloatArray, k: int) -> IntArray:
    """Return the rows of the k highest scores above 0, best first, ties by row."""
    rows = np.flatnonzero(scores > 0)
    if len(rows) > k:
        kth = np.partition(scores[rows], -k)[-k]
        rows = rows[scores[rows] >= kth]  # all that tie with the k-th, cut below
    order = np.argsort(-scores[rows], kind="stable")[:k]
    best: IntArray = rows[order]
    return best


def _about(schema: pa.Schema, key: bytes) -> str:
    metadata: dict[bytes, bytes] = schema.metadata or {}
    return metadata.get(key, b"").decode("utf-8")


def _other_file(folder: Path, schema: pa.Schema) -> str:
    """Return a file that is missing, or not the one that was saved; "" where all are.

    Indexes of before their files were noted pass.
    """
    files: dict[str, str] = json.loads(_about(schema, FILES) or "{}")
    other = (name for name, mark in files.items() if _mark(folder / name) != mark)
    return next(other, "")


def _mark(path: Path) -> str:
    """Return the size of a file and a hash of its ends; "" where there is none."""
    if not path.is_file():
        return ""
    size = path.stat().st_size
    with path.open("rb") as file:
        begin = file.read(END_BYTES)
        file.seek(max(0, size - END_BYTES))
        return f"{size} {content_hash(begin, file.read(END_BYTES)).hex()}"


def discard(folder: Path) -> None:
    """Remove a folder, which is there whole or not at all for who reads it; it may be missing."""
    away = _beside(folder)
    with contextlib.suppress(FileNotFoundError):
        folder.rename(away)
        remove(away)


def _put(temporary: Path, folder: Path) -> None:
    """Rename a folder, in the place of what is there."""
    for attempt in range(ATTEMPTS):
        discard(folder)
        try:
            temporary.rename(folder)
            return
        except OSError as error:  # another has put its own there this moment
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST) or attempt == ATTEMPTS - 1:
                raise


def _new_beside(folder: Path) -> tuple[Path, int]:
    """Return a new folder and its descriptor, whose lock says that who writes it is alive."""
    while True:
        temporary = _beside(folder)
        temporary.mkdir(parents=True)
        with contextlib.suppress(FileNotFoundError):  # taken for a leftover this moment
            descriptor = os.open(temporary, os.O_RDONLY)
            if _is_ours(descriptor) and temporary.is_dir():
                return temporary, descriptor
            os.close(descriptor)


def _is_ours(descriptor: int) -> bool:
    """Lock a new folder; False where another holds it, who is about to remove it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks, on which nobody removes leftovers either
        pass
    return True


def _remove_leftovers(home: Path) -> None:
    """Remove what killed processes left: folders whose lock nobody holds."""
    for path in home.glob(f"*{PART}"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(descriptor)


def _beside(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.{uuid.uuid4().hex}{PART}")


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError as error:
        raise InputError(
            "lexical search needs bm25s, which is not installed",
            expected="bm25s 0.3 or later",
            fix="pip install bm25s",
        ) from error
    return bm25s
