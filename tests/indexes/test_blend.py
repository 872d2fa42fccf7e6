"""A blend over documents, sentences and scenarios: against its definition, written out plainly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import View
from argus.errors import EncoderMismatch, InputError
from argus.indexes.blend import Blend
from argus.indexes.recipe import CORRECTION, QueryCorrection, read_correction
from argus.indexes.snapshot import Snapshot
from argus.indexes.views import ViewIndex
from tests.support.draws import examples

KINDS = ("original", "expansion", "sentence", "scenario")


def unit(rows):
    rows = np.asarray(rows, np.float64)
    return (rows / np.linalg.norm(rows, axis=-1, keepdims=True)).astype(np.float32)


def blended(rng, n, dim, blend):
    """A snapshot of n documents, each with an original and up to four other views near it."""
    views, vectors = [], []
    for d in range(n):
        topic = rng.normal(size=dim)
        views.append(View(f"d{d:04}", f"d{d:04}", "original", "t"))
        vectors.append(topic)
        for i in range(int(rng.integers(0, 5))):
            kind = KINDS[int(rng.integers(1, len(KINDS)))]
            views.append(View(f"d{d:04}#{i}", f"d{d:04}", kind, "t"))
            vectors.append(topic + 0.5 * rng.normal(size=dim))
    return Snapshot.of(views, unit(vectors)).blended(blend)


def defined(snapshot, query, blend, weight):
    """The score of every document, by the definition, in float64."""
    scores = snapshot.vectors.astype(float) @ query.astype(float)
    kinds = np.array([view.kind for view in snapshot.views])
    out = []
    for d in range(len(snapshot)):
        rows = np.arange(snapshot.starts[d], snapshot.starts[d + 1])
        of = {kind: scores[rows[kinds[rows] == kind]] for kind in KINDS}
        own = max(*of["original"], *of["expansion"], -2)
        score = own
        if len(of["sentence"]):
            score = blend.weight * own + (1 - blend.weight) * max(own, *of["sentence"], -2)
        if len(of["scenario"]):
            score = weight * score + (1 - weight) * max(*of["scenario"], -2)
        out.append(score)
    return np.array(out)


BLENDS = st.builds(Blend, weight=st.sampled_from([0.0, 0.3, 0.7, 1.0]))


@given(st.integers(0, 10**6), st.integers(1, 60), BLENDS, st.sampled_from([0.0, 0.5, 0.7, 1.0]))
@settings(max_examples=examples(120), deadline=None)
def test_search_is_the_definition_for_every_document(seed, n, blend, weight):
    rng = np.random.default_rng(seed)
    snapshot = blended(rng, n, 8, blend)
    query = unit(rng.normal(size=(1, 8)))
    top = snapshot.search(query, n, weight)
    scores = defined(snapshot, query[0], blend, weight)
    order = np.lexsort((np.arange(n), -scores))
    np.testing.assert_allclose(top.scores[0], scores[order], atol=1e-6)
    assert sorted(top.doc_ids[0]) == snapshot.doc_ids
    close = np.abs(np.diff(scores[order])) < 1e-6
    if not close.any():
        assert top.doc_ids[0] == [snapshot.doc_ids[d] for d in order]
    ranks = snapshot.ranks(np.repeat(query, n, axis=0), top.doc_ids[0], weight)
    assert ranks.tolist() == list(range(1, n + 1))


@pytest.fixture
def index(tmp_path):
    rng = np.random.default_rng(0)
    made = ViewIndex.create(tmp_path / "index", fingerprint="f", dim=8)
    views = [View(f"d{i}", f"d{i}", "original", f"text {i}") for i in range(20)]
    made.add(views, unit(rng.normal(size=(20, 8))))
    return made


def add_views(index, remedy, kind, seed):
    rng = np.random.default_rng(seed)
    views = [View(f"d{i}#{remedy}", f"d{i}", kind, f"{remedy} {i}") for i in range(20)]
    index.add(views, unit(rng.normal(size=(20, 8))), remedy=remedy)


def add_blend(index, remedy, blend, seed):
    """Sentences as a remedy, as `tune apply blend` writes them."""
    add_views(index, remedy, "sentence", seed)
    index.prescribe(remedy, blend=blend)


def ranked(index, as_of=None):
    queries = unit(np.random.default_rng(9).normal(size=(6, 8)))
    top = index.search(queries, 20, as_of)
    return top.doc_ids, np.round(top.scores, 5).tolist()


def test_states_before_and_after_blends_of_which_the_latest_counts_and_their_rollbacks(index):
    before = ranked(index)
    add_blend(index, "blend-1", Blend(), 1)
    after = ranked(index)
    assert after != before and ranked(index, "blend-1") == after
    assert ranked(index, "original") == ranked(index, "before:blend-1") == before
    again = ViewIndex.open(index.path)
    assert ranked(again) == after and [r.id for r in again.remedies()] == ["blend-1"]
    add_blend(index, "blend-2", Blend(weight=0.2), 2)
    assert ranked(index) != after == ranked(index, "blend-1")
    index.rollback("blend-2")
    assert ranked(index) == after
    index.rollback("blend-1")
    assert ranked(index) == ranked(ViewIndex.open(index.path)) == before and not index.remedies()


def test_a_correction_is_kept_and_bound_to_its_encoder(tmp_path):
    rng = np.random.default_rng(0)
    u, w = (rng.normal(size=(8, 2)).astype(np.float32) for _ in range(2))
    correction = QueryCorrection(u, w, 0.5, "encoder a")
    correction.save(tmp_path / CORRECTION)
    kept = read_correction(tmp_path / CORRECTION)
    queries = unit(rng.normal(size=(4, 8)))
    by_hand = queries + 0.5 * queries @ w @ u.T
    np.testing.assert_allclose(kept.apply(queries), unit(by_hand), atol=1e-6)
    assert np.array_equal(replace(kept, alpha=0.0).apply(queries), queries)
    with pytest.raises(EncoderMismatch):
        kept.check_fingerprint("encoder b", tmp_path)
    (tmp_path / CORRECTION).write_bytes(b"PK garbage")
    with pytest.raises(InputError, match="correction"):
        read_correction(tmp_path / CORRECTION)


def test_a_remedy_says_the_weight_of_scenarios_and_a_number_beats_it(index):
    add_views(index, "scenarios-I", "scenario", 2)
    queries = unit(np.random.default_rng(3).normal(size=(6, 8)))

    def found(as_of=None, weight=None):
        return index.search(queries, 20, as_of, weight=weight).scores

    usual, mostly = found(weight=0.7), found(weight=0.2)
    assert found() == usual != mostly
    index.prescribe("scenarios-I", weight=0.2)
    assert found() == found("scenarios-I") == mostly
    assert found(weight=0.7) == usual
    assert ViewIndex.open(index.path).weight() == 0.2
    assert index.weight("original") == index.weight("before:scenarios-I") == 0.7
    with pytest.raises(InputError) as error:
        index.prescribe("scenarios-I", weight=1.5)
    assert error.value.where == "--lambda"
    index.rollback("scenarios-I")
    assert index.weight() == 0.7


@pytest.mark.parametrize("dies_at", ["_delete", "_write_recipes"])
def test_a_rollback_of_scenarios_is_one_commit(index, monkeypatch, dies_at):
    for seed, remedy, weight in ((2, "s-1", 0.5), (3, "s-2", 0.2)):
        add_views(index, remedy, "scenario", seed)
        index.prescribe(remedy, weight=weight)
    after, before = ranked(index, "s-1"), ranked(index)
    assert after != before

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(ViewIndex, dies_at, killed)
        with pytest.raises(KeyboardInterrupt):
            index.rollback("s-2")
    left = ViewIndex.open(index.path)
    expected = (before, 0.2) if dies_at == "_delete" else (after, 0.5)
    assert (ranked(left), left.weight()) == expected
    left.rollback("s-2")
    assert (ranked(left), left.weight()) == (after, 0.5)
    assert [r.id for r in left.remedies()] == ["s-1"]
