"""Rank texts by BM25 as Lucene computes it (k1 = 1.5, b = 0.75): exact scores, ties by id.

`LexicalIndex`: ids and texts -> a saved index, then query texts -> ranked ids. It is the word half
of a hybrid search and finds passages in knowledge bases. Every word of a text is indexed. Stop
words are left out of a query unless it has no other word ("The Who", "It" stay findable), which
keeps long questions fast and changes hardly any score. Words are stemmed where BM25 is fused with
vectors, and not where surface forms of names must match as they are.

Postings are three arrays by word (a CSC matrix of texts x words): scores, texts, and where each
word's begin. They are built from batches of texts: a posting takes 5 bytes while texts are read, 13
at the peak, 8 in the end. The scores are those of bm25s to the last bit.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from argus.data.documents import listed
from argus.data.provenance import content_hash
from argus.data.reading import reading
from argus.data.texts import stream_safe
from argus.data.types import FloatArray, IntArray, Run
from argus.data.writing import remove, replacing
from argus.errors import InputError
from argus.indexes.snapshot import check_k

if TYPE_CHECKING:
    from argus.indexes.views import ViewIndex

K1, B = 1.5, 0.75
# Columns of a saved index, an Arrow file with one row of lists. "words" has them by number.
COLUMNS = ("ids", "starts", "words", "scores", "texts", "bounds")
ABOUT = b"about"
# Texts whose words are counted at a time.
BATCH = 10_000
# Folder of an index with one saved BM25 per state, of one version.
FOLDER = "bm25"
# Raise this when analyzers, scores or files change: older saved ones are then built again.
FORMAT = 4
WORD = re.compile(r"[^\W_]+")
LONG_WORD = re.compile(r"\w\w+")
# Where the parts of a name of code meet: parse_json, parseJSON, JSONParser.
SEAM = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# English words that say nothing of a topic.
STOP_WORDS = frozenset(
    WORD.findall(
        "a an and are as at be but by for from had has have he her his how i if in into is it its "
        "me my no not of on or our she so such that the their them then there these they this to "
        "was we were what when where which who whom whose why will with would you your"
    )
)


def check_query(text: str, where: str | None = None) -> None:
    """Raise InputError for a query without a word."""
    if not text.strip():
        raise InputError("an empty query", expected="words", fix="Ask something.", where=where)


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, compatibility-folded, caseless.

    Accents stay, "ﬁ" and "fi" are one, "_" and "-" part words. No stemming.
    """
    return WORD.findall(_normal(text).casefold())


def query_words(text: str) -> list[str]:
    """Return the words of a query without stop words, or all of them when nothing else is left."""
    return SURFACE.queries(text)


def stems(text: str) -> list[str]:
    """Return the stems of words of two characters and more, by Porter's second English stemmer.

    A name of code is a word, and so are its parts: "parse_json" is found by "parse" and "JSON". A
    single letter says nothing of a topic, and formulas are full of them.
    """
    return list(_stemmer().stemWords(long_words(text)))


def long_words(text: str) -> list[str]:
    """Return the words of which `stems` returns the stems."""
    found = LONG_WORD.findall(_normal(text))
    names = [word for word in found if "_" in word or not word[1:].islower()]
    parts = (part for name in names for part in SEAM.split(name) if 1 < len(part) < len(name))
    return [word.casefold() for word in chain(found, parts)]


def _normal(text: str) -> str:
    return unicodedata.normalize("NFKC", stream_safe(text))


@cache
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("english")


@dataclass(frozen=True)
class Analyzer:
    """A way to split texts into terms for BM25.

    documents: terms of a text. surfaces: its words as they stand, one for each of these terms.
    """

    name: str
    documents: Callable[[str], list[str]]
    surfaces: Callable[[str], list[str]]

    def queries(self, text: str) -> list[str]:
        """Return the terms of a query without stop words, or all where nothing else is left."""
        everything = self.documents(text)
        return [word for word in everything if word not in _stop_words(self)] or everything

    def query_forms(self, text: str) -> dict[str, str]:
        """Return the terms of `queries`, each with the first word of the query that it is of."""
        forms: dict[str, str] = {}
        for term, word in zip(self.documents(text), self.surfaces(text), strict=True):
            forms.setdefault(term, word)
        return {term: forms[term] for term in self.queries(text)}


@cache
def _stop_words(analyzer: Analyzer) -> frozenset[str]:
    return frozenset(analyzer.documents(" ".join(sorted(STOP_WORDS)))) | STOP_WORDS


# Words as they stand: names match as they are.
SURFACE = Analyzer("surface", words, words)
# Words of a question and of a text meet in their stems.
STEMMED = Analyzer("stemmed", stems, long_words)
# Analyzers by the name in a saved index.
ANALYZERS = {analyzer.name: analyzer for analyzer in (SURFACE, STEMMED)}


class Postings(NamedTuple):
    """Words and their scores in texts.

    vocabulary: number of each word. 0 is no word. scores: float32, (n_postings,). texts: int32,
    (n_postings,), ascending within a word. bounds: (n_words + 1,), start of each word's postings.
    """

    vocabulary: dict[str, int]
    scores: npt.NDArray[np.float32]
    texts: npt.NDArray[np.int32]
    bounds: IntArray


@dataclass(frozen=True)
class Hits:
    """Ranked ids per query, best first, scores above 0 only. A query may have none.

    coverage: share of each query that its best document covers, 0 to 1: the document's score over
    the weights of all words of the query, those that no document has included.
    """

    ids: list[list[str]]
    scores: list[list[float]]
    coverage: list[float]

    def run(self, query_ids: Sequence[str]) -> Run:
        """Return `query_id -> id -> score`, in rank order."""
        return {
            query: dict(zip(ids, scores, strict=True))
            for query, ids, scores in zip(query_ids, self.ids, self.scores, strict=True)
        }


class LexicalIndex:
    """BM25 over documents of one or several texts. Make one with `build`, or `open` a saved one.

    made_of: the caller's key for its texts, "" without one.
    """

    def __init__(
        self,
        ids: list[str],
        starts: IntArray,
        postings: Postings,
        *,
        made_of: str = "",
        analyzer: Analyzer = SURFACE,
    ) -> None:
        self.ids, self.analyzer, self.made_of = ids, analyzer, made_of
        self._starts, self._postings = starts, postings

    @classmethod
    def build(
        cls, ids: Sequence[str], texts: Sequence[str], analyzer: Analyzer = SURFACE, **settings: Any
    ) -> LexicalIndex:
        """Index `texts[i]` under `ids[i]`. settings: of `from_batches`.

        An id given several times is a document with several texts, of which the best counts.
        Texts may be empty: they are never found.
        """
        if len(ids) != len(texts):
            raise ValueError(f"{len(ids)} ids for {len(texts)} texts")
        order = sorted(range(len(ids)), key=lambda i: ids[i])  # stable: texts of one id keep order
        parts = (order[at : at + BATCH] for at in range(0, len(order), BATCH))
        batches = (([ids[i] for i in part], [texts[i] for i in part]) for part in parts)
        return cls.from_batches(batches, analyzer=analyzer, **settings)

    @classmethod
    def from_batches(
        cls,
        batches: Iterable[tuple[Sequence[str], Sequence[str]]],
        *,
        made_of: str = "",
        analyzer: Analyzer = SURFACE,
    ) -> LexicalIndex:
        """Index ids and texts that come batch by batch, as `build` does. No text is kept.

        Raises ValueError where ids are not in ascending order.
        """
        ids: list[str] = []
        starts: list[int] = []
        vocabulary, parts, n = {"": 0}, [], 0
        for names, texts in batches:
            for name, _ in zip(names, texts, strict=True):
                if ids and name < ids[-1]:
                    raise ValueError(f"{name!r} comes after {ids[-1]!r}")
                if not ids or name != ids[-1]:
                    ids.append(name)
                    starts.append(n)
                n += 1
            parts.append(_count_words(texts, vocabulary, analyzer))
        postings = Postings(vocabulary, *_score_words(parts, len(vocabulary)))
        bounds = np.array([*starts, n], np.int64)
        return cls(ids, bounds, postings, made_of=made_of, analyzer=analyzer)

    def save(self, file: Path) -> None:
        """Write the index to a file, whole or not at all."""
        file.parent.mkdir(parents=True, exist_ok=True)
        known, *postings = self._postings
        names = [pa.array(of, pa.large_string()) for of in (self.ids, list(known))]
        lists = [names[0], pa.array(self._starts), names[1], *map(pa.array, postings)]
        rows = [pa.LargeListArray.from_arrays([0, len(one)], one) for one in lists]
        about = json.dumps({"made_of": self.made_of, "analyzer": self.analyzer.name})
        table = pa.table(rows, COLUMNS).replace_schema_metadata({ABOUT: about})
        with replacing(file) as aside, pa.ipc.new_file(str(aside), table.schema) as out:
            out.write_table(table)

    @classmethod
    def open(cls, file: Path) -> LexicalIndex:
        """Open a saved index, memory-mapped. Raises InputError for any other file."""
        expected = "the file as Argus wrote it"
        with reading(file, "is no BM25 index", expected=expected, fix="Build it again."):
            saved, about = _open_saved(file)
            (row,) = (saved.get_batch(i) for i in range(saved.num_record_batches))
            row.validate(full=True)
            ids, starts, words, *postings = (row[name].values for name in COLUMNS)
            known = {word: number for number, word in enumerate(words.to_pylist())}
            return cls(
                ids.to_pylist(),
                starts.to_numpy(),
                Postings(known, *(one.to_numpy() for one in postings)),
                made_of=about["made_of"],
                analyzer=ANALYZERS[about["analyzer"]],
            )

    @staticmethod
    def is_saved(file: Path, *, made_of: str) -> bool:
        """Return whether a file is an index of these texts, without reading it whole."""
        with suppress(Exception):
            return bool(_open_saved(file)[1]["made_of"] == made_of)
        return False

    def __len__(self) -> int:
        """Return the number of documents."""
        return len(self.ids)

    def search(self, queries: Iterable[str], k: int) -> Hits:
        """Return the k best documents of each query text. Ties break by id."""
        check_k(k)
        hits, n = Hits([], [], []), int(self._starts[-1])
        known, bounds = self._postings.vocabulary, self._postings.bounds
        for query in listed(queries, "queries"):
            terms = self.analyzer.queries(query)
            scores = self._scores(terms)
            rows = np.flatnonzero(scores > 0)
            if len(rows) > k:
                kth = np.partition(scores[rows], -k)[-k]
                rows = rows[scores[rows] >= kth]  # all that tie with the k-th, cut below
            rows = rows[np.argsort(-scores[rows], kind="stable")[:k]]
            hits.ids.append([self.ids[row] for row in rows])
            hits.scores.append(scores[rows].tolist())
            coverage = 0.0
            if len(rows):
                words = [known.get(term) for term in terms]
                having = [0 if w is None else int(bounds[w + 1] - bounds[w]) for w in words]
                coverage = hits.scores[-1][0] / sum(_inverse_frequency(df, n) for df in having)
            hits.coverage.append(coverage)
        return hits

    def scores(self, query: str) -> FloatArray:
        """Return the score of every document, in the order of `ids`, of shape (len(self),)."""
        return self._scores(self.analyzer.queries(query))

    def _scores(self, terms: Sequence[str]) -> FloatArray:
        """Add up the scores of terms, one after the other, as bm25s does."""
        known, scores, texts, bounds = self._postings
        sums = np.zeros(self._starts[-1], np.float32)
        for word in (known[term] for term in terms if term in known):
            part = slice(bounds[word], bounds[word + 1])
            sums[texts[part]] += scores[part]  # each text once in a word
        return np.maximum.reduceat(sums, self._starts[:-1]) if len(self) < len(sums) else sums


def words_of(
    index: ViewIndex, as_of: str | None, without: Sequence[str], analyzer: Analyzer
) -> LexicalIndex:
    """Return BM25 over the views of a state, saved in the index so that words are counted once.

    without: kinds of views to leave out. Nothing is lost with the saved one, and it is built anew
    where it cannot be written or is damaged. That of a later version replaces it.
    """
    state = index.condition(as_of)
    key = json.dumps([FORMAT, index.made, index.version, state, [*without], analyzer.name])
    file = index.path / FOLDER / f"{index.version}-{content_hash(key).hex()[:16]}"
    with suppress(InputError):  # missing, or damaged: built anew
        return LexicalIndex.open(file)
    columns = index.rows(as_of).select(["doc_id", "text", "kind"]).to_pylist()
    rows = [row for row in columns if row["kind"] not in without]
    words = LexicalIndex.build([r["doc_id"] for r in rows], [r["text"] for r in rows], analyzer)
    with suppress(OSError):  # no right to write, or no space
        words.save(file)
        for path in file.parent.iterdir():  # of earlier versions, or left half written
            if not path.name.startswith(f"{index.version}-"):
                remove(path)
    return words


def remove_words(index: Path) -> None:
    """Remove the saved BM25 of an index, where that can be done."""
    with suppress(OSError):
        remove(index / FOLDER)


def _open_saved(file: Path) -> tuple[Any, dict[str, Any]]:
    """Return a saved index as an Arrow reader, and the texts that it was made of."""
    saved = pa.ipc.open_file(pa.memory_map(str(file)))
    return saved, json.loads(saved.schema.metadata[ABOUT])


def _count_words(
    texts: Sequence[str], vocabulary: dict[str, int], analyzer: Analyzer
) -> tuple[Any, Any, IntArray, IntArray]:
    """Return words of texts, how often each occurs, distinct words per text, and words per text.

    Those of text i are the next `distinct[i]` of the first two. New words get a number.
    """
    counts, lengths = [], []
    for text in texts:
        words = analyzer.documents(text)
        lengths.append(len(words))
        counts.append(Counter(words))
    distinct = np.array([len(c) for c in counts], np.int64)
    n = int(distinct.sum())
    numbers = (vocabulary.setdefault(w, len(vocabulary)) for w in chain.from_iterable(counts))
    tokens = np.fromiter(numbers, np.int32, n)
    times = np.fromiter(chain.from_iterable(c.values() for c in counts), np.int64, n)
    times = times.astype(np.min_scalar_type(times.max(initial=0)))
    return tokens, times, distinct, np.array(lengths, np.int64)


def _score_words(parts: list[tuple[Any, Any, IntArray, IntArray]], n_words: int) -> Any:
    """Return scores, texts and bounds of `Postings`, from `_count_words` of each batch.

    `parts` is emptied on the way, so that both are never held whole.
    """
    having = np.zeros(n_words, np.int64)
    for tokens, *_ in parts:
        having += np.bincount(tokens, minlength=n_words)
    lengths = np.concatenate([np.zeros(0, np.int64), *(of for *_, of in parts)])
    average = lengths.mean() if lengths.any() else 1.0
    some, at = np.unique(having, return_inverse=True)
    weights = [_inverse_frequency(df, len(lengths)) if df else 0.0 for df in some.tolist()]
    idf = np.array(weights, np.float32)[at]
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(having)])
    scores, texts = np.empty(bounds[-1], np.float32), np.empty(bounds[-1], np.int32)
    heads, first = bounds[:-1].copy(), 0
    while parts:
        tokens, times, distinct, own_lengths = parts.pop(0)
        order = np.argsort(tokens, kind="stable")
        ordered = tokens[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        repeats, present = np.diff(starts, append=len(ordered)), ordered[starts]
        place = np.repeat(heads[present] - starts, repeats) + np.arange(len(ordered))
        heads[present] += repeats
        rows = np.repeat(np.arange(len(own_lengths), dtype=np.int32), distinct)[order]
        by_length = K1 * ((1 - B) + B * own_lengths / average)
        tf = times[order].astype(np.float32)
        scores[place] = idf[ordered] * (tf / (by_length[rows] + tf))
        texts[place] = rows + np.int32(first)
        first += len(own_lengths)
    return scores, texts, bounds


def _inverse_frequency(df: int, n: int) -> float:
    """Return the weight of a word that df of n texts have (Lucene's)."""
    return math.log(1 + (n - df + 0.5) / (df + 0.5))
