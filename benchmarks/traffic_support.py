"""What support by words is worth: whether it tells which judged questions fail.

`argus traffic` orders questions by how far the best document of the corpus holds their words
(BM25), and calls the last tenth "least supported". Here every shared collection's questions are a
log without judgements, BM25 (stemmed) answers, and a question fails where nothing relevant is in
the first 10. Told: AUC of little support against failing (0.5 is chance), and the share that fails
of the least supported tenth and of all. Of one lexical retriever: it says nothing of others.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

import argus
from argus.corpora.opening import read_corpus
from argus.data.corpus import read_queries
from argus.data.qrels import read_qrels
from argus.data.types import Document, Query, Run
from argus.indexes.lexical import LexicalIndex
from argus.indexes.words import STEMMED
from benchmarks.shared import collection

COLLECTIONS = ("cranfield", "hotpot100", "impliret_wknow_multi", "theoremqa_theorems", "wiki2")
K = 10


class BM25:
    """A retriever by words."""

    def __init__(self, documents: list[Document]) -> None:
        ids, texts = [d.id for d in documents], [d.content for d in documents]
        self.index = LexicalIndex.build(ids, texts, STEMMED)

    def search(self, queries: list[Query], k: int) -> Run:
        """Return the best documents by words."""
        return self.index.search([q.text for q in queries], k).run([q.id for q in queries])


def run() -> dict[str, Any]:
    results: dict[str, Any] = {"k": K}
    for name in COLLECTIONS:
        documents = read_corpus(collection(name))
        results[name] = _measured(name, documents, BM25(documents))
        print(name, results[name], flush=True)
    return results


def _measured(name: str, documents: list[Document], retriever: Any) -> dict[str, Any]:
    queries = read_queries(collection(name))
    qrels = read_qrels(collection(name) / "qrels" / "test.tsv")
    relevant: dict[str, set[str]] = {}
    for query in queries:
        own = {doc for doc, grade in qrels.get(query.id, {}).items() if grade > 0}
        relevant.setdefault(query.text, set()).update(own)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.jsonl"
        log.write_text("".join(json.dumps({"query": q.text}) + "\n" for q in queries))
        answers: Run = {}
        spy = _Spy(retriever, answers)
        result = argus.audit_traffic(
            log, out=Path(folder) / "out", corpus=documents, retriever=spy,
            config=argus.TrafficConfig(k=K, near=1),
        )  # fmt: skip
        rows = pq.read_table(result.folder / "questions.parquet").to_pylist()
    rows = [row for row in rows if relevant.get(row["text"])]
    failed = np.array([not relevant[row["text"]] & set(answers[row["text"]]) for row in rows])
    support = np.array([row["support"] for row in rows])
    least = support <= np.quantile(support, 0.1)
    return {
        "questions": len(rows),
        "failed": round(float(failed.mean()), 3),
        "auc": auc(-support, failed),
        "failed_of_least_supported": round(float(failed[least].mean()), 3),
    }


class _Spy:
    """Remembers what a retriever answered, by text."""

    def __init__(self, retriever: Any, answers: Run) -> None:
        self.retriever, self.answers = retriever, answers

    def search(self, queries: list[Query], k: int) -> Run:
        """Return what the retriever does."""
        run: Run = self.retriever.search(queries, k)
        self.answers.update({query.text: run[query.id] for query in queries})
        return run


def auc(scores: npt.NDArray[np.float64], failed: npt.NDArray[np.bool_]) -> float | None:
    """Return the chance that a failed question scores above another; ties count half."""
    from scipy.stats import rankdata

    n, bad = len(failed), int(failed.sum())
    if not 0 < bad < n:
        return None
    ranks = rankdata(scores)
    return round(float((ranks[failed].sum() - bad * (bad + 1) / 2) / (bad * (n - bad))), 3)
