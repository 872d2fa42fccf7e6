"""Held-out ranks against indexes that are really built without the scenario."""

import zlib

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.data.types import View
from argus.indexes.blend import DOCUMENTS_ALONE
from argus.indexes.snapshot import Snapshot
from argus.scenarios.files import scenario_views
from argus.scenarios.needs import ranks as module
from argus.scenarios.needs.ranks import held_out_ranks, held_out_rows, left_out
from argus.scenarios.profile import (
    Component,
    Profiled,
    ProfileState,
    Scenario,
    ScenarioProfile,
    needs,
)
from tests.support.draws import examples

WEIGHTS = (DOCUMENTS_ALONE, 0.0, 0.3, 0.5, 0.7, 0.9)


def vector_of(text, pool):
    """One of a few vectors, the same for the same text."""
    return pool[zlib.crc32(text.encode()) % len(pool)]


def random_corpus(rng, n, words):
    """n documents of one or two own views: without profile, noise, with one to four scenarios.

    Texts are drawn from few words, so that some views of a document, and whole documents, are
    the same.
    """
    own, profiles = [], {}

    def say(kind):
        return f"{kind} {rng.integers(words)}"

    for d in range(n):
        doc = f"d{d:02}"
        own += [View(f"{doc}.{v}", doc, "original", say("own")) for v in range(rng.integers(1, 3))]
        kind = rng.integers(4)
        if kind == 0:
            profiles[doc] = Profiled(doc, ProfileState.NOISE, reason="nothing")
        elif kind > 1:
            scenarios = tuple(
                Scenario(say("need"), say("explained")) for _ in range(rng.integers(1, 5))
            )
            profile = ScenarioProfile(say("topic"), (), scenarios)
            profiles[doc] = Profiled(doc, ProfileState.OK, profile)
    return own, profiles


def index_of(own, profiles, component, pool):
    views = [*own, *scenario_views(profiles.values(), component)]
    return Snapshot.of(views, np.stack([vector_of(v.text, pool) for v in views]))


def unit(vectors):
    vectors = np.asarray(vectors, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def without(profiles, doc_id, position):
    """The profiles as they would have been had this scenario never been written."""
    kept = profiles[doc_id].profile.scenarios
    kept = kept[:position] + kept[position + 1 :]
    if not kept:
        return {d: p for d, p in profiles.items() if d != doc_id}
    old = profiles[doc_id].profile
    profile = ScenarioProfile(old.main_topic, old.key_aspects, kept)
    return profiles | {doc_id: Profiled(doc_id, ProfileState.OK, profile)}


def reference(own, profiles, component, pool, weight):
    """Rank of each need in an index of its own."""
    found = []
    for doc_id, position, need in needs(profiles):
        snapshot = index_of(own, without(profiles, doc_id, position), component, pool)
        top = snapshot.search(vector_of(need, pool)[None], len(snapshot), weight)
        found.append(top.doc_ids[0].index(doc_id) + 1)
    return found


def ranks_of(own, profiles, component, pool, weights=WEIGHTS):
    asked = needs(profiles)
    snapshot = index_of(own, profiles, component, pool)
    return held_out_ranks(
        np.stack([vector_of(text, pool) for _, _, text in asked]),
        snapshot.positions(doc_id for doc_id, _, _ in asked),
        held_out_rows(snapshot, profiles, asked, component),
        snapshot,
        weights,
    )


@given(
    st.integers(0, 10**6),
    st.integers(1, 14),
    st.sampled_from(Component),
    st.sampled_from([3, 8, 200]),
)
@settings(max_examples=examples(30), deadline=None)
def test_held_out_needs_rank_as_without_their_scenario(seed, n, component, words):
    rng = np.random.default_rng(seed)
    own, profiles = random_corpus(rng, n, words)
    assume(needs(profiles))
    pool = unit(rng.normal(size=(words, 5)))
    found = ranks_of(own, profiles, component, pool)
    for i, weight in enumerate(WEIGHTS):
        assert found[i].tolist() == reference(own, profiles, component, pool, weight)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(3)
    own, profiles = random_corpus(rng, 60, 50)
    pool = unit(rng.normal(size=(50, 384)))
    whole = ranks_of(own, profiles, Component.IE, pool)
    n_views = len(index_of(own, profiles, Component.IE, pool).vectors)
    monkeypatch.setattr(module, "BLOCK_BYTES", 4 * 3 * n_views)
    cut = ranks_of(own, profiles, Component.IE, pool)
    assert cut.tolist() == whole.tolist()


def test_the_text_that_goes_is_what_no_other_scenario_has():
    profile = ScenarioProfile("topic", (), (Scenario("n1", "e1"), Scenario("n2", "e2")))
    assert [left_out(profile, Component(c))[1] for c in ("M", "E", "I+E")] == [
        None, "e2", "n2\ne2",
    ]  # fmt: skip


def test_equal_vectors_tie_and_the_smaller_id_comes_first():
    views = [View(i, i, "original", "t") for i in "abc"]
    snapshot = Snapshot.of(views, unit([[1, 0], [1, 0], [1, 0]]))
    found = held_out_ranks(
        unit([[1, 1]] * 3), np.arange(3), np.full(3, -1), snapshot, (DOCUMENTS_ALONE, 0.5)
    )
    assert found.tolist() == [[1, 2, 3]] * 2
