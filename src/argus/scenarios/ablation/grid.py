"""Search with every part of scenarios at every weight λ, from scores that are computed once.

`grid`: documents, scenarios and queries with their vectors -> one evaluated run per part
(component) and λ, for `research scenarios ablate` (SPIKE §5, B.3). Equation 3 is a straight line in
λ between two ends: the documents' own scores (λ = 1) and those of their best scenarios (λ = 0, or
the own score where a document has none). Both ends are computed once per component. Each λ then
only weighs them, and values near a place in the result are compared again in float64, so that a
cell equals the results of `Snapshot.search` with that λ.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from argus.data.types import FloatArray, Run, View
from argus.encoders import Embedded
from argus.indexes.blend import DOCUMENTS_ALONE, RELEVANCE_WEIGHT
from argus.indexes.fold import ORIGINAL, between, ends, ranked
from argus.indexes.snapshot import BLOCK_BYTES, Snapshot
from argus.measures import Evaluation
from argus.progress import progress
from argus.scenarios.config import Cell
from argus.scenarios.files import scenario_views
from argus.scenarios.profile import Component, Profiled

Embed = Callable[[Sequence[str]], Embedded]  # Embeds texts as documents are embedded.


@dataclass(frozen=True)
class QueryVectors:
    """The questions. vectors: (n_queries, dim), unit rows."""

    ids: Sequence[str]
    vectors: FloatArray

    def only(self, ids: Collection[str]) -> QueryVectors:
        """Return those of `ids`, in their own order."""
        rows = [i for i, id_ in enumerate(self.ids) if id_ in ids]
        return QueryVectors([self.ids[i] for i in rows], self.vectors[rows])


@dataclass(frozen=True)
class ScenarioTexts:
    """The vector of every text that a component indexes. Each text was embedded once.

    vectors: shape (n_texts, dim), unit rows.
    failures: text to why it has no vector: the document does without this scenario.
    """

    rows: Mapping[str, int]
    vectors: FloatArray
    failures: Mapping[str, str]


@dataclass(frozen=True)
class Documents:
    """A corpus. vectors: (n_documents, dim), unit rows. profiles: by id, those that have one."""

    ids: Sequence[str]
    vectors: FloatArray
    profiles: Mapping[str, Profiled]

    def placebo(self, rng: np.random.Generator) -> Documents:
        """Return the corpus with the profiles exchanged: each document bears another's.

        Whatever such scenarios do to the results comes from having scenarios, not from their
        words. Needs two documents with a profile.
        """
        owners = sorted(self.profiles)
        circle = [owners[i] for i in rng.permutation(len(owners))]
        exchange = zip(circle, [*circle[1:], circle[0]], strict=True)
        profiles = {to: replace(self.profiles[of], doc_id=to) for to, of in exchange}
        return Documents(self.ids, self.vectors, profiles)

    def alone(self) -> Snapshot:
        """Return the index of the documents without their scenarios."""
        return Snapshot.of([View(i, i, ORIGINAL, "") for i in self.ids], self.vectors)

    def with_scenarios(self, component: Component, texts: ScenarioTexts) -> Snapshot:
        """Return the index with the scenarios of one component."""
        views = _views(self.profiles.values(), component)
        scenarios = [view for view in views if view.text in texts.rows]
        rows = np.array([texts.rows[view.text] for view in scenarios], np.int64)
        vectors = np.concatenate([self.vectors, texts.vectors[rows]])
        return Snapshot.of([View(i, i, ORIGINAL, "") for i in self.ids] + scenarios, vectors)


def embed_scenarios(
    profiles: Iterable[Profiled], components: Sequence[Component], embed: Embed
) -> ScenarioTexts:
    """Embed every distinct text that one of the components indexes."""
    profiles = list(profiles)
    texts = list(dict.fromkeys(v.text for c in components for v in _views(profiles, c)))
    embedded = embed(texts)
    indexed = [text for text, ok in zip(texts, embedded.ok, strict=True) if ok]
    failures = {texts[i]: reason for i, reason in embedded.failures.items()}
    return ScenarioTexts({text: i for i, text in enumerate(indexed)}, embedded.vectors, failures)


def grid(
    documents: Documents,
    texts: ScenarioTexts,
    queries: QueryVectors,
    cells: Iterable[Cell],
    *,
    depth: int,
    score: Callable[[Run], Evaluation],
) -> dict[Cell, Evaluation]:
    """Score every cell's run of `depth` documents, in the order of `cells`."""
    order = list(cells)
    evaluations: dict[Cell, Evaluation] = {}
    with progress("searching the grid", len(order)) as advance:
        for component in dict.fromkeys(cell.component for cell in order):
            weights = [cell.weight for cell in order if cell.component is component]
            snapshot = documents.with_scenarios(component, texts)
            for weight, run in sweep(snapshot, queries, weights, depth).items():
                evaluations[Cell(component, weight)] = score(run)
            advance(len(weights))
    return {cell: evaluations[cell] for cell in order}


def sweep(
    snapshot: Snapshot, queries: QueryVectors, weights: Sequence[float], k: int
) -> dict[float, Run]:
    """Return, for each λ, the run of `snapshot.search(queries.vectors, k, λ)`, all at once."""
    layouts = {weight: snapshot.layout(weight) for weight in weights}
    runs: dict[float, Run] = {weight: {} for weight in layouts}
    k = min(k, len(snapshot))
    step = max(1, BLOCK_BYTES // (4 * max(1, len(snapshot.vectors))))
    for start in range(0, len(queries.ids), step):
        block = queries.vectors[start : start + step]
        ids = queries.ids[start : start + step]
        scores = block @ snapshot.vectors.T
        at_both_ends, bound = ends(scores, snapshot.layout()), snapshot.layout().bound(block)
        for weight, layout in layouts.items():
            best = between(at_both_ends, weight)
            kth = np.partition(best, -k, axis=1)[:, -k][:, None]
            query, document = np.nonzero(best >= kth - bound)
            top = ranked(block, snapshot.vectors, layout, query, document, k)
            runs[weight] |= {id_: {} for id_ in ids}
            found = zip(top.query.tolist(), top.document.tolist(), top.score.tolist(), strict=True)
            for row, place, score in found:
                runs[weight][ids[row]][snapshot.doc_ids[place]] = score
    return runs


def best_cell(
    evaluations: Mapping[Cell, Evaluation], measure: str, queries: Collection[str] | None = None
) -> Cell:
    """Return the cell of the highest mean. Of equal ones that of the greater λ, then as listed.

    Documents alone (λ = 1) are no cell to choose, unless there is no other. queries: over these.
    """

    def mean(cell: Cell) -> float:
        values = evaluations[cell].per_query
        ids = values if queries is None else queries
        return sum(values[query][measure] for query in ids) / len(ids)

    order = list(Component)
    cells = [cell for cell in evaluations if cell.weight < DOCUMENTS_ALONE] or list(evaluations)
    return max(cells, key=lambda c: (round(mean(c), 12), c.weight, -order.index(c.component)))


def usual_cell(cells: Iterable[Cell]) -> Cell:
    """Return M+E at λ = 0.7, which SPIKE chose, or the nearest to it in this grid."""
    return min(
        cells, key=lambda c: (c.component is not Component.ME, abs(c.weight - RELEVANCE_WEIGHT))
    )


def split(ids: Iterable[str], share: float, rng: np.random.Generator) -> tuple[set[str], set[str]]:
    """Return questions to choose a cell on, about `share` of all, and the rest."""
    ordered = sorted(ids)
    shuffled = [ordered[i] for i in rng.permutation(len(ordered))]
    n = round(share * len(ordered))
    return set(shuffled[:n]), set(shuffled[n:])


def mean_of(evaluations: Sequence[Evaluation]) -> Evaluation:
    """Return each query's mean over several runs of the same queries."""
    n, first = len(evaluations), evaluations[0]
    per_query = {
        query: {m: sum(e.per_query[query][m] for e in evaluations) / n for m in values}
        for query, values in first.per_query.items()
    }
    aggregate = {m: sum(e.aggregate[m] for e in evaluations) / n for m in first.aggregate}
    return Evaluation(aggregate, per_query)


def _views(profiles: Iterable[Profiled], component: Component) -> list[View]:
    """Return the views of a component. A profile without a topic has no M."""
    return [view for view in scenario_views(profiles, component) if view.text.strip()]
