"""Evidence aggregation against a plain Python reading of the same definition.

Per query about 185 keys, as a constrained beam search leaves them: all beginnings of n-grams of one
to ten tokens that stand in one to three passages, and of random places of the corpus; and a
log-probability for every token of the vocabulary. All log-probabilities are synthetic and seeded;
scoring has its published defaults. Both sides ask the same index in the same batches; that time is
in both, and given apart. The sides take turns; the least of three times counts. Equal means: the
same ten passages in the same order, scores within 1e-9.
"""

from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any

import numpy as np

from argus.generative.evidence import Key, Ranked, aggregate
from argus.generative.index import NgramIndex
from argus.generative.settings import Scoring
from benchmarks.ngram_corpus import index as corpus_index
from benchmarks.shared import timed
from tests.support.plain_evidence import plain_aggregate

QUERIES, KEYS, LONGEST, K, ROUNDS = 16, 185, 10, 10, 3


def run() -> dict[str, Any]:
    return measure(corpus_index())


def measure(index: NgramIndex) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    queries = [_question(index, rng) for _ in range(QUERIES)]
    scoring = Scoring()
    aggregate(index, *queries[0], scoring, K)  # compiles
    kernel, plain, look_ups, equal = [], [], [], 0
    for keys, unigrams in queries:
        watched = _Watched(index)
        ranked = aggregate(watched, keys, unigrams, scoring, K)
        look_ups.append(watched.seconds)
        equal += _equal(ranked, plain_aggregate(index, keys, unigrams, scoring, K))
        times = [
            [
                timed(partial(side, index, keys, unigrams, scoring, K))[0]
                for side in (aggregate, plain_aggregate)
            ]
            for _ in range(ROUNDS)
        ]
        fast, slow = (min(side) for side in zip(*times, strict=True))
        kernel.append(fast)
        plain.append(slow)
    ratios = [slow / fast for slow, fast in zip(plain, kernel, strict=True)]
    return {
        "tokens": index.n_tokens,
        "passages": index.n_documents,
        "queries": QUERIES,
        "keys_per_query": round(statistics.mean(len(keys) for keys, _ in queries), 1),
        "plain_ms_per_query": _ms(plain),
        "kernel_ms_per_query": _ms(kernel),
        "of_which_index_ms": _ms(look_ups),
        "times_faster": round(statistics.median(ratios), 1),
        "least_times_faster": round(min(ratios), 1),
        "equal_top_10": f"{equal} of {QUERIES}",
    }


class _Watched:
    """An index that adds up how long its answers take."""

    def __init__(self, index: NgramIndex) -> None:
        self.index, self.seconds = index, 0.0

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.index, name)
        if not callable(found):
            return found

        def answered(*arguments: Any) -> Any:
            start = time.perf_counter()
            answer = found(*arguments)
            self.seconds += time.perf_counter() - start
            return answer

        return answered


def _question(index: NgramIndex, rng: np.random.Generator) -> tuple[list[Key], np.ndarray]:
    """Return keys and the log-probabilities of single tokens.

    A key's tokens cost 0.2 to 2.5 nats each where it stands in a passage asked for, 1 to 4 else.
    """
    wanted = rng.integers(0, index.n_documents, rng.integers(1, 4))
    texts = [_tokens(index, int(document)) for document in wanted]
    logits = rng.normal(0, 2, index.vocabulary_size)
    for text in texts:
        logits[text] += 4
    found: dict[tuple[int, ...], float] = {}
    while len(found) < KEYS:
        known = rng.random() < 0.6
        text = texts[rng.integers(len(texts))] if known else _tokens(
            index, int(rng.integers(0, index.n_documents))
        )  # fmt: skip
        start = int(rng.integers(0, len(text)))
        ngram = text[start : start + LONGEST].tolist()
        cost = rng.uniform(0.2, 2.5, len(ngram)) if known else rng.uniform(1, 4, len(ngram))
        for length, total in enumerate(np.cumsum(cost), 1):
            found.setdefault(tuple(ngram[:length]), -float(total))
    keys = [Key(tokens, log, "body") for tokens, log in list(found.items())[:KEYS]]
    logits -= logits.max()
    return keys, (logits - np.log(np.exp(logits).sum())).astype(np.float32)


def _tokens(index: NgramIndex, document: int) -> np.ndarray:
    """Return the tokens of a passage, its border left out unless it has nothing else."""
    _, tokens = index.tokens_of(np.array([document]))
    return tokens[1:] if len(tokens) > 1 else tokens


def _ms(seconds: list[float]) -> float:
    return round(statistics.median(seconds) * 1e3, 2)


def _equal(ranked: Ranked, expected: list[tuple[int, float, Any]]) -> bool:
    same = ranked.documents.tolist() == [document for document, _, _ in expected]
    return same and np.allclose(ranked.scores, [score for _, score, _ in expected], rtol=1e-9)
