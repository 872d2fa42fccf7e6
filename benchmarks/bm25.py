"""BM25 lookups of 10,000 mentions over the wiki2 passages: building, asking, and plain scoring.

Mentions: the first 10,000 distinct labels of fb15k237, looked up as `argus tune apply expand` does,
two passages each. The baseline is BM25 written out, one dictionary of counts per passage and one
pass over all passages per word (as the package rank_bm25 does it), over the same words, on 50
mentions spread over the 10,000; both answer those 50, by turns, and their answers are compared.
The bar: 10,000 lookups in under 10 seconds.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from argus.corpora.opening import read_corpus
from argus.data.provenance import peak_memory_bytes
from argus.data.types import Document, FloatArray
from argus.indexes.lexical import query_words, words
from argus.remedies.reference import PassageLookup
from benchmarks.shared import collection

LOOKUPS, K, SAMPLE, BAR_S = 10_000, 2, 50, 10.0
K1, B = 1.5, 0.75


def run() -> dict[str, Any]:
    passages = [d for d in read_corpus(collection("wiki2")) if d.content.strip()]
    names = _labels()
    start = time.perf_counter()
    lookup = PassageLookup(passages)
    built = time.perf_counter()
    found = lookup.by_words(names, K)
    done = time.perf_counter()
    return {
        "passages": len(passages),
        "lookups": len(names),
        "k": K,
        "found_nothing": sum(not passages_of for passages_of in found),
        "build_s": round(built - start, 2),
        "lookups_s": round(done - built, 2),
        "bar_s": BAR_S,
        "within_bar": done - built < BAR_S,
        **_against_plain(lookup, passages, names[:: len(names) // SAMPLE][:SAMPLE]),
        "peak_mib": round(peak_memory_bytes() / 2**20),
    }


def _labels() -> list[str]:
    with (collection("fb15k237") / "entities.jsonl").open(encoding="utf-8") as file:
        labels = dict.fromkeys(json.loads(line)["label"] for line in file)
    return list(filter(None, labels))[:LOOKUPS]


def _against_plain(
    lookup: PassageLookup, passages: Sequence[Document], names: Sequence[str]
) -> dict[str, Any]:
    start = time.perf_counter()
    plain = PlainBM25(passages)
    plain_build_s = time.perf_counter() - start
    ours_s, plain_s, same = 0.0, 0.0, 0
    for name in names:  # by turns, so that a busy moment hits both
        start = time.perf_counter()
        ours = [passage.id for passage in lookup.by_words([name], K)[0]]
        between = time.perf_counter()
        theirs = plain.best(name, K)
        ours_s, plain_s = ours_s + between - start, plain_s + time.perf_counter() - between
        same += ours == theirs
    return {
        "plain_build_s": round(plain_build_s, 2),
        "sample": len(names),
        "ms_per_lookup": round(ours_s / len(names) * 1e3, 3),
        "plain_ms_per_lookup": round(plain_s / len(names) * 1e3, 2),
        "times_faster": round(plain_s / ours_s, 1),
        "same_passages": same,
    }


class PlainBM25:
    """Robertson's BM25 as Lucene computes it, passage by passage; ties by id."""

    def __init__(self, passages: Sequence[Document]) -> None:
        ordered = sorted(passages, key=lambda passage: passage.id)
        self.ids = [passage.id for passage in ordered]
        self.counts = [Counter(words(passage.content)) for passage in ordered]
        lengths = np.array([counts.total() for counts in self.counts], np.float64)
        self.norm = K1 * (1 - B + B * lengths / lengths.mean())
        self.documents_with = Counter(word for counts in self.counts for word in counts)

    def best(self, query: str, k: int) -> list[str]:
        """Return the ids of the k best passages with a score above 0."""
        total = np.zeros(len(self.ids))
        for word in query_words(query):
            total += self._scores(word)
        order = np.argsort(-total.astype(np.float32), kind="stable")[:k]
        return [self.ids[row] for row in order if total[row] > 0]

    def _scores(self, word: str) -> FloatArray:
        n = self.documents_with[word]
        rarity = np.log(1 + (len(self.ids) - n + 0.5) / (n + 0.5))
        times = np.array([counts.get(word, 0) for counts in self.counts], np.float64)
        scores: FloatArray = rarity * times / (times + self.norm)
        return scores
