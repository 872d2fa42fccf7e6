"""Rank documents for their own needs, with each need held out of the index that it searches.

Used by `research scenarios needs` and to choose λ in `tune apply scenarios`. The information needs
of a document x are questions that it answers, so they take the place of the related entities of
ARGUS §3.2: x competes with all other documents for each of them, and the share of its needs that
find it in the top k is its RPS at N = n.

With scenarios in the index a need would find itself. It is therefore **held out**: need t of x
searches an index without the scenario of t. All other scenarios stay, those of x and those of every
other document. Where another scenario of x has the same text (M has one for all), the text stays:
it would also be indexed from the profile without that scenario.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from argus.data.types import FloatArray, IntArray
from argus.encoders import Embedded, EmbeddingStore, Encoder, embed
from argus.encoders import documents as as_documents
from argus.encoders import queries as as_queries
from argus.indexes.exact import Float64Array
from argus.indexes.fold import SCENARIO, between, ends, mix, pair_products, target_ranks
from argus.indexes.snapshot import Snapshot
from argus.measures import RESAMPLES
from argus.measures.intervals import wilson
from argus.measures.significance import bootstrap_interval
from argus.progress import Advance, progress
from argus.scenarios.ablation.grid import Documents, ScenarioTexts, embed_scenarios
from argus.scenarios.profile import Component, Need, Profiled, ScenarioProfile

# Scores of views held at a time. With their folded copies, at most three times this.
BLOCK_BYTES = 128 << 20


@dataclass(frozen=True)
class NeedVectors:
    """Needs of documents, with the vectors of both and of the scenarios.

    documents: those that have a vector. All positions count these. queries: outcome of each need.
    """

    documents: Documents
    texts: ScenarioTexts
    needs: Sequence[Need]
    queries: Embedded

    @classmethod
    def embed(
        cls,
        documents: Documents,
        needs: Sequence[Need],
        components: Sequence[Component],
        model: Encoder,
        store: EmbeddingStore,
    ) -> NeedVectors:
        """Embed the needs, and the documents' scenarios by these components."""
        queries = embed(as_queries([n.text for n in needs]), model, store, what="needs")
        texts = embed_scenarios(
            documents.profiles.values(),
            components,
            lambda texts: embed(as_documents(texts), model, store, what="scenarios"),
        )
        return cls(documents, texts, needs, queries)

    @cached_property
    def with_vector(self) -> list[Need]:
        """The needs that could be asked."""
        return [need for need, ok in zip(self.needs, self.queries.ok, strict=True) if ok]

    @cached_property
    def targets(self) -> IntArray:
        """Position of the document of each need that could be asked."""
        position = {id_: i for i, id_ in enumerate(self.documents.ids)}
        return np.array([position[need.doc_id] for need in self.with_vector], np.int64)

    def ranks(
        self, components: Sequence[Component], weights: Sequence[float]
    ) -> dict[Component, IntArray]:
        """Rank every document for its needs, by every component and λ, each need held out.

        Ranks are from 1, ties by id: (n_weights, n_needs).
        """
        ranks = {}
        with progress("searching", len(self.targets) * len(components)) as advance:
            for component in components:
                snapshot = self.documents.with_scenarios(component, self.texts)
                profiles = self.documents.profiles
                rows = held_out_rows(snapshot, profiles, self.with_vector, component)
                ranks[component] = held_out_ranks(
                    self.queries.vectors, self.targets, rows, snapshot, weights, advance=advance
                )
        return ranks


def held_out_rows(
    snapshot: Snapshot,
    profiles: Mapping[str, Profiled],
    needs: Sequence[Need],
    component: Component,
) -> IntArray:
    """Return the row of the view that each need is searched without, -1 where none goes.

    snapshot: with `scenario_views(..., component)`, or some of them.
    """
    rows: dict[tuple[str, str | None], int] = {
        (view.doc_id, view.text): i
        for i, view in enumerate(snapshot.views)
        if view.kind == SCENARIO
    }
    gone: dict[str, list[str | None]] = {}
    for doc_id in {need.doc_id for need in needs}:
        if (profile := profiles[doc_id].profile) is not None:
            gone[doc_id] = left_out(profile, component)
    views = [rows.get((n.doc_id, gone[n.doc_id][n.position]), -1) for n in needs]
    return np.array(views, np.int64)


def left_out(profile: ScenarioProfile, component: Component) -> list[str | None]:
    """Return, per scenario, the text that goes with it, or None where another one has it."""
    texts = [profile.text(component, i) for i in range(len(profile.scenarios))]
    times = Counter(texts)
    return [text if text and times[text] == 1 else None for text in texts]


def held_out_ranks(
    queries: FloatArray,
    targets: IntArray,
    without: IntArray,
    snapshot: Snapshot,
    weights: Sequence[float],
    *,
    advance: Advance | None = None,
) -> IntArray:
    """Rank the document of every need among all documents, for every λ from the same products.

    queries: (n_needs, dim), unit rows. targets: (n_needs,), positions of their documents. without:
    (n_needs,), rows of the views left out of those documents, -1 for none. A document without
    another scenario then scores by its own views. advance: called with the number of needs done.
    Raises InputError for a λ that is not from 0 to 1.
    """
    layouts = [snapshot.layout(weight) for weight in weights]
    ranks = np.zeros((len(weights), len(queries)), np.int64)
    step = max(1, BLOCK_BYTES // (4 * len(snapshot.vectors)))
    for start in range(0, len(queries), step):
        block = slice(start, start + step)
        needs, target = queries[block], targets[block]
        own, scenario = _of_targets(needs, target, without[block], snapshot)
        scores = needs @ snapshot.vectors.T
        at_both_ends = ends(scores, snapshot.layout())
        for i, layout in enumerate(layouts):
            # Without a scenario both ends are the own score, and any λ of them within rounding.
            best = between(at_both_ends, layout.weight)
            score = np.asarray(mix(own, scenario, layout.weight), np.float64)
            ranks[i, block], _ = target_ranks(
                needs, snapshot.vectors, best, layout, target, stand_in=score
            )
        if advance is not None:
            advance(len(needs))
    return ranks


def by_document(values: npt.ArrayLike, documents: IntArray) -> Float64Array:
    """Return the mean over the needs of each document: values (..., n) to (..., n_documents)."""
    given = np.asarray(values, np.float64)
    _, group = np.unique(documents, return_inverse=True)
    sums = [np.bincount(group, row) for row in np.atleast_2d(given)]
    means: Float64Array = np.array(sums) / np.bincount(group)
    return means.reshape(*given.shape[:-1], -1)


def mean_change(change: Float64Array, *, seed: int, resamples: int = RESAMPLES) -> dict[str, Any]:
    """Return the mean of differences of documents, with its bootstrap interval."""
    low, high, _ = bootstrap_interval(change, seed=seed, resamples=resamples)
    return {
        "mean": float(change.mean()),
        "low": low,
        "high": high,
        "improved": int((change > 0).sum()),
        "harmed": int((change < 0).sum()),
    }


def mean_share(values: Float64Array) -> dict[str, float]:
    """Return the mean over documents and its interval (Wilson's: conservative for values)."""
    low, high = wilson(values.mean(), len(values))
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def _of_targets(
    queries: FloatArray, targets: IntArray, without: IntArray, snapshot: Snapshot
) -> tuple[Float64Array, Float64Array]:
    """Return the best own view and the best scenario that is left of each target, in float64.

    -inf where no scenario is left. Products as in `fold.exact`, so that equal scores are equal.
    """
    layout = snapshot.layout()
    counts = layout.starts[targets + 1] - layout.starts[targets]
    pair = np.repeat(np.arange(len(targets)), counts)
    first = np.cumsum(counts) - counts
    view = layout.starts[targets][pair] + np.arange(len(pair)) - first[pair]
    scores = pair_products(queries, snapshot.vectors, pair, view)
    own, other = (np.full(len(targets), -np.inf) for _ in range(2))
    scenario = np.zeros(len(view), bool) if layout.scenario is None else layout.scenario[view]
    others = scenario & (view != without[pair])
    np.maximum.at(own, pair[~scenario], scores[~scenario])
    np.maximum.at(other, pair[others], scores[others])
    return own, other
