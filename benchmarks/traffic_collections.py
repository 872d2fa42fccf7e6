"""The judged collections as logs: questions, what four retrievers serve, and who failed.

TRAFFIC_VECTORS=FOLDER keeps vectors, so that another run embeds nothing (encoding takes 25 minutes
on two cores).
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, Query
from argus.encoders import EncoderConfig, load_encoder
from argus.evaluation.judged import read_judged
from argus.knowledge.stdlib import standard_library, standard_questions
from argus.traffic.risk.background import Background
from argus.traffic.risk.signals import Served, signals
from benchmarks.shared import collection

FAMILIES = {
    "hotpot100": "multi-hop", "wiki2": "multi-hop", "cranfield": "abstracts",
    "theoremqa_theorems": "theorems", "impliret_wknow_multi": "dialogues",
    "demo": "documentation", "authority/ghsa": "advisories", "authority/scotus": "decisions",
}  # fmt: skip
RETRIEVERS = ("dense", "BM25", "blend", "RRF")
K, POOL, SHARE, RRF = 10, 100, 0.2, 60
Floats = Any


@dataclass(frozen=True)
class Log:
    """One collection's questions as one retriever serves them.

    failed: 1 where none of the first ten is relevant. pairs: row of each relevant document's
    question; pair_failed: more than ten non-relevant documents stand above it. ndcg: at ten.
    """

    collection: str
    retriever: str
    signals: Floats
    words_only: Floats
    failed: Floats
    pairs: Floats
    pair_failed: Floats
    ndcg: Floats

    @property
    def family(self) -> str:
        """Collections of one family are left out together."""
        return FAMILIES[self.collection]


@dataclass(frozen=True)
class Judged:
    """A collection with its vectors; questions without a relevant document are left out."""

    documents: list[Document]
    questions: list[Query]
    relevant: list[dict[str, int]]
    document_vectors: Floats
    question_vectors: Floats


def judged(name: str) -> Judged:
    """Return a collection, embedded."""
    if name == "demo":
        library = standard_library()
        documents = [Document(e.id, e.paragraph, e.id) for e in library.entities]
        questions, grades = standard_questions()
        source = read_judged(list(questions), grades)
    else:
        home = collection(name)
        documents = open_corpus(home).documents(FieldNames())
        source = read_judged(home / "queries.jsonl", home / "qrels" / "test.tsv")
    ids = {document.id for document in documents}
    relevant = {
        q: {d: g for d, g in grades.items() if g > 0 and d in ids}
        for q, grades in source.qrels.items()
    }
    document_vectors, vectors = _vectors(name, documents, source.queries)
    rows = [i for i, q in enumerate(source.queries) if relevant.get(q.id)]
    kept = [source.queries[i] for i in rows]
    return Judged(documents, kept, [relevant[q.id] for q in kept], document_vectors, vectors[rows])


def _vectors(name: str, documents: list[Document], questions: Any) -> tuple[Floats, Floats]:
    home = os.environ.get("TRAFFIC_VECTORS")
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(home or temporary) / f"{name.replace('/', '_')}.npz"
        if not path.is_file():
            encoder = _encoder()
            np.savez(
                path,
                d=encoder.encode_documents([d.content for d in documents]),
                q=encoder.encode_queries([q.text for q in questions]),
            )
        with np.load(path, allow_pickle=False) as stored:
            return stored["d"], stored["q"]


@cache
def _encoder() -> Any:
    return load_encoder(EncoderConfig(precision="float32")).encoder


def logs(name: str) -> Iterator[Log]:
    """Yield a collection as each retriever serves it."""
    source = judged(name)
    background = Background.of(source.documents, source.document_vectors)
    bare = Background.of(source.documents)
    vectors = source.question_vectors
    by_words = np.stack([background.lexical.scores(q.text) for q in source.questions])
    near = vectors @ background.vectors.T  # type: ignore[union-attr]
    scores = {
        "dense": near,
        "BM25": by_words,
        "blend": (1 - SHARE) * _scaled(near) + SHARE * _scaled(by_words),
        "RRF": 1 / (RRF + _ranks(near)) + 1 / (RRF + _ranks(by_words)),
    }
    for retriever, table in scores.items():
        yield _log(name, retriever, source, (background, bare), table)


def _log(
    name: str, retriever: str, source: Judged, backgrounds: tuple[Background, Background], s: Floats
) -> Log:
    ids = backgrounds[0].ids
    place = {id_: i for i, id_ in enumerate(ids)}
    best = np.argsort(-s, axis=1, kind="stable")[:, :K]
    served = [
        Served(q.text, [ids[j] for j in best[i]], s[i, best[i]].tolist(), vector)
        for i, (q, vector) in enumerate(zip(source.questions, source.question_vectors, strict=True))
    ]
    plain = [Served(one.text, one.documents, one.scores) for one in served]
    failed, ndcg, pairs, pair_failed = [], [], [], []
    for i, grades in enumerate(source.relevant):
        gains = [grades.get(ids[j], 0) for j in best[i]]
        failed.append(float(not any(gains)))
        ndcg.append(_dcg(gains) / _dcg(sorted(grades.values(), reverse=True)[:K]))
        rows = np.array([place[d] for d in grades])
        others = np.ones(len(ids), bool)
        others[rows] = False
        for row in rows:
            above = (s[i] > s[i, row]) | ((s[i] == s[i, row]) & (np.arange(len(ids)) < row))
            pairs.append(i)
            pair_failed.append(float((above & others).sum() >= K))
    return Log(
        name, retriever, signals(served, backgrounds[0]), signals(plain, backgrounds[1]),
        np.array(failed), np.array(pairs), np.array(pair_failed), np.array(ndcg),
    )  # fmt: skip


def _dcg(gains: list[int]) -> float:
    return float(sum(gain / np.log2(rank + 1) for rank, gain in enumerate(gains, 1)))


def _scaled(scores: Floats) -> Floats:
    """Return scores between the least and the greatest of a question's best hundred."""
    best = -np.sort(-scores, axis=1)[:, :POOL]
    low, high = best[:, -1:], best[:, :1]
    return np.clip((scores - low) / np.maximum(high - low, 1e-9), 0, None)


def _ranks(scores: Floats) -> Floats:
    return np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1) + 1
