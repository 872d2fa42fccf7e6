"""Records of mixed views: the best of a document's is what the index gives it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from argus.data.types import View
from argus.encoders.protocol import unit_rows
from argus.indexes.blend import SENTENCE, Blend
from argus.indexes.fold import ORIGINAL, SCENARIO
from argus.indexes.snapshot import Snapshot
from argus.remedies.store_writing import state_records

KINDS = (ORIGINAL, "expansion", SENTENCE, SCENARIO)
weights = st.sampled_from((0.0, 0.3, 0.7, 1.0))


@st.composite
def states(draw) -> Snapshot:
    """Documents with their own view and some of every other kind."""
    views = []
    for document in range(draw(st.integers(1, 4))):
        views.append(View(f"d{document}", f"d{document}", ORIGINAL, ""))
        for kind in KINDS[1:]:
            n = draw(st.integers(0, 2))
            views += [View(f"d{document}#{kind}-{i}", f"d{document}", kind, "") for i in range(n)]
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    vectors = unit_rows(rng.normal(size=(len(views), 5)).astype(np.float32))
    blend = draw(st.sampled_from((None, Blend(weight=draw(weights)))))
    return Snapshot.of(views, vectors).blended(blend)


@given(states(), weights)
def test_the_best_record_scores_as_the_state_does(state, weight):
    records = state_records("r", state, weight, "an encoder")
    assert len({*records.names}) == len(records) and all("#r" in name for name in records.names)
    np.testing.assert_allclose(np.linalg.norm(records.vectors, axis=1), 1, atol=1e-5)
    queries = unit_rows(np.random.default_rng(7).normal(size=(6, 5)).astype(np.float32))
    scores = queries @ records.vectors.T * records.scales
    parents = np.array(records.parents)
    best = np.stack([scores[:, parents == d].max(axis=1) for d in state.doc_ids], axis=1)
    np.testing.assert_allclose(best, state.document_scores(queries, weight), atol=2e-5)


def test_views_that_cancel_out_are_left_out():
    views = [View("d", "d", ORIGINAL, ""), View("d#s-0", "d", SENTENCE, "")]
    vectors = np.array([[1, 0], [-1, 0]], np.float32)
    state = Snapshot.of(views, vectors).blended(Blend(weight=0.5))
    assert state_records("r", state, 1.0, "e").kinds == ["document"]
