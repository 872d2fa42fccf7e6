"""Ranks of documents at risk in two states of an index, against sorting everything."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Span, State, View
from argus.indexes.snapshot import Snapshot
from argus.remedies.diagnosis import Risk
from argus.remedies.receipt import rank_risks
from tests.support.draws import examples

# Multiples of 1/4: every product and sum is exact, in float32 too, so that equal scores tie.
VECTOR = st.lists(st.integers(-4, 4).map(lambda n: n / 4), min_size=3, max_size=3)


def risk(doc_id, entity):
    return Risk(doc_id, entity, (Span(0, 1),), (), 0.1, State.MEASURED)


def snapshot(rows):
    views = [View(f"v{i}", doc_id, "original", "") for i, (doc_id, _) in enumerate(rows)]
    return Snapshot.of(views, np.array([vector for _, vector in rows], np.float32))


def plain_order(rows, query):
    """All documents, best first, by their best view; ties by id."""
    scores = {}
    for doc_id, vector in rows:
        score = float(np.dot(np.array(vector), np.array(query)))
        scores[doc_id] = max(score, scores.get(doc_id, -np.inf))
    return sorted(scores, key=lambda doc_id: (-scores[doc_id], doc_id))


@st.composite
def repairs(draw):
    """An index before and after, names of entities, and documents at risk for them."""
    documents = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True))
    before = [(d, draw(VECTOR)) for d in documents]
    added = st.tuples(st.sampled_from(documents), VECTOR)
    after = before + draw(st.lists(added, max_size=6))
    names = draw(st.dictionaries(st.sampled_from("XYZ"), VECTOR, max_size=3))
    pairs = st.tuples(st.sampled_from(documents), st.sampled_from("XYZ"))
    return before, after, names, draw(st.lists(pairs, max_size=6, unique=True))


@settings(max_examples=examples(150), deadline=None)
@given(repairs(), st.integers(1, 5))
def test_ranks_are_those_of_sorting_everything(repair, k):
    before, after, names, pairs = repair
    vectors = {name: np.array(vector, np.float32) for name, vector in names.items()}
    risks = [risk(*pair) for pair in pairs]
    ranks, fallen = rank_risks(risks, vectors, snapshot(before), snapshot(after), k)
    orders = {e: (plain_order(before, v), plain_order(after, v)) for e, v in names.items()}
    was, now = ([orders[e][i].index(d) + 1 if e in names else 0 for d, e in pairs] for i in (0, 1))
    assert ranks.tolist() == [was, now]
    fell = Counter()
    for entity in {e for _, e in pairs if e in names}:
        earlier, later = (set(order[:k]) for order in orders[entity])
        fell.update(earlier - later)
    assert fallen == fell
