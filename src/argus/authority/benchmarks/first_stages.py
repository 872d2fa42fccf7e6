"""Rank the documents of a benchmark for its questions: the first stages of its systems."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from argus.authority.benchmarks.collection import Benchmark
from argus.data.types import FloatArray, IntArray, Run
from argus.devices import check_device
from argus.encoders import EmbeddingStore, Encoder, documents, embed, queries
from argus.encoders.embed import Embedded, Item
from argus.errors import InputError
from argus.extras import naming_extras
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex, words

K1, B, EPSILON = 1.5, 0.75, 0.25
_WORD = re.compile(r"\w+")


def okapi_words(text: str) -> list[str]:
    """Return the words of a text, lower case."""
    return _WORD.findall(text.lower())


class Okapi:
    """BM25Okapi over texts: k1 = 1.5, b = 0.75, epsilon = 0.25."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(okapi_words(text)) for text in texts]
        self._number: dict[str, int] = {}
        for count in counts:
            for word in count:
                self._number.setdefault(word, len(self._number))
        n = len(texts)
        rows = [self._number[word] for count in counts for word in count]
        columns = [i for i, count in enumerate(counts) for _ in count]
        tf = np.array([times for count in counts for times in count.values()], np.float64)
        lengths = np.array([count.total() for count in counts], np.float64)
        share = lengths / max(lengths.mean(), 1e-9) if n else lengths
        saturated = tf * (K1 + 1) / (tf + K1 * (1 - B + B * share[columns])) if rows else tf
        documents = np.bincount(rows, minlength=len(self._number))
        idf = np.log((n - documents + 0.5) / (documents + 0.5))
        idf = np.where(idf < 0, EPSILON * idf.mean(), idf) if len(idf) else idf
        shape = (len(self._number), n)  # (words, texts)
        self._weights = csr_array((idf[rows] * saturated, (rows, columns)), shape=shape)

    def scores(self, questions: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the score of every text for each question, of shape (n_questions, n_texts)."""
        counts = [
            Counter(self._number[word] for word in okapi_words(q) if word in self._number)
            for q in questions
        ]
        values = np.array([n for count in counts for n in count.values()], np.float64)
        rows = [i for i, count in enumerate(counts) for _ in count]
        columns = [word for count in counts for word in count]
        shape = (len(questions), len(self._number))
        totals: npt.NDArray[np.float64] = (
            csr_array((values, (rows, columns)), shape=shape) @ self._weights
        ).toarray()
        return totals


class CrossEncoder:
    """A sentence-transformers cross-encoder, loaded when it is made.

    model: a folder, or a name on the hub. Raises InputError where there is no such model.
    """

    @naming_extras()
    def __init__(self, model: str, *, device: str | None = None) -> None:
        from sentence_transformers import CrossEncoder as Loaded

        self.name = Path(model).resolve().name if Path(model).is_dir() else model
        offline = Path(model).exists() or os.environ.get("HF_HUB_OFFLINE") == "1"
        try:
            self._model: Any = Loaded(model, device=check_device(device), local_files_only=offline)
        except Exception as error:  # of many kinds, from what is not a model in a folder to a 404
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)[:200]
            got = f"cross-encoder {model!r} could not be loaded ({reason})"
            expected = "a folder with a sentence-transformers cross-encoder, or its name"
            fix, where = "Check the path; without network, give a folder.", "--cross-encoder"
            raise InputError(got, expected=expected, fix=fix, where=where) from error

    def scores(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one score per (question, text), higher is better. A pair is scored once."""
        unique = list(dict.fromkeys(pairs))
        if not unique:
            return []
        values = self._model.predict(unique, show_progress_bar=False)
        if values.ndim != 1:
            got = f"cross-encoder {self.name!r} gives {values.shape[1]} numbers per pair"
            expected = "one number: how well a document answers a question"
            fix, where = "Give a model for ranking, with one label.", "--cross-encoder"
            raise InputError(got, expected=expected, fix=fix, where=where)
        score = dict(zip(unique, values.tolist(), strict=True))
        return [score[pair] for pair in pairs]


DEPTH = 100  # How many documents of a ranking are kept, and fused in the hybrid
BLOCK = 256  # Questions whose scores over all documents are held at a time
Scores = npt.NDArray[np.float32] | npt.NDArray[np.float64]


class Rankings(NamedTuple):
    """A ranking per question, and the questions that could not be asked, with the reason."""

    run: Run
    failures: Mapping[str, str] = {}


class FirstStages:
    """The rankings of a benchmark's questions by each first stage, made when first asked for.

    encoder, store: of the dense stages, None where there are none. k: how many documents are to be
    served. Rankings are DEPTH deep, or k where that is more.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        *,
        encoder: Encoder | None = None,
        store: EmbeddingStore | None = None,
        k: int = 1,
    ) -> None:
        self.benchmark, self.depth = benchmark, max(DEPTH, k)
        self._encoder, self._store = encoder, store
        records = sorted(benchmark.records, key=lambda record: record.id)
        # Document id to what is indexed of it, ordered by id.
        self.texts = {record.id: record.document.content for record in records}
        self._ids, self._asked = list(self.texts), {q.id: q.text for q in benchmark.questions}

    @cached_property
    def bm25(self) -> Rankings:
        """BM25 as `argus.indexes.lexical` has it: k1 = 1.5, b = 0.75."""
        index = LexicalIndex.build(self._ids, list(self.texts.values()))
        hits = index.search(self._asked.values(), self.depth)
        return Rankings(hits.run(list(self._asked)))

    @cached_property
    def okapi(self) -> Rankings:
        """BM25 as the package rank_bm25 computes it (see `Okapi`)."""
        index, texts = Okapi(list(self.texts.values())), list(self._asked.values())
        return Rankings(self._best(list(self._asked), lambda block: index.scores(texts[block])))

    @cached_property
    @naming_extras()
    def tfidf(self) -> Rankings:
        """Cosine of TF-IDF vectors, smoothed IDF, every word (Appendix C)."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(analyzer=words)
        try:
            indexed = vectorizer.fit_transform(self.texts.values()).T.tocsr()
        except ValueError:  # no document has a word
            return Rankings({id_: {} for id_ in self._asked})
        weights = vectorizer.transform(self._asked.values())
        return Rankings(
            self._best(list(self._asked), lambda block: (weights[block] @ indexed).toarray())
        )

    def _best(
        self,
        questions: Sequence[str],
        scores: Callable[[slice], Scores],
        ids: Sequence[str] | None = None,
    ) -> Run:
        """Return the best documents of questions. scores: of a block of them.

        ids: of the documents that are scored. None: of all, and a score of 0 means not found.
        """
        run: Run = {}
        for start in range(0, len(questions), BLOCK):
            block = slice(start, start + BLOCK)
            for question, row in zip(questions[block], scores(block), strict=True):
                best = top_rows(row, self.depth)
                own = ids or self._ids
                run[question] = {own[i]: float(row[i]) for i in best if ids or row[i] > 0}
        return run

    @cached_property
    def dense(self) -> Rankings:
        """Cosine of question and document by the encoder."""
        items = queries(list(self._asked.values()))
        return self._nearest(dict(zip(self._asked, items, strict=True)))

    @cached_property
    def hyde(self) -> Rankings:
        """Cosine of a stored hypothetical document and the documents (Gao et al., 2023)."""
        stored = self.benchmark.hypotheticals
        usable = {id_: stored[id_] for id_ in self._asked if stored.get(id_)}
        rankings = self._nearest(dict(zip(usable, documents(list(usable.values())), strict=True)))
        absent = (id_ for id_ in self._asked if id_ not in usable)
        reasons = dict.fromkeys(absent, "no stored hypothetical document")
        return Rankings(rankings.run, {**rankings.failures, **reasons})

    @cached_property
    def hybrid(self) -> Rankings:
        """The first 100 of dense and of BM25, fused by reciprocal ranks.

        No weighted min-max was better and harmed nowhere (docs/results.md).
        """
        dense, bm25 = (
            {q: dict(list(scores.items())[:DEPTH]) for q, scores in stage.run.items()}
            for stage in (self.dense, self.bm25)
        )
        failures = self.dense.failures
        fused = fuse_with_bm25(dense, bm25, self.depth, "rrf")
        return Rankings({q: scores for q, scores in fused.items() if q not in failures}, failures)

    def _nearest(self, items: Mapping[str, Item]) -> Rankings:
        ids, unique, expand = self._indexed
        embedded = self._embed(list(items.values()), "questions")
        failures = {list(items)[i]: reason for i, reason in embedded.failures.items()}
        answered = [id_ for id_ in items if id_ not in failures]
        run = self._best(
            answered, lambda block: (embedded.vectors[block] @ unique.T)[:, expand], ids
        )
        return Rankings(run, failures)

    @cached_property
    def _indexed(self) -> tuple[list[str], FloatArray, IntArray]:
        """Return documents with a vector, the vectors of distinct texts, and which is whose."""
        texts = {id_: text for id_, text in self.texts.items() if text.strip()}
        unique = list(dict.fromkeys(texts.values()))
        embedded = self._embed(documents(unique), "documents")
        row = {unique[i]: n for n, i in enumerate(np.flatnonzero(embedded.ok).tolist())}
        ids = [id_ for id_, text in texts.items() if text in row]
        return ids, embedded.vectors, np.array([row[texts[id_]] for id_ in ids], np.int64)

    def _embed(self, items: Sequence[Item], what: str) -> Embedded:
        if self._encoder is None or self._store is None:
            raise ValueError("a dense stage needs an encoder and a store")
        return embed(items, self._encoder, self._store, what=what)


def top_rows(scores: Scores, k: int) -> IntArray:
    """Return the k highest of a vector of scores, best first, ties by row, shape (min(k, n),)."""
    rows = np.arange(len(scores))
    if len(rows) > k:
        kth = np.partition(scores, -k)[-k]
        rows = rows[scores >= kth]  # all that tie with the k-th, cut below
    best: IntArray = rows[np.argsort(-scores[rows], kind="stable")[:k]]
    return best
