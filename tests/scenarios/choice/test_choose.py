"""Choosing component and λ by held-out needs, against worths worked out by hand or one by one."""

import numpy as np
import pytest

from argus.data.types import View
from argus.encoders import Embedded
from argus.indexes.snapshot import Snapshot
from argus.scenarios.ablation.grid import Cell, Documents, ScenarioTexts
from argus.scenarios.config import WEIGHTS
from argus.scenarios.files import scenario_views
from argus.scenarios.needs.ranks import NeedVectors
from argus.scenarios.profile import Component, needs
from argus.scenarios.remedy import best_of, choose, cross_chosen
from tests.support.scenarios import profiles_of

A, B = Cell(Component.M, 0.0), Cell(Component.I, 0.5)


def unit(rows):
    rows = np.asarray(rows, np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def worths(cells):
    return {cell: np.asarray(value, float) for cell, value in cells.items()}


def test_the_best_mean_wins_and_of_equal_ones_the_greater_weight():
    assert best_of(worths({A: [1, 0, 0], B: [0.5, 0.5, 0.5]})) == B
    same = {Cell(Component.M, 0.2): [0.5], Cell(Component.E, 0.9): [0.5]}
    assert best_of(worths(same)) == Cell(Component.E, 0.9)
    tied = {Cell(Component.I, 1.0): [0.5], Cell(Component.ME, 1.0): [0.5]}
    assert best_of(worths(tied)) == Cell(Component.ME, 1.0)


def test_each_half_is_told_by_what_the_other_half_chose():
    """Where every document is best served by what serves no other, choosing gains nothing."""
    cells = worths({Cell(Component.I, i / 10): np.eye(6)[i] for i in range(6)})
    assert cells[best_of(cells)].mean() > 0
    assert cross_chosen(cells, 0).mean() == 0


@pytest.fixture
def vectors():
    rng = np.random.default_rng(4)
    profiles = profiles_of({f"d{d}": [f"need {d}.1", f"need {d}.2"] for d in range(5)})
    texts = sorted({v.text for c in Component for v in scenario_views(profiles.values(), c)})
    asked = needs(profiles)
    documents = Documents([f"d{d}" for d in range(8)], unit(rng.normal(size=(8, 6))), profiles)
    rows = {text: i for i, text in enumerate(texts)}
    scenarios = ScenarioTexts(rows, unit(rng.normal(size=(len(texts), 6))), {})
    queries = Embedded(unit(rng.normal(size=(len(asked), 6))), np.ones(len(asked), bool), {})
    return NeedVectors(documents, scenarios, asked, queries)


def index(vectors, component, gone):
    """The index without some scenario views: (document, text)."""
    documents = vectors.documents
    views = [View(d, d, "original", "") for d in documents.ids]
    scenarios = scenario_views(documents.profiles.values(), component)
    views += [v for v in scenarios if (v.doc_id, v.text) not in gone]
    rows = [
        documents.vectors[documents.ids.index(v.doc_id)]
        if v.kind == "original"
        else vectors.texts.vectors[vectors.texts.rows[v.text]]
        for v in views
    ]
    return Snapshot.of(views, np.stack(rows))


def reciprocal_ranks(vectors, cell, gone):
    """Of each document, the mean reciprocal rank; gone: of a need, what its index lacks."""
    found = {}
    for need, query in zip(vectors.needs, vectors.queries.vectors, strict=True):
        top = index(vectors, cell.component, gone(need)).search(query[None], 8, cell.weight)
        found.setdefault(need.doc_id, []).append(1 / (1 + top.doc_ids[0].index(need.doc_id)))
    return [float(np.mean(found[doc])) for doc in sorted(found)]


def own_view(vectors, component):
    def gone(need):
        profile = vectors.documents.profiles[need.doc_id].profile
        text = profile.text(component, need.position)
        return set() if component is Component.M else {(need.doc_id, text)}

    return gone


@pytest.mark.parametrize("component", Component)
def test_a_cell_is_worth_what_search_finds_without_the_needs_view(vectors, component):
    _, figures = choose(vectors, [component], WEIGHTS, seed=0)
    found = {row["lambda"]: row["mrr"] for row in figures["grid"]}
    assert list(found) == list(WEIGHTS)
    for weight in (0.0, 0.4, 0.7, 1.0):
        cell = Cell(component, weight)
        expected = reciprocal_ranks(vectors, cell, own_view(vectors, component))
        assert found[weight] == pytest.approx(np.mean(expected))
