"""Count, find and continue n-grams in a corpus, through suffix arrays that are mapped from disk.

`NgramIndex.open`: a folder -> the index. `counts`: n-grams -> occurrences. `next_tokens`: n-grams
-> the tokens that may follow, which constrains decoding (`decode`). `occurrences` and `documents`:
n-grams -> the passages that hold them (`evidence`). `build` makes it of `segment`s.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.reading import parse_json, read_own, reading
from argus.data.types import IntArray
from argus.data.writing import write_whole
from argus.errors import InputError
from argus.generative.index import kernels
from argus.generative.index.segment import Segment
from argus.generative.passages import PassageCounts
from argus.generative.vocabulary import Vocabulary, open_vocabulary

FILE, VERSION = "ngram.json", 1
SEGMENTS, TOKENIZER = "segments", "tokenizer"
FRESH = "Build the index again with --fresh."


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """Sources of the index.

    vocabulary: fingerprint of the tokenizer. size: token ids. border: the token between passages.
    titles: whether ` title @@` stands in passages. segments: their folders' names, in order.
    finished: False while a build runs or after it was killed. counts: documents by outcome.
    """

    vocabulary: str
    size: int
    border: int
    titles: bool
    segments: tuple[str, ...] = ()
    finished: bool = False
    counts: PassageCounts
    version: int = VERSION

    def write(self, folder: Path) -> None:
        """Replace the manifest in a folder, whole or not at all."""
        write_whole(folder / FILE, json.dumps(asdict(self), indent=2) + "\n")


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder, None without one. Raises InputError for a broken one."""
    path = folder / FILE
    if not path.is_file():
        return None
    with reading(path, "no manifest of an n-gram index", expected=f"version {VERSION}", fix=FRESH):
        content = parse_json(read_own(path))
        if content["version"] != VERSION:
            raise ValueError(f"version {content['version']}")
        segments, counts = tuple(content["segments"]), PassageCounts(**content["counts"])
        return Manifest(**{**content, "segments": segments, "counts": counts})


Array = npt.NDArray[Any]


def open_segment(folder: Path) -> Segment:
    """Map the arrays of a segment. Raises InputError if one is missing or cut."""
    arrays = []
    for f in fields(Segment):
        path = folder / f"{f.name}.npy"
        with reading(path, expected="the array as it was built", fix=FRESH):
            arrays.append(np.asarray(np.load(path, mmap_mode="r", allow_pickle=False)))
    return Segment(*arrays)


@dataclass(frozen=True)
class Rows:
    """The rows of n n-grams of `depth` tokens each. low, high: (segments, n), half open."""

    depth: int
    low: IntArray
    high: IntArray

    def __len__(self) -> int:
        """Return how many n-grams there are."""
        return int(self.low.shape[1])

    @property
    def counts(self) -> IntArray:
        """Count of each n-gram, (n,)."""
        return np.asarray((self.high - self.low).sum(axis=0), np.int64)

    def take(self, which: npt.NDArray[np.int64]) -> Rows:
        """Return the rows of some n-grams, in the order asked for. They may come repeatedly."""
        return Rows(self.depth, self.low[:, which], self.high[:, which])


Tokens = Sequence[int] | npt.NDArray[Any]


class NgramIndex:
    """An index over one or more segments. `open` maps one from a folder.

    n_tokens: N, borders in front of passages counted. titles: whether passages have titles.
    Documents are numbered from 0 in the order in which they were indexed.
    """

    def __init__(
        self,
        segments: Sequence[Segment],
        border: int,
        folder: Path | None = None,
        *,
        titles: bool = True,
    ) -> None:
        self.segments, self.border, self.folder = tuple(segments), border, folder
        self.titles = titles
        self.vocabulary_size = len(segments[0].first) - 1
        self._bases = np.cumsum([0, *(s.n_tokens for s in segments)], dtype=np.int64)
        self._documents = np.cumsum([0, *(s.n_documents for s in segments)], dtype=np.int64)
        self.n_tokens, self.n_documents = int(self._bases[-1]), int(self._documents[-1])

    @classmethod
    def open(cls, folder: Path | str) -> NgramIndex:
        """Map the index in a folder. Raises InputError if there is no whole one."""
        path = Path(folder)
        manifest = read_manifest(path)
        if manifest is None or not manifest.finished or not manifest.segments:
            raise InputError(
                "no n-gram index in it" if manifest is None else "its build was interrupted",
                expected="a folder that `argus research generative build` wrote to its end",
                fix="Make one: argus research generative build --corpus X --tokenizer T --out DIR."
                if manifest is None
                else "Run the same `argus research generative build` again: it goes on where it "
                "stopped.",
                where=path,
            )
        return open_segments(path, manifest)

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The tokenizer of the index, loaded when it is first needed."""
        if self.folder is None:
            raise ValueError("an index in memory has no tokenizer")
        return open_vocabulary(self.folder / TOKENIZER)

    def count(self, ngram: Tokens) -> int:
        """Return how often an n-gram occurs. The empty one occurs N times."""
        if len(ngram) == 0:
            return self.n_tokens
        if len(ngram) == 1:
            token = int(ngram[0])
            if not 0 <= token < self.vocabulary_size:
                return 0
            return sum([int(s.first[token + 1] - s.first[token]) for s in self.segments])
        return sum([int(high - low) for low, high in self._ranges(ngram)])

    def counts(self, ngrams: Sequence[Tokens]) -> IntArray:
        """Return how often each n-gram occurs, in one call, as (n,)."""
        low, high = self._find(ngrams)
        return np.asarray((high - low).sum(axis=0), np.int64)

    def rows(self, ngram: Tokens = (), n: int = 1) -> Rows:
        """Return the rows of an n-gram, n times over: where a decoding begins."""
        low, high = self._find([ngram])
        return Rows(len(ngram), np.repeat(low, n, axis=1), np.repeat(high, n, axis=1))

    def find(self, ngrams: IntArray) -> Rows:
        """Return the rows of n-grams of one length. ngrams: (n, length)."""
        return Rows(ngrams.shape[1], *self._find(ngrams))

    def step(self, rows: Rows, tokens: IntArray) -> Rows:
        """Return the rows of each n-gram with one more token, or (0, 0) where it does not exist.

        An n-gram that ends in the border cannot go on.
        """
        if rows.depth == 0:
            return self.find(np.asarray(tokens, np.int64)[:, None])
        low, high = rows.low.copy(), rows.high.copy()
        for i, s in enumerate(self.segments):
            kernels.step(s.text, s.suffixes, self.border, low[i], high[i], rows.depth, tokens)
        return Rows(rows.depth + 1, low, high)

    def next_tokens(self, rows: Rows) -> tuple[IntArray, npt.NDArray[np.int32], IntArray]:
        """Return the continuations of each n-gram: (pointers (n + 1,), tokens ascending, counts).

        The border follows where a passage ends. Rows must not be of n-grams of more than
        one token that end in the border.
        """
        if rows.depth == 0:
            tokens, counts = self._types
            pointers = np.arange(len(rows) + 1, dtype=np.int64) * len(tokens)
            return pointers, np.tile(tokens, len(rows)), np.tile(counts, len(rows))
        parts = [
            kernels.next_tokens(
                s.text, s.suffixes, s.first, s.lists, rows.low[i], rows.high[i], rows.depth
            )
            for i, s in enumerate(self.segments)
        ]
        if len(parts) == 1:
            return parts[0]
        begins = np.cumsum([0, *(len(p[1]) for p in parts[:-1])], dtype=np.int64)
        return kernels.merge(
            np.stack([p[0] for p in parts]),
            np.concatenate([p[1] for p in parts]),
            np.concatenate([p[2] for p in parts]),
            begins,
        )

    def continuations(self, ngram: Tokens) -> tuple[npt.NDArray[np.int32], IntArray]:
        """Return the tokens that follow an n-gram, ascending, and how often each does."""
        if len(ngram) == 0:
            return self._types
        if len(ngram) > 1 and ngram[-1] == self.border:
            return np.zeros(0, np.int32), np.zeros(0, np.int64)
        ranges = np.array(self._ranges(ngram), np.int64)
        _, tokens, counts = self.next_tokens(Rows(len(ngram), ranges[:, :1], ranges[:, 1:]))
        return tokens, counts

    def occurrences(self, ngrams: Sequence[Tokens], most: int) -> tuple[IntArray, IntArray]:
        """Return where n-grams stand: (pointers (n + 1,), positions, ascending for each n-gram).

        Positions count the tokens of all passages in order. An n-gram with more than `most`
        occurrences gives none.
        """
        low, high = self._find(ngrams)
        rare = (high - low).sum(axis=0) <= most
        parts = [
            kernels.locate(s.suffixes, low[i], high[i], rare, int(self._bases[i]))
            for i, s in enumerate(self.segments)
        ]
        if len(parts) == 1:
            return parts[0]
        pointers = np.sum([p for p, _ in parts], axis=0)
        owner = np.concatenate([np.repeat(np.arange(len(ngrams)), np.diff(p)) for p, _ in parts])
        positions = np.concatenate([positions for _, positions in parts])
        return pointers, positions[np.argsort(owner, kind="stable")]

    def documents_at(self, positions: IntArray) -> IntArray:
        """Return the number of the document at each position, as (n,)."""
        return np.searchsorted(self._starts, positions, side="right") - 1

    def documents(self, ngram: Tokens) -> IntArray:
        """Return the numbers of the documents that hold an n-gram, ascending, each once."""
        _, positions = self.occurrences([ngram], self.n_tokens)
        return np.unique(self.documents_at(positions))

    def tokens_of(self, documents: IntArray) -> tuple[IntArray, npt.NDArray[np.int32]]:
        """Return the tokens of documents, borders in front: (pointers (n + 1,), tokens)."""
        documents = np.asarray(documents, np.int64)
        pointers = np.zeros(len(documents) + 1, np.int64)
        np.cumsum(self._starts[documents + 1] - self._starts[documents], out=pointers[1:])
        tokens = np.empty(pointers[-1], np.int32)
        for segment, local in self._local(documents):
            kernels.copy_passages(segment.text, segment.starts, local, pointers, tokens)
        return pointers, tokens

    def order(self, documents: IntArray) -> npt.NDArray[np.uint64]:
        """Return a hash of each document's id: breaks ties whatever the order of passages is."""
        return self._gather("order", np.asarray(documents, np.int64))

    def splits(self, documents: IntArray) -> npt.NDArray[np.int32]:
        """Return where text and pseudo-queries begin in each document's tokens, as (n, 2)."""
        return self._gather("splits", np.asarray(documents, np.int64))

    def hashes(self) -> npt.NDArray[np.uint64]:
        """Return the hashes of all documents (see `document_hash`), as (n_documents, 3)."""
        return np.concatenate([s.hashes for s in self.segments])

    def id_of(self, document: int) -> str:
        """Return the id of a document."""
        s = int(np.searchsorted(self._documents, document, side="right")) - 1
        return self.segments[s].id_of(document - int(self._documents[s]))

    def ids(self) -> list[str]:
        """Return the ids of all documents, in order."""
        return [s.id_of(i) for s in self.segments for i in range(s.n_documents)]

    def title_and_text(self, document: int) -> tuple[str, str]:
        """Return a document's title and text as its tokens say. White space is not kept."""
        which = np.array([document])
        _, tokens = self.tokens_of(which)
        text_at, queries_at = (int(n) for n in self.splits(which)[0])
        head, body = tokens[1 : max(1, text_at - 1)], tokens[text_at:queries_at]
        decode = self.vocabulary.decode
        return decode(head.tolist()).strip(), decode(body.tolist()).strip()

    def bytes(self) -> dict[str, int]:
        """Return the bytes of every kind of array, over all segments."""
        names = [f.name for f in fields(Segment)]
        return {name: sum(int(getattr(s, name).nbytes) for s in self.segments) for name in names}

    @cached_property
    def _types(self) -> tuple[npt.NDArray[np.int32], IntArray]:
        """Every token that occurs, and how often."""
        totals = np.sum([np.diff(s.first) for s in self.segments], axis=0)
        present = np.flatnonzero(totals)
        return present.astype(np.int32), totals[present]

    @cached_property
    def _starts(self) -> IntArray:
        """Starts of the documents in the text of all segments, with the end at last."""
        if len(self.segments) == 1:
            return self.segments[0].starts
        parts = [s.starts[:-1] + base for s, base in zip(self.segments, self._bases, strict=False)]
        return np.concatenate([*parts, self._bases[-1:]])

    def _ranges(self, ngram: Tokens) -> list[tuple[int, int]]:
        """Return the rows of one n-gram in every segment, sooner than `_find` does."""
        tokens = np.asarray(ngram, np.int64)
        return [
            kernels.find(s.text, s.suffixes, s.first, s.lists, self.border, tokens)
            for s in self.segments
        ]

    def _find(self, ngrams: Sequence[Tokens] | IntArray) -> tuple[IntArray, IntArray]:
        """Return the rows of n-grams of any lengths, from and to: (segments, n) each."""
        pointers = np.zeros(len(ngrams) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, ngrams), np.int64, len(ngrams)), out=pointers[1:])
        if isinstance(ngrams, np.ndarray):
            flat = np.ascontiguousarray(ngrams, np.int64).ravel()
        else:
            flat = np.fromiter(chain.from_iterable(ngrams), np.int64, int(pointers[-1]))
        low = np.empty((len(self.segments), len(ngrams)), np.int64)
        high = np.empty_like(low)
        for i, s in enumerate(self.segments):
            kernels.find_all(
                s.text, s.suffixes, s.first, s.lists, self.border, pointers, flat, low[i], high[i]
            )
        return low, high

    def _local(self, documents: IntArray) -> list[tuple[Segment, IntArray]]:
        """Return each segment with the documents numbered as it does, -1 where not its own."""
        if len(self.segments) == 1:
            return [(self.segments[0], documents)]
        parts = []
        for i, s in enumerate(self.segments):
            local = documents - self._documents[i]
            parts.append((s, np.where((local >= 0) & (local < s.n_documents), local, -1)))
        return parts

    def _gather(self, name: str, documents: IntArray) -> npt.NDArray[Any]:
        array = getattr(self.segments[0], name)
        out = np.empty((len(documents), *array.shape[1:]), array.dtype)
        for segment, local in self._local(documents):
            out[local >= 0] = getattr(segment, name)[local[local >= 0]]
        return out


def open_segments(folder: Path, manifest: Manifest) -> NgramIndex:
    """Map the segments that a manifest names, at least one. The build need not be finished."""
    segments = [open_segment(folder / SEGMENTS / name) for name in manifest.segments]
    return NgramIndex(segments, manifest.border, folder, titles=manifest.titles)
