"""The built-in systems: relevance alone, re-ranking, look-ups, and two stages (CAR section 5).

Settings are fixed, whatever the benchmark: 20 anchors are looked at, 20 documents re-ranked,
rankings are kept and fused to a depth of 100. Nothing is tuned on gold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from argus.authority.benchmarks.answers import pipeline_relation
from argus.authority.benchmarks.cross_encoder import CrossEncoder
from argus.authority.benchmarks.first_stages import FirstStages, Rankings
from argus.authority.benchmarks.outcomes import Outcome
from argus.authority.benchmarks.score import Closure
from argus.authority.benchmarks.types import Benchmark
from argus.authority.entities import ScopeNames
from argus.authority.relation import Authority
from argus.authority.resolve import trace
from argus.authority.scope_only import ScopeTimes
from argus.authority.serving import ANCHORS, Chains, Places
from argus.errors import InputError

RERANKED = 20
"""Documents that a re-ranker sees of each first stage."""


class Bench:
    """What the systems of one benchmark share: first stages, the relation, scopes.

    relation: what a pipeline may know. Made of the rules; of the edges where there are none.
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
    """One way to answer, by name."""

    name: str
    about: str
    run: Callable[[Bench], Outcomes]
    dense: bool = False
    """Whether it needs an encoder."""
    closure: Callable[[Bench], Closure] | None = field(default=None, repr=False)
    """Of a pipeline with two stages: what it reaches from its anchors."""


def _stage(bench: Bench, name: str) -> Rankings:
    rankings: Rankings = getattr(bench.stages, name)
    return rankings


def _failed(failures: Mapping[str, str]) -> Outcomes:
    return {question: Outcome(failure=reason) for question, reason in failures.items()}


def direct(bench: Bench, rankings: Rankings) -> Outcomes:
    """Serve a first stage as it is."""
    served = {q: Outcome(tuple(scores)[: bench.k]) for q, scores in rankings.run.items()}
    return served | _failed(rankings.failures)


def two_stage(
    bench: Bench,
    rankings: Rankings,
    places: Places = Places.ANCHOR,
    chains: Chains = Chains.ALL,
) -> Outcomes:
    """Serve what controls the anchors of a first stage by the rules (TwoStage+RSSG)."""
    outcomes = _failed(rankings.failures)
    for question, scores in rankings.run.items():
        anchors = dict(list(scores.items())[: bench.anchors])
        hits = _controlling(bench, anchors, places, chains)
        outcomes[question] = Outcome(hits, tuple(anchors))
    return outcomes


def _controlling(
    bench: Bench, anchors: Mapping[str, float], places: Places, chains: Chains
) -> tuple[str, ...]:
    """Return the first k documents that control the anchors.

    In the anchors' places, anchors behind the k documents that the first k lead to change nothing:
    most questions end there.
    """
    for n in (bench.k, bench.anchors) if places is Places.ANCHOR else (bench.anchors,):
        hits = trace(
            anchors, bench.relation, k=bench.k, anchors=n, places=places, chains=chains
        ).hits
        if len(hits) == bench.k:
            break
    return tuple(hit.id for hit in hits)


def latest(bench: Bench, stage: str) -> Outcomes:
    """Serve what an anchor's scope keys lead to, whatever it is (TwoStage, anchor only).

    In an anchor's place come the later records of its scope, the latest first; of an anchor without
    time, all others. It stays itself where there is none. No rule and no type is looked at.
    """
    rankings = _stage(bench, stage)
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
    """Look up the entities that a question names, and what controls their records.

    Records that hold most of the named keys are found, and resolved by the rules; what they
    supersede follows. A question that names no entity is served nothing.
    """
    outcomes = {}
    for question in bench.benchmark.questions:
        named = (entity for bearers in bench.names.bearers(question.text) for entity in bearers)
        holders = bench.scopes.holders(named)
        controlling = bench.scopes.latest_first(bench.relation.controlling(holders))
        outcomes[question.id] = Outcome(tuple(dict.fromkeys([*controlling, *holders]))[: bench.k])
    return outcomes


def oracle(bench: Bench) -> Outcomes:
    """Serve the gold documents, then the rest of the gold chain, latest link first; no others."""
    return {
        q.id: Outcome(tuple(dict.fromkeys([*q.gold, *reversed(q.chain)]))[: bench.k])
        for q in bench.benchmark.questions
    }


def cross_encode(bench: Bench) -> Outcomes:
    """Re-rank the union of BM25's and the encoder's first 20 by a cross-encoder."""
    if bench.cross_encoder is None:
        raise ValueError("the cross-encoder system needs one")
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


def _by_rules(bench: Bench) -> Closure:
    return lambda anchors: set(bench.relation.reach(anchors))


def _by_time(bench: Bench) -> Closure:
    return lambda anchors: {
        *anchors, *(newer for id_ in anchors for newer in bench.scopes.later(id_)),
    }  # fmt: skip


CROSS_ENCODER = "cross-encoder"
HYDE = "hyde"


def _direct(name: str, about: str, *, dense: bool = False) -> System:
    return System(name, about, lambda bench: direct(bench, _stage(bench, name)), dense)


def _latest(stage: str, *, dense: bool) -> System:
    about = f"what the scope keys of {stage}'s anchors lead to, latest first, blind to rules"
    return System(f"latest-{stage}", about, lambda bench: latest(bench, stage), dense, _by_time)


def _two_stage(stage: str, way: str, *, dense: bool) -> System:
    suffix, about, places, chains = WAYS[way]

    def run(bench: Bench) -> Outcomes:
        return two_stage(bench, _stage(bench, stage), places, chains)

    name = f"two-stage-{stage}{suffix}"
    about = f"what controls {stage}'s anchors by the rules, {about}"
    return System(name, about, run, dense, _by_rules)


WAYS = {
    "places": ("", "in their places", Places.ANCHOR, Chains.ALL),
    "one chain": ("-one-chain", "one chain per scope", Places.ANCHOR, Chains.FIRST),
    "first": ("-first", "before what is active itself", Places.FIRST, Chains.ALL),
}
"""How two stages serve: suffix of the name, description, places, chains."""
STAGES = (("bm25", False), ("okapi", False), ("dense", True), ("hybrid", True))
"""Anchor stages of the pipelines, and whether they need an encoder."""
SYSTEMS: dict[str, System] = {
    system.name: system
    for system in (
        _direct("bm25", "BM25"),
        _direct("okapi", "BM25 as rank_bm25 has it, every word of the question"),
        _direct("tfidf", "TF-IDF, cosine"),
        _direct("dense", "the encoder", dense=True),
        _direct("hybrid", "BM25 and the encoder, fused by reciprocal ranks", dense=True),
        _direct(HYDE, "the encoder, asked with a stored hypothetical document", dense=True),
        System("rerank", "the encoder's first 20, gold superseders up", rerank, dense=True),
        System(CROSS_ENCODER, "BM25 and encoder, re-ranked together", cross_encode, dense=True),
        System("probe", "look-up of the entities that the question names", probe),
        *(_latest(stage, dense=dense) for stage, dense in STAGES),
        *(_two_stage(stage, way, dense=dense) for way in WAYS for stage, dense in STAGES),
        System("oracle", "the gold documents", oracle),
    )
}
"""By name, in the order in which they are shown."""


def choose(
    names: Sequence[str], benchmark: Benchmark, *, encoder: bool, cross_encoder: bool
) -> list[System]:
    """Return the systems to score: those named, or all that can run.

    Raises InputError for an unknown name, and for a system that lacks what it needs.
    """
    lacking = {
        name: why
        for name, why in (_lacks(s, benchmark, encoder, cross_encoder) for s in SYSTEMS.values())
        if why
    }
    for name in names:
        if name not in SYSTEMS:
            raise InputError(
                f"system {name!r}",
                expected=f"one of {', '.join(SYSTEMS)}",
                fix="Leave --system out for all of them.",
                where="--system",
            )
        if name in lacking:
            raise InputError(
                f"{name} has {lacking[name][0]}",
                expected=lacking[name][1],
                fix=f"Leave {name} out, or give it that.",
                where="--system",
            )
    selection = set(names) or SYSTEMS.keys() - lacking.keys()
    return [system for name, system in SYSTEMS.items() if name in selection]


def _lacks(
    system: System, benchmark: Benchmark, encoder: bool, cross_encoder: bool
) -> tuple[str, tuple[str, str] | None]:
    if system.dense and not encoder:
        return system.name, ("no encoder", "--encoder MODEL")
    if system.name == CROSS_ENCODER and not cross_encoder:
        return system.name, ("no model", "--cross-encoder FOLDER")
    if system.name == HYDE and not benchmark.hypotheticals:
        return system.name, ("no stored hypothetical", "hyde.jsonl in the benchmark's folder")
    return system.name, None
