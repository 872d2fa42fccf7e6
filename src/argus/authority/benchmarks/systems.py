"""Answer a benchmark's questions by built-in systems: plain rankings, or superseders put in.

`System.run`: a `Bench` (benchmark, k, encoder) -> per question the documents served. The first
stage is BM25, TF-IDF, dense, HyDE or hybrid. The second may replace superseded documents. `judging`
scores the outcome. Settings are fixed (CAR section 5): 20 anchors, 20 documents re-ranked, fusion
to a depth of 100. Nothing is tuned on gold.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.judging import Closure, Outcome, gold_relation, pipeline_relation
from argus.authority.config import ANCHORS, Chains
from argus.authority.resolution import trace
from argus.authority.theory import ScopeNames, ScopeTimes
from argus.data.types import FloatArray, IntArray, Run
from argus.encoders import EmbeddingStore, Encoder, documents, embed, queries
from argus.encoders.embed import Embedded, Item
from argus.errors import InputError
from argus.extras import naming_extras
from argus.indexes.fusion import fuse_with_bm25
from argus.indexes.lexical import LexicalIndex, words

RERANKED = 20  # documents that the re-ranker sees
DEPTH = 100  # documents of a ranking that are kept, and fused in the hybrid
BLOCK = 256  # questions whose scores over all documents are held at a time
K1, B, EPSILON = 1.5, 0.75, 0.25  # of Okapi
Scores = npt.NDArray[np.float32] | npt.NDArray[np.float64]


def okapi_words(text: str) -> list[str]:
    """Return the words of a text, lower case."""
    return re.findall(r"\w+", text.lower())


class Okapi:
    """BM25Okapi over texts, as the package rank_bm25 computes it."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._n, found = len(texts), defaultdict[str, list[tuple[int, int]]](list)
        lengths = np.zeros(self._n)
        for number, text in enumerate(texts):
            words_of = okapi_words(text)
            lengths[number] = len(words_of)
            for word, times in Counter(words_of).items():
                found[word].append((number, times))
        share = lengths / max(lengths.mean(), 1e-9)
        n_with = np.array([len(texts_of) for texts_of in found.values()])
        idf = np.log((self._n - n_with + 0.5) / (n_with + 0.5))
        idf = np.where(idf < 0, EPSILON * idf.mean(), idf)
        self._weights = {}  # of a word: texts, and its weight in each
        for weight, (word, texts_of) in zip(idf, found.items(), strict=True):
            numbers, tf = np.array(texts_of).T
            saturated = tf * (K1 + 1) / (tf + K1 * (1 - B + B * share[numbers]))
            self._weights[word] = numbers, weight * saturated

    def scores(self, questions: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the score of every text for each question, of shape (n_questions, n_texts)."""
        totals = np.zeros((len(questions), self._n))
        for total, question in zip(totals, questions, strict=True):
            for word, times in Counter(okapi_words(question)).items():
                if word in self._weights:
                    numbers, weights = self._weights[word]
                    total[numbers] += times * weights
        return totals


class Rankings(NamedTuple):
    """A ranking per question, and the questions that could not be asked, with the reason."""

    run: Run
    failures: Mapping[str, str] = {}


class Bench:
    """A benchmark with its first stages, made when first asked for, and what a second stage needs.

    k: documents to serve. encoder, store: of the dense stages, None where there are none.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        *,
        k: int,
        encoder: Encoder | None = None,
        store: EmbeddingStore | None = None,
    ) -> None:
        self.benchmark, self.k, self.depth = benchmark, k, max(DEPTH, k)
        self.anchors = max(ANCHORS, k)
        self._encoder, self._store = encoder, store
        # The relation that a pipeline may know, and the one that judges.
        self.relation, self.gold = pipeline_relation(benchmark), gold_relation(benchmark)
        self.names, self.scopes = ScopeNames(benchmark.records), ScopeTimes(benchmark.records)
        records = sorted(benchmark.records, key=lambda record: record.id)
        # Document id to what is indexed of it, ordered by id.
        self.texts = {record.id: record.document.content for record in records}
        self._ids, self._asked = list(self.texts), {q.id: q.text for q in benchmark.questions}

    @cached_property
    def bm25(self) -> Rankings:
        """BM25 as `argus.indexes.lexical` has it: k1 = 1.5, b = 0.75."""
        return self._by_words(self._asked)

    @cached_property
    def known(self) -> Rankings:
        """BM25 asked with all the text of what a question is about (section 6.6, known anchor)."""
        texts = {q.id: [self.texts[a] for a in q.anchor] for q in self.benchmark.questions}
        return self._by_words({id_: " ".join(of) for id_, of in texts.items()})

    def _by_words(self, asked: Mapping[str, str]) -> Rankings:
        index = LexicalIndex.build(self._ids, list(self.texts.values()))
        return Rankings(index.search(asked.values(), self.depth).run(list(asked)))

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
        indexed = vectorizer.fit_transform(self.texts.values()).T.tocsr()
        weights = vectorizer.transform(self._asked.values())
        return Rankings(
            self._best(list(self._asked), lambda block: (weights[block] @ indexed).toarray())
        )

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

        No weighted min-max was better and harmed nowhere (docs/results/superseded-documents.md).
        """
        dense, bm25 = (
            {q: dict(list(scores.items())[:DEPTH]) for q, scores in stage.run.items()}
            for stage in (self.dense, self.bm25)
        )
        failures = self.dense.failures
        fused = fuse_with_bm25(dense, bm25, self.depth, "rrf")
        return Rankings({q: scores for q, scores in fused.items() if q not in failures}, failures)

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
                best = np.argsort(-row, kind="stable")[: self.depth]  # ties by row
                own = ids or self._ids
                run[question] = {own[i]: float(row[i]) for i in best if ids or row[i] > 0}
        return run

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
        assert self._encoder is not None and self._store is not None, "`choose` asks for them"
        return embed(items, self._encoder, self._store, what=what)


@dataclass(frozen=True)
class System:
    """One way to answer a question, over the ranking of a first stage, or without ("")."""

    name: str
    about: str
    stage: str
    serve: Callable[[Bench, Question, Mapping[str, float]], Outcome]

    @property
    def dense(self) -> bool:
        """True if it needs an encoder."""
        return self.stage in DENSE

    def closure(self, bench: Bench) -> Closure | None:
        """Return a function to the records that a pipeline reaches from its anchors, or None."""
        if self.serve is latest:
            return lambda ids: {*ids, *(new for id_ in ids for new in bench.scopes.later(id_))}
        if self.serve in (two_stage, _one_chain, closure):
            return lambda ids: set(bench.relation.reach(ids))
        return None

    def run(self, bench: Bench) -> dict[str, Outcome]:
        """Answer all questions. Those that the first stage failed on stay failed."""
        questions = bench.benchmark.questions
        if not self.stage:
            return {q.id: self.serve(bench, q, {}) for q in questions}
        run, failures = getattr(bench, self.stage)
        served = {q.id: self.serve(bench, q, run[q.id]) for q in questions if q.id in run}
        return served | {id_: Outcome(failure=why) for id_, why in failures.items()}


def direct(bench: Bench, question: Question, scores: Mapping[str, float]) -> Outcome:
    """Serve a ranking as it is."""
    return Outcome(tuple(scores)[: bench.k])


def two_stage(
    bench: Bench, question: Question, scores: Mapping[str, float], chains: Chains = Chains.ALL
) -> Outcome:
    """Serve the documents that control the anchors by the rules, in their places (TwoStage)."""
    anchors = dict(list(scores.items())[: bench.anchors])
    hits = trace(anchors, bench.relation, k=bench.k, chains=chains).hits
    return Outcome(tuple(hit.id for hit in hits), tuple(anchors))


def closure(bench: Bench, question: Question, scores: Mapping[str, float]) -> Outcome:
    """Serve what controls the gold anchors, which are given: the second stage alone."""
    return two_stage(bench, question, dict.fromkeys(question.anchor, 1.0))


def latest(bench: Bench, question: Question, scores: Mapping[str, float]) -> Outcome:
    """Serve the later records of each anchor's scope, blind to rules (TwoStage, anchor only).

    In an anchor's place come the later records of its scope, the latest first. For an anchor
    without time, these are all others. It stays itself where there is none.
    """
    anchors = tuple(scores)[: bench.anchors]
    return Outcome(tuple(bench.scopes.latest(anchors, bench.k)), anchors)


def rerank(bench: Bench, question: Question, scores: Mapping[str, float]) -> Outcome:
    """Put superseders before the rest of the encoder's first 20, by the gold relation.

    A superseder of one of them moves up only where it is one of them: nothing else is looked up.
    """
    top = tuple(scores)[: max(RERANKED, bench.k)]
    above = {newer for id_ in top for newer in bench.gold.closure([id_])[1:]}
    return Outcome(tuple(sorted(top, key=lambda id_: id_ not in above))[: bench.k])


def probe(bench: Bench, question: Question, scores: Mapping[str, float]) -> Outcome:
    """Look up the entities that a question names, and the controllers of their records.

    Records that hold most of the named keys are found, and resolved by the rules. The records they
    supersede follow. A question that names no entity is served nothing.
    """
    named = (entity for bearers in bench.names.bearers(question.text) for entity in bearers)
    holders = bench.scopes.holders(named)
    controlling = bench.scopes.latest_first(bench.relation.controlling(holders))
    return Outcome(tuple(dict.fromkeys([*controlling, *holders]))[: bench.k])


def oracle(bench: Bench, question: Question, scores: Mapping[str, float]) -> Outcome:
    """Serve only the gold documents, then the rest of the gold chain, latest link first."""
    chain = dict.fromkeys([*question.gold, *reversed(question.chain)])
    return Outcome(tuple(chain)[: bench.k])


HYDE = "hyde"
STAGES = {
    "bm25": "BM25",
    "okapi": "BM25 as rank_bm25 has it, every word of the question",
    "tfidf": "TF-IDF, cosine",
    "dense": "the encoder",
    "hybrid": "BM25 and the encoder, fused by reciprocal ranks",
    "known": "BM25, asked with the text of the gold anchor",
    HYDE: "the encoder, asked with a stored hypothetical document",
}
DENSE = frozenset(("dense", "hybrid", HYDE))  # first stages that need an encoder
_BY_SCOPE = "what the scope keys of {}'s anchors lead to, latest first, blind to rules"
_BY_RULES = "what controls {}'s anchors by the rules, "
_one_chain = partial(two_stage, chains=Chains.FIRST)
# By name, in the order in which they are shown.
SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        *(System(stage, about, stage, direct) for stage, about in STAGES.items()),
        System("rerank", "the encoder's first 20, gold superseders up", "dense", rerank),
        System("probe", "look-up of the entities that the question names", "", probe),
        *(System(f"latest-{s}", _BY_SCOPE.format(s), s, latest) for s in ("okapi", "dense")),
        *(
            System(f"two-stage-{s}", f"{_BY_RULES.format(s)}in their places", s, two_stage)
            for s in ("bm25", "okapi", "dense", "hybrid", "known")
        ),
        *(
            System(
                f"two-stage-{s}-one-chain", f"{_BY_RULES.format(s)}one chain per scope", s,
                _one_chain,
            )
            for s in ("bm25", "dense")
        ),
        System("closure", "what controls the gold anchors, which are given", "", closure),
        System("oracle", "the gold documents", "", oracle),
    )
}  # fmt: skip


def choose(names: Sequence[str], benchmark: Benchmark, *, encoder: bool) -> list[System]:
    """Return the systems to score: those named, or all that can run.

    Raises InputError for an unknown name, and for a system that lacks an input.
    """
    lacking: dict[str, tuple[str, str]] = {}
    if not encoder:
        lacking = {s.name: ("no encoder", "--encoder MODEL") for s in SYSTEMS.values() if s.dense}
    if not benchmark.hypotheticals:
        why = "no stored hypothetical", "hyde.jsonl in the benchmark's folder"
        lacking.setdefault(HYDE, why)
    for name in names:
        if name not in SYSTEMS:
            expected, fix = f"one of {', '.join(SYSTEMS)}", "Leave --system out for all of them."
            raise InputError(f"system {name!r}", expected=expected, fix=fix, where="--system")
        if name in lacking:
            fix, (what, expected) = f"Leave {name} out, or give it that.", lacking[name]
            raise InputError(f"{name} has {what}", expected=expected, fix=fix, where="--system")
    selection = set(names) or SYSTEMS.keys() - lacking.keys()
    return [system for name, system in SYSTEMS.items() if name in selection]
