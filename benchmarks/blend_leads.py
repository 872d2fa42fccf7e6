"""Leads beyond the blend that ships: each on top of it, paired, on judged collections.

No lead sees a judgement but the last two. A log without judgements is the other half of a
collection's questions. *Chosen elsewhere* searches with the λ, hub correction and weight of BM25
that did best on the other collections; *best here* tells what could be gained were they known.

The weight of BM25 that follows the question is told against 0.2 for all on collections that it was
not found on, two of them from `authority` (a question and the document that it is about), without
sentences. BLEND_INDICES=FOLDER keeps the indexes, as for blend_quality.
"""

from __future__ import annotations

import itertools
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import open_corpus
from argus.data.fields import FieldNames
from argus.data.types import Document, FloatArray, IntArray, Qrels, Query, Run
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.protocol import unit_rows
from argus.evaluation.judged import read_judged
from argus.indexes.blend import SENTENCE, Blend
from argus.indexes.hybrid import BM25_WEIGHT, FUSION, fuse_with_bm25, question_weights
from argus.indexes.job import build_index
from argus.indexes.remedy_views import ORIGINAL
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.measures import evaluate
from argus.remedies.blend.hubness import draw_sample, hubness
from argus.remedies.blend.job import blend_index
from argus.scenarios.adapt.config import AdaptConfig
from argus.scenarios.adapt.learning import Examples, held_out_gain, learn
from benchmarks.blend_quality import CHOSEN_ON, NDCG, RECALL, compared, judged_collection, mean_of
from benchmarks.shared import collection

TOLD = ("ghsa", "scotus")
OTHERS = ("hotpot100", "demo", "impliret_wknow_multi", *TOLD)
"""Collections on which the weight of BM25 by question was not found."""
DEPTH = 100
LAMBDAS, HUBS, WORDS = (0.5, 0.6, 0.7, 0.8, 0.9), (0.0, 0.1, 0.2), (0.0, 0.1, 0.2, 0.3, 0.4)
SHIPS = Blend()
FEEDBACK = 3
"""Documents that a question is moved towards."""
BLEND = "blend"


def run() -> dict[str, Any]:
    encoder = load_encoder(EncoderConfig(precision="float32")).encoder
    with tempfile.TemporaryDirectory() as temporary:
        home = Path(os.environ.get("BLEND_INDICES", temporary))
        states = {
            name: _state(name, home / name / "index", encoder) for name in (*CHOSEN_ON, *TOLD)
        }
    weighed = {name: _by_question(states[name]) for name in OTHERS}
    ships = {name: states[name].values(states[name].searched()) for name in CHOSEN_ON}
    leads = {name: _leads(states[name]) for name in CHOSEN_ON}
    settings = {name: _settings(states[name]) for name in CHOSEN_ON}
    for name in CHOSEN_ON:
        others = [of for other, of in settings.items() if other != name]
        best = max(settings[name], key=lambda at: _mean(settings[name][at]))
        elsewhere = max(settings[name], key=lambda at: sum(_mean(of[at]) for of in others))
        leads[name]["chosen elsewhere"] = settings[name][elsewhere]
        leads[name]["best here"] = settings[name][best]
        print(name, "elsewhere", elsewhere, "here", best, flush=True)
    arms = list(leads[CHOSEN_ON[0]])
    return {
        "by_question": {
            name: compared(of["0.2 for all"][NDCG], of["by question"][NDCG])
            for name, of in weighed.items()
        },
        "by_question_mean": mean_of(
            [_step(of["0.2 for all"], of["by question"]) for of in weighed.values()]
        ),
        "collections": {
            name: {
                arm: {m: compared(ships[name][m], leads[name][arm][m]) for m in (NDCG, RECALL)}
                for arm in arms
            }
            for name in CHOSEN_ON
        },
        "mean": {arm: mean_of([_step(ships[n], leads[n][arm]) for n in CHOSEN_ON]) for arm in arms},
    }


Values = dict[str, dict[str, float]]
"""Of each measure, its value by question."""


def _mean(values: Values) -> float:
    return float(np.mean(list(values[NDCG].values())))


def _step(before: Values, after: Values) -> FloatArray:
    return np.array([after[NDCG][q] - value for q, value in before[NDCG].items()])


@dataclass(frozen=True)
class State:
    """A collection with all that its search multiplies.

    documents: (n, dim); views: (n_views, dim), of sentences; owner: (n_views,), positions of their
    documents; vectors: (n_queries, dim); hubs: (n,).
    """

    ids: list[str]
    documents: FloatArray
    views: FloatArray
    owner: IntArray
    queries: list[Query]
    vectors: FloatArray
    qrels: Qrels
    hubs: FloatArray
    words: Run
    coverage: list[float]

    @cached_property
    def own(self) -> FloatArray:
        """What documents score by their own vectors, (n_queries, n)."""
        return self.vectors @ self.documents.T

    def nearest(
        self, keep: IntArray | None = None, vectors: FloatArray | None = None
    ) -> FloatArray:
        """Return the best sentence of each document for each question; -inf without."""
        rows = np.arange(len(self.owner)) if keep is None else keep
        scores = (self.vectors if vectors is None else vectors) @ self.views[rows].T
        best = np.full((len(scores), len(self.ids)), -np.inf, np.float32)
        owner = self.owner[rows]
        for document, (first, last) in _spans(owner):
            best[:, document] = scores[:, first:last].max(axis=1)
        return best

    @cached_property
    def by_sentence(self) -> FloatArray:
        """What their best sentences score, (n_queries, n)."""
        return self.nearest()

    def searched(
        self,
        sentences: FloatArray | None = None,
        own: FloatArray | None = None,
        hubs: FloatArray | None = None,
        weights: tuple[float, float, float] = (SHIPS.weight, SHIPS.hubs, SHIPS.bm25),
    ) -> Run:
        """Return what a blend of these parts gives; what is left out is as it ships."""
        own = self.own if own is None else own
        sentences = self.by_sentence if sentences is None else sentences
        hubs = self.hubs if hubs is None else hubs
        weight, penalty, bm25 = weights
        scores = weight * own + (1 - weight) * np.maximum(own, sentences) - penalty * hubs
        dense = _run(self.queries, self.ids, scores)
        shares = question_weights(bm25, [q.id for q in self.queries], self.coverage)
        return fuse_with_bm25(dense, self.words, DEPTH, FUSION, shares)

    def values(self, ranked: Run) -> Values:
        """Return what a run is worth, question by question."""
        per_query = evaluate(ranked, self.qrels, [NDCG, RECALL]).per_query
        return {m: {q: of[m] for q, of in per_query.items()} for m in (NDCG, RECALL)}


def _spans(owner: IntArray) -> list[tuple[int, tuple[int, int]]]:
    documents, first = np.unique(owner, return_index=True)
    return list(zip(documents.tolist(), pairwise([*first.tolist(), len(owner)]), strict=True))


def _run(queries: list[Query], ids: list[str], scores: FloatArray) -> Run:
    depth = min(DEPTH, len(ids))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
    return {
        query.id: {ids[d]: float(of[d]) for d in row}
        for query, row, of in zip(queries, best, scores, strict=True)
    }


def _state(name: str, index: Path, encoder: Any) -> State:
    """Return a collection blended as it ships; one of authority has no sentences."""
    documents, judged = _of_authority(name) if name in TOLD else judged_collection(name)
    build_index(documents, out=index, encoder=encoder)
    if name not in TOLD:
        blend_index(index, Blend(smoothing=0.0), encoder=encoder)
    opened = ViewIndex.open(index)
    snapshot = opened.snapshot()
    kind = np.array(snapshot.columns["kind"].to_pylist())
    owner = np.repeat(np.arange(len(snapshot.doc_ids)), np.diff(snapshot.starts))
    hits = IndexRetriever(opened, encoder).lexical().search([q.text for q in judged.queries], DEPTH)
    hubs = snapshot.hubness
    return State(
        snapshot.doc_ids, snapshot.vectors[kind == ORIGINAL], snapshot.vectors[kind == SENTENCE],
        owner[kind == SENTENCE], list(judged.queries),
        encoder.encode_queries([q.text for q in judged.queries]), judged.qrels,
        np.zeros(len(snapshot.doc_ids), np.float32) if hubs is None else hubs,
        hits.run([q.id for q in judged.queries]), hits.coverage,
    )  # fmt: skip


def _of_authority(name: str) -> tuple[list[Document], Any]:
    """Return documents and questions, each judged by what it is about (its anchor)."""
    home = collection(f"authority/{name}")
    lines = (home / "queries.jsonl").read_text("utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["anchor"]]
    qrels = {row["_id"]: dict.fromkeys(row["anchor"], 1) for row in rows}
    queries = [Query(row["_id"], row["text"]) for row in rows]
    return open_corpus(home).documents(FieldNames()), read_judged(queries, qrels)


def _by_question(state: State) -> dict[str, Any]:
    """Return vectors and BM25 with a weight that follows the question, beside 0.2 for all."""
    vectors = _run(state.queries, state.ids, state.own)
    constant = fuse_with_bm25(vectors, state.words, DEPTH, FUSION, BM25_WEIGHT)
    return {
        "0.2 for all": state.values(constant),
        "by question": state.values(state.searched(weights=(1.0, 0.0, SHIPS.bm25))),
    }


def _leads(state: State) -> dict[str, Values]:
    """Return what each lead comes to."""
    covered = np.einsum("ij,ij->i", state.views, state.documents[state.owner])
    sentence_hubs = _hubs_of_sentences(state)
    runs = {
        "hubs by a log": _by_a_log(state),
        "a correction learnt from a log": _learnt_from_a_log(state),
        "half of the sentences: least covered": state.searched(_half(state, -covered)),
        "half of the sentences: best covered": state.searched(_half(state, covered)),
        "half of the sentences: least hubs": state.searched(_half(state, -sentence_hubs)),
        "mean of the two best sentences": state.searched(_two_best(state)),
        "a view of what the vector does not cover": state.searched(_uncovered(state, covered)),
        "feedback of three documents": _feedback(state),
    }
    return {name: state.values(ranked) for name, ranked in runs.items()}


def _half(state: State, worth: FloatArray) -> FloatArray:
    """Return the best of those sentences of a document that are worth most, half of them."""
    keep = [
        first + np.argsort(-worth[first:last], kind="stable")[: -(-(last - first) // 2)]
        for _, (first, last) in _spans(state.owner)
    ]
    return state.nearest(np.sort(np.concatenate(keep)))


def _hubs_of_sentences(state: State) -> FloatArray:
    """Return how near each sentence is to sentences of other documents."""
    drawn = draw_sample(len(state.views), 0)
    owners = {d: span for d, span in _spans(state.owner)}
    holders = [np.arange(*owners[int(state.owner[i])]) for i in drawn]
    return hubness(state.views, state.views[drawn], holders)


def _two_best(state: State) -> FloatArray:
    scores = state.vectors @ state.views.T
    best = np.full((len(scores), len(state.ids)), -np.inf, np.float32)
    for document, (first, last) in _spans(state.owner):
        part = np.sort(scores[:, first:last], axis=1)[:, -2:]
        best[:, document] = part.mean(axis=1)
    return best


def _uncovered(state: State, covered: FloatArray) -> FloatArray:
    """Return the best of the sentences and of the mean of the third that is covered least."""
    views = state.documents.copy()
    for document, (first, last) in _spans(state.owner):
        least = first + np.argsort(covered[first:last])[: -(-(last - first) // 3)]
        views[document] = state.views[least].mean(axis=0)
    best: FloatArray = np.maximum(state.by_sentence, state.vectors @ unit_rows(views).T)
    return best


def _by_a_log(state: State) -> Run:
    """Return what questions come to where hubness is measured on those of the other half."""
    nobody = [np.zeros(0, np.int64)]

    def ranked(log: IntArray) -> Run:
        hubs = hubness(state.documents, state.vectors[log], nobody * len(log))
        return state.searched(hubs=hubs)

    return _by_halves(state, ranked)


def _learnt_from_a_log(state: State) -> Run:
    """Return what questions come to that a correction moves, learnt from the other half of them.

    Each of these teaches that it is for the document that the blend ranks first.
    """
    blend = state.searched()
    place = {doc: i for i, doc in enumerate(state.ids)}
    first = np.array([[place[next(iter(blend[query.id]))]] for query in state.queries])

    def ranked(log: IntArray) -> Run:
        examples = Examples(state.documents, state.vectors[log], first[log])
        learnt = learn(examples, AdaptConfig())
        is_better = held_out_gain(learnt, examples, 0).verdict == "better"
        moves = learnt.alpha * is_better * (state.vectors @ learnt.w) @ learnt.u.T
        moved = unit_rows((state.vectors + moves).astype(np.float32))
        return state.searched(state.nearest(vectors=moved), moved @ state.documents.T)

    return _by_halves(state, ranked)


def _by_halves(state: State, ranked: Callable[[IntArray], Run]) -> Run:
    """Return what each half of the questions comes to by what the other half, its log, gave."""
    half = np.random.default_rng(0).permutation(len(state.queries)) % 2
    merged: Run = {}
    for side in (0, 1):
        of_half = ranked(np.flatnonzero(half != side))
        rest = [query.id for query, of in zip(state.queries, half, strict=True) if of == side]
        merged |= {query: of_half[query] for query in rest}
    return merged


def _feedback(state: State) -> Run:
    """Return what questions find that were moved towards what they find first."""
    scores = SHIPS.weight * state.own + (1 - SHIPS.weight) * np.maximum(
        state.own, state.by_sentence
    )
    first = np.argsort(-scores, axis=1)[:, :FEEDBACK]
    vectors = state.vectors + 0.5 * state.documents[first].mean(axis=1)
    vectors = unit_rows(vectors)
    return state.searched(state.nearest(vectors=vectors), vectors @ state.documents.T)


def _settings(state: State) -> dict[tuple[float, float, float], Values]:
    """Return what each setting of the three weights comes to."""
    return {
        weights: state.values(state.searched(weights=weights))
        for weights in itertools.product(LAMBDAS, HUBS, WORDS)
    }
