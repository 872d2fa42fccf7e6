"""Serve a benchmark's questions by each built-in system: relevance alone, and in two stages.

Settings are fixed, whatever the benchmark (CAR section 5): 20 anchors are looked at, 20 documents
re-ranked, and rankings are fused to a depth of 100. Nothing is tuned on gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from argus.authority.benchmarks.collection import Benchmark
from argus.authority.benchmarks.first_stages import CrossEncoder, FirstStages, Rankings
from argus.authority.benchmarks.judging import Closure, Outcome, pipeline_relation
from argus.authority.config import ANCHORS, Chains, Places
from argus.authority.entities import ScopeNames, ScopeTimes
from argus.authority.relation import Authority
from argus.authority.resolution import trace
from argus.errors import InputError

RERANKED = 20  # documents that a re-ranker sees of each first stage


class Bench:
    """Shared parts of the systems of one benchmark: first stages, the relation, scopes.

    relation: the part that a pipeline may know. Made of the rules, or of the edges where there are
    none.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        stages: FirstStages,
        *,
        k: int,
        cross_encoder: CrossEncoder | None = None,
    ) -> None:
        self.benchmark, self.stages, self.k = benchmark, stages, k
        self.anchors = max(ANCHORS, k)
        self.cross_encoder = cross_encoder

    @cached_property
    def relation(self) -> Authority:
        """The authority relation of the pipelines."""
        return pipeline_relation(self.benchmark)

    @cached_property
    def gold(self) -> Authority:
        """The gold relation, for the re-ranker that is given it."""
        rules = () if self.benchmark.edges else self.benchmark.rules
        return Authority(self.benchmark.records, rules, self.benchmark.edges)

    @cached_property
    def scopes(self) -> ScopeTimes:
        """The records by scope and time."""
        return ScopeTimes(self.benchmark.records)

    @cached_property
    def names(self) -> ScopeNames:
        """The scope values of the records, findable in questions."""
        return ScopeNames(self.benchmark.records)


Outcomes = dict[str, Outcome]


@dataclass(frozen=True)
class System:
    """One way to answer. closure: of a pipeline, the records that it reaches from its anchors.

    dense: true if it needs an encoder.
    """

    name: str
    about: str
    run: Callable[[Bench], Outcomes]
    dense: bool = False
    closure: Callable[[Bench], Closure] | None = field(default=None, repr=False)


def _failed(failures: Mapping[str, str]) -> Outcomes:
    return {question: Outcome(failure=reason) for question, reason in failures.items()}


def two_stage(bench: Bench, rankings: Rankings, places: Places, chains: Chains) -> Outcomes:
    """Serve the documents that control the anchors of a first stage by the rules (TwoStage+RSSG).

    In the anchors' places, anchors behind the k documents that the first k lead to change nothing.
    So most questions need the first k anchors alone.
    """
    outcomes = _failed(rankings.failures)
    for question, scores in rankings.run.items():
        anchors = dict(list(scores.items())[: bench.anchors])
        for n in (bench.k, bench.anchors) if places is Places.ANCHOR else (bench.anchors,):
            hits = trace(
                anchors, bench.relation, k=bench.k, anchors=n, places=places, chains=chains
            ).hits
            if len(hits) == bench.k:
                break
        outcomes[question] = Outcome(tuple(hit.id for hit in hits), tuple(anchors))
    return outcomes


def latest(bench: Bench, rankings: Rankings) -> Outcomes:
    """Serve the later records of each anchor's scope, blind to rules (TwoStage, anchor only).

    In an anchor's place come the later records of its scope, the latest first. For an anchor
    without time, these are all others. It stays itself where there is none.
    """
    outcomes = _failed(rankings.failures)
    for question, scores in rankings.run.items():
        anchors = tuple(scores)[: bench.anchors]
        outcomes[question] = Outcome(tuple(bench.scopes.latest(anchors, bench.k)), anchors)
    return outcomes


def rerank(bench: Bench) -> Outcomes:
    """Put superseders before the rest of the first 20, by the gold relation (DenseReRank).

    A superseder of one of them moves up only where it is one of them: nothing else is looked up.
    """
    rankings = bench.stages.dense
    outcomes = _failed(rankings.failures)
    for question, scores in rankings.run.items():
        top = tuple(scores)[: max(RERANKED, bench.k)]
        above = {newer for id_ in top for newer in bench.gold.closure([id_])[1:]}
        outcomes[question] = Outcome(
            tuple(sorted(top, key=lambda id_: id_ not in above))[: bench.k]
        )
    return outcomes


def probe(bench: Bench) -> Outcomes:
    """Look up the entities that a question names, and the controllers of their records.

    Records that hold most of the named keys are found, and resolved by the rules. The records they
    supersede follow. A question that names no entity is served nothing.
    """
    outcomes = {}
    for question in bench.benchmark.questions:
        named = (entity for bearers in bench.names.bearers(question.text) for entity in bearers)
        holders = bench.scopes.holders(named)
        controlling = bench.scopes.latest_first(bench.relation.controlling(holders))
        outcomes[question.id] = Outcome(tuple(dict.fromkeys([*controlling, *holders]))[: bench.k])
    return outcomes


def oracle(bench: Bench) -> Outcomes:
    """Serve only the gold documents, then the rest of the gold chain, latest link first."""
    return {
        q.id: Outcome(tuple(dict.fromkeys([*q.gold, *reversed(q.chain)]))[: bench.k])
        for q in bench.benchmark.questions
    }


def cross_encode(bench: Bench) -> Outcomes:
    """Re-rank the union of BM25's and the encoder's first 20 by a cross-encoder."""
    assert bench.cross_encoder is not None
    lexical, dense = bench.stages.bm25, bench.stages.dense
    outcomes = _failed(dense.failures)
    questions = [q for q in bench.benchmark.questions if q.id not in outcomes]
    pools = [
        sorted({*list(lexical.run[q.id])[:RERANKED], *list(dense.run[q.id])[:RERANKED]})
        for q in questions
    ]
    pairs = [
        (q.text, bench.stages.texts[id_])
        for q, pool in zip(questions, pools, strict=True)
        for id_ in pool
    ]
    scores = iter(bench.cross_encoder.scores(pairs))
    for question, pool in zip(questions, pools, strict=True):
        score = {id_: next(scores) for id_ in pool}
        ranked = sorted(pool, key=lambda id_: -score[id_])  # stable: ties by id
        outcomes[question.id] = Outcome(tuple(ranked[: bench.k]))
    return outcomes


def _direct(stage: str, about: str) -> System:
    """Serve a first stage as it is."""

    def run(bench: Bench) -> Outcomes:
        rankings: Rankings = getattr(bench.stages, stage)
        served = {q: Outcome(tuple(scores)[: bench.k]) for q, scores in rankings.run.items()}
        return served | _failed(rankings.failures)

    return System(stage, about, run, stage in DENSE)


def _latest(stage: str) -> System:
    about = f"what the scope keys of {stage}'s anchors lead to, latest first, blind to rules"
    return System(
        f"latest-{stage}", about, lambda bench: latest(bench, getattr(bench.stages, stage)),
        stage in DENSE,
        lambda bench: lambda ids: {*ids, *(n for id_ in ids for n in bench.scopes.later(id_))},
    )  # fmt: skip


def _two_stage(
    stage: str, suffix: str = "", places: Places = Places.ANCHOR, chains: Chains = Chains.ALL
) -> System:
    return System(
        f"two-stage-{stage}{suffix}",
        f"what controls {stage}'s anchors by the rules, {WAYS[suffix]}",
        lambda bench: two_stage(bench, getattr(bench.stages, stage), places, chains),
        stage in DENSE,
        lambda bench: lambda anchors: set(bench.relation.reach(anchors)),
    )


CROSS_ENCODER, HYDE = "cross-encoder", "hyde"
DENSE = frozenset(("dense", "hybrid", HYDE))  # first stages that need an encoder
WAYS = {
    "": "in their places",
    "-one-chain": "one chain per scope",
    "-first": "before what is active itself",
}
# By name, in the order in which they are shown.
SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        _direct("bm25", "BM25"),
        _direct("okapi", "BM25 as rank_bm25 has it, every word of the question"),
        _direct("tfidf", "TF-IDF, cosine"),
        _direct("dense", "the encoder"),
        _direct("hybrid", "BM25 and the encoder, fused by reciprocal ranks"),
        _direct(HYDE, "the encoder, asked with a stored hypothetical document"),
        System("rerank", "the encoder's first 20, gold superseders up", rerank, dense=True),
        System(CROSS_ENCODER, "BM25 and encoder, re-ranked together", cross_encode, dense=True),
        System("probe", "look-up of the entities that the question names", probe),
        *map(_latest, ("okapi", "dense")),
        *map(_two_stage, ("bm25", "okapi", "dense", "hybrid")),
        *(_two_stage(stage, "-one-chain", chains=Chains.FIRST) for stage in ("bm25", "dense")),
        _two_stage("bm25", "-first", places=Places.FIRST),
        System("oracle", "the gold documents", oracle),
    )
}


def choose(
    names: Sequence[str], benchmark: Benchmark, *, encoder: bool, cross_encoder: bool
) -> list[System]:
    """Return the systems to score: those named, or all that can run.

    Raises InputError for an unknown name, and for a system that lacks an input.
    """
    lacking: dict[str, tuple[str, str]] = {}
    if not encoder:
        lacking = {s.name: ("no encoder", "--encoder MODEL") for s in SYSTEMS.values() if s.dense}
    if not cross_encoder:
        lacking.setdefault(CROSS_ENCODER, ("no model", "--cross-encoder FOLDER"))
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
