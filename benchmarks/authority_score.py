"""Scoring 1,000 FinSuperQA questions over 12,250 events end to end, against a plain scorer.

Ours: BM25 index, anchors, closure by scope index, frontier, TCA, from records to summary, nothing
kept from before; three runs, median. The plain scorer does the same in the manner of a released
evaluation script: one pass over all documents per question with a dictionary of counts each, then
every rule on every pair of the events that share an entity with an anchor (the RSSG as Appendix C
describes it), closure and frontier over those pairs. It runs on every 50th question, and its time
is scaled to all of them. Both must say the same of TCA, and serve the same documents, on those.
The bar: 50 times faster.
"""

from __future__ import annotations

import math
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from argus.authority.benchmarks.answers import answer_of
from argus.authority.benchmarks.first_stages import DEPTH, FirstStages
from argus.authority.benchmarks.metrics import Judge
from argus.authority.benchmarks.score import score, summarise
from argus.authority.benchmarks.source import MAKERS
from argus.authority.benchmarks.systems import ANCHORS, SYSTEMS, Bench
from argus.authority.benchmarks.types import Benchmark, Question
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.data.provenance import peak_memory_bytes
from argus.indexes.words import query_words, words

ROUNDS, STEP, K, BAR = 3, 50, 5, 50
K1, B = 1.5, 0.75


def run() -> dict[str, Any]:
    benchmark = MAKERS["finsuperqa"](seed=0)
    sample = replace(benchmark, questions=benchmark.questions[::STEP])
    ours(sample)  # imports
    ours_s, plain_s, ranking_s = [], [], []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        served, summary = ours(benchmark)
        ours_s.append(time.perf_counter() - start)
    start = time.perf_counter()
    plain = Plain(benchmark)
    built = time.perf_counter() - start
    expected, right = {}, []
    for question in sample.questions:
        start = time.perf_counter()
        top = plain.rank(question.text)
        middle = time.perf_counter()
        expected[question.id] = plain.resolve(top)
        right.append(plain.tca(question, expected[question.id]))
        plain_s.append(time.perf_counter() - start)
        ranking_s.append(middle - start)
    n = len(benchmark.questions)
    median, whole = statistics.median(ours_s), built + sum(plain_s) / len(plain_s) * n
    _, sampled = ours(sample)
    return {
        "questions": n,
        "records": len(benchmark.records),
        "ours_s": round(median, 2),
        "ours_s_runs": [round(s, 2) for s in ours_s],
        "plain_s_scaled": round(whole, 1),
        "plain_questions_timed": len(sample.questions),
        "plain_ranking_alone_s_scaled": round(sum(ranking_s) / len(ranking_s) * n, 1),
        "times_faster": round(whole / median, 1),
        "bar": BAR,
        "within_bar": whole / median >= BAR,
        "tca": summary["overall"]["tca"]["value"],
        "tca_of_sample_ours": sampled["overall"]["tca"]["value"],
        "tca_of_sample_plain": sum(right) / len(right),
        "same_documents_in_sample": all(served[q] == ids for q, ids in expected.items()),
        "peak_mib": round(peak_memory_bytes() / 2**20),
    }


def ours(benchmark: Benchmark) -> tuple[dict[str, tuple[str, ...]], dict[str, Any]]:
    """Score two-stage retrieval with BM25 anchors; return what was served, and the summary."""
    system = SYSTEMS["two-stage-bm25"]
    bench = Bench(benchmark, FirstStages(benchmark, k=K), k=K)
    judge = Judge(benchmark, lambda q, ids: answer_of(ids, q.scope, bench.relation))
    assert system.closure is not None
    outcomes = system.run(bench)
    scored = score(benchmark, outcomes, judge, k=K, closure=system.closure(bench))
    return {q: outcome.documents for q, outcome in outcomes.items()}, summarise(scored)


class Plain:
    """The same by plain loops."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.rules = benchmark.rules
        self.records = {r.id: r for r in sorted(benchmark.records, key=lambda r: r.id)}
        self.counts = [Counter(words(r.document.content)) for r in self.records.values()]
        self.ids = list(self.records)
        self.lengths = [count.total() for count in self.counts]
        self.mean = sum(self.lengths) / len(self.lengths)
        self.df = Counter(word for count in self.counts for word in count)
        self.sharing: dict[tuple[str, str], list[str]] = {}
        self.everywhere = [r.id for r in self.records.values() if not r.entities]
        for record in self.records.values():
            for entity in record.entities:
                self.sharing.setdefault(entity, []).append(record.id)
        self.authority = Authority(benchmark.records, benchmark.rules)
        self.gold = Authority(benchmark.records, edges=benchmark.edges)

    def rank(self, question: str) -> list[str]:
        """Return the first documents by BM25 (Lucene's IDF), ties by id."""
        n = len(self.ids)
        scores = []
        tokens = query_words(question)
        for count, length in zip(self.counts, self.lengths, strict=True):
            score = 0.0
            for word in tokens:
                tf = count.get(word, 0)
                if tf:
                    idf = math.log(1 + (n - self.df[word] + 0.5) / (self.df[word] + 0.5))
                    score += idf * tf / (tf + K1 * (1 - B + B * length / self.mean))
            scores.append(score)
        order = sorted(range(n), key=lambda i: -scores[i])  # stable: ties by id
        return [self.ids[i] for i in order[:DEPTH] if scores[i] > 0]

    def resolve(self, top: Sequence[str]) -> tuple[str, ...]:
        """Return what controls the anchors, in their places."""
        anchors = top[:ANCHORS]
        near = dict.fromkeys([*anchors, *self.everywhere])
        for anchor in anchors:
            for entity in self.records[anchor].entities:
                near |= dict.fromkeys(self.sharing[entity])
        events = [self.records[id_] for id_ in near]
        newer: dict[str, list[str]] = {id_: [] for id_ in near}
        for older in events:
            for later in events:
                if self._supersedes(later, older):
                    newer[older.id].append(later.id)
        served: dict[str, None] = {}
        for anchor in anchors:
            reached = [anchor]
            for id_ in reached:
                reached += [other for other in newer[id_] if other not in reached]
            served |= dict.fromkeys(id_ for id_ in reached if not newer[id_])
        return tuple(served)[:K]

    def _supersedes(self, newer: Record, older: Record) -> bool:
        return any(rule.holds(older, newer) for rule in self.rules)

    def tca(self, question: Question, served: Sequence[str]) -> bool:
        """Return AnswerCorrect and NoIgnoredSuperseder (Def. 7)."""
        above = [set(self.gold.closure([id_])[1:]) for id_ in served]
        noticed = all(not ids or ids & set(served) for ids in above)
        return noticed and answer_of(served, question.scope, self.authority) == question.answer
