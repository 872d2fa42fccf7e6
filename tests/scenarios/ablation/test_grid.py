"""The grid: every cell is what a search with that λ finds, from texts that are embedded once."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import View
from argus.encoders import Embedded
from argus.indexes.snapshot import Snapshot
from argus.measures import Evaluation
from argus.scenarios import Component, Profiled, ProfileState, Scenario, ScenarioProfile
from argus.scenarios.ablation import grid as ablate
from argus.scenarios.ablation.grid import Cell, Documents, QueryVectors
from argus.scenarios.config import WEIGHTS
from argus.scenarios.files import scenario_views
from tests.support.draws import examples

DIM = 6


def unit(vectors):
    vectors = np.asarray(vectors, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Texts:
    """Embeds a text as one of `kinds` directions, so that many tie; `broken` ones fail."""

    def __init__(self, rng, kinds=7, broken=()):
        self.directions, self.broken, self.asked = unit(rng.normal(size=(kinds, DIM))), broken, []

    def __call__(self, texts):
        self.asked += texts
        ok = np.array([text not in self.broken for text in texts], bool)
        rows = [sum(text.encode()) % len(self.directions) for text in texts]
        failures = {i: "rejected" for i, good in enumerate(ok) if not good}
        return Embedded(self.directions[rows][ok].reshape(-1, DIM), ok, failures)


def profile_of(doc_id, n, topic="topic"):
    scenarios = tuple(Scenario(f"need {i} of {doc_id}", f"why {i} {doc_id}") for i in range(n))
    profile = ScenarioProfile(topic and f"{topic} {doc_id}", (), scenarios)
    return Profiled(doc_id, ProfileState.OK, profile)


def corpus(rng, n, *, share=0.6, kinds=9):
    ids = [f"d{i:03}" for i in range(n)]
    vectors = unit(rng.normal(size=(kinds, DIM)))[rng.integers(0, kinds, n)]
    owners = [d for d in ids if rng.random() < share]
    return Documents(ids, vectors, {d: profile_of(d, int(rng.integers(1, 5))) for d in owners})


def questions(rng, n=5):
    return QueryVectors([f"q{i}" for i in range(n)], unit(rng.normal(size=(n, DIM))))


def searched(documents, component, embed, asked, k, weight):
    """The same through an index of all views, searched with this λ."""
    views = [View(d, d, "original", "") for d in documents.ids]
    scenarios = scenario_views(documents.profiles.values(), component)
    scenarios = [v for v in scenarios if v.text.strip() and v.text not in embed.broken]
    vectors = embed([v.text for v in scenarios]).vectors
    snapshot = Snapshot.of(views + scenarios, np.concatenate([documents.vectors, vectors]))
    return snapshot.search(asked.vectors, k, weight).run(asked.ids)


def in_order(run):
    return {query: list(found.items()) for query, found in run.items()}


@given(
    st.integers(0, 10**6), st.integers(1, 25), st.sampled_from(list(Component)), st.integers(1, 30)
)
@settings(max_examples=examples(30), deadline=None)
def test_every_weight_of_a_sweep_is_the_search_with_it(seed, n, component, k):
    rng = np.random.default_rng(seed)
    documents, asked, embed = corpus(rng, n), questions(rng), Texts(rng)
    texts = ablate.embed_scenarios(documents.profiles.values(), [component], embed)
    snapshot = documents.with_scenarios(component, texts)
    runs = ablate.sweep(snapshot, asked, WEIGHTS, k)
    assert list(runs) == list(WEIGHTS)
    for weight, run in runs.items():
        expected = searched(documents, component, embed, asked, k, weight)
        assert in_order(run) == in_order(expected), "ids, order and scores, to the last bit"


def test_a_document_whose_scenarios_failed_keeps_its_own_score():
    rng = np.random.default_rng(3)
    documents, asked = corpus(rng, 12, share=1.0), questions(rng)
    lost = "d004"
    broken = {v.text for v in scenario_views([documents.profiles[lost]], Component.ME)}
    embed = Texts(rng, broken=broken)
    texts = ablate.embed_scenarios(documents.profiles.values(), [Component.ME], embed)
    assert texts.failures == dict.fromkeys(broken, "rejected")
    snapshot = documents.with_scenarios(Component.ME, texts)
    run = ablate.sweep(snapshot, asked, [0.0], 12)[0.0]
    alone = documents.alone().search(asked.vectors, 12).run(asked.ids)
    for query in asked.ids:
        assert run[query].keys() == set(documents.ids), "none is lost"
        assert run[query][lost] == alone[query][lost]


@given(st.integers(2, 30), st.integers(0, 10**6))
@settings(max_examples=examples(40), deadline=None)
def test_a_placebo_gives_every_document_another_ones_profile(n, seed):
    ids = [f"d{i:02}" for i in range(n)]
    profiles = {d: profile_of(d, 1) for d in ids}
    documents = Documents([*ids, "z"], unit(np.ones((n + 1, DIM))), profiles)
    exchanged = documents.placebo(np.random.default_rng(seed)).profiles
    assert exchanged.keys() == profiles.keys()
    assert all(p.doc_id == d and p.profile != profiles[d].profile for d, p in exchanged.items())
    assert {p.profile for p in exchanged.values()} == {p.profile for p in profiles.values()}
    assert exchanged == documents.placebo(np.random.default_rng(seed)).profiles


def measured(**values):
    return Evaluation({}, {query: {"m": value} for query, value in values.items()})


def test_the_best_of_equal_cells_is_nearest_to_the_document():
    low, near = Cell(Component.M, 0.2), Cell(Component.M, 0.9)
    other = Cell(Component.I, 0.9)
    found = {
        low: measured(a=0.1 + 0.2, b=0),
        other: measured(a=0, b=0.3),
        near: measured(a=0.3, b=0),
    }
    assert ablate.best_cell(found, "m") == near, "0.1 + 0.2 is no more than 0.3"
    assert ablate.best_cell(found, "m", {"b"}) == other


@given(st.integers(0, 20), st.floats(0, 1), st.integers(0, 99))
@settings(max_examples=examples(30))
def test_a_split_is_the_same_whatever_the_order(n, share, seed):
    ids = {f"q{i}" for i in range(n)}
    first, rest = ablate.split(ids, share, np.random.default_rng(seed))
    assert first | rest == ids and not first & rest and len(first) == round(share * len(ids))
    again = ablate.split(sorted(ids, reverse=True), share, np.random.default_rng(seed))
    assert again == (first, rest)
