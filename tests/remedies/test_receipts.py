import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.types import Span, State, View
from argus.errors import InputError
from argus.indexes.snapshot import Snapshot
from argus.remedies.diagnosis.diagnose import Risk
from argus.remedies.receipts import write_receipt
from tests.support.draws import examples

# Multiples of 1/4: every product and sum is exact, in float32 too, so that equal scores tie.
VECTOR = st.lists(st.integers(-4, 4).map(lambda n: n / 4), min_size=3, max_size=3)


def risk(doc_id, entity):
    return Risk(doc_id, entity, (Span(0, 1),), (), 0.1, State.MEASURED)


def snapshot(rows):
    """rows: (doc_id, vector), the n-th being view vN."""
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
    """An index before and after, names of entities, and who is asked for by which."""
    documents = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=8, unique=True))
    before = [(d, draw(VECTOR)) for d in documents]
    added = st.tuples(st.sampled_from(documents), VECTOR)
    after = before + draw(st.lists(added, max_size=6))
    names = draw(st.dictionaries(st.sampled_from("XYZ"), VECTOR, max_size=3))
    pairs = st.tuples(st.sampled_from(documents), st.sampled_from("XYZ"))
    return before, after, names, draw(st.lists(pairs, max_size=6, unique=True))


@settings(max_examples=examples(150), deadline=None)
@given(repairs(), st.integers(1, 5))
def test_a_receipt_says_what_sorting_everything_says(repair, k):
    before, after, names, pairs = repair
    vectors = {name: np.array(vector, np.float32) for name, vector in names.items()}
    receipt = write_receipt(
        [risk(*pair) for pair in pairs], vectors, snapshot(before), snapshot(after), k=k
    )
    assert [(r.doc_id, r.entity) for r in receipt.risks] == pairs
    assert receipt.asked.tolist() == [e in names for _, e in pairs]
    unasked = ~receipt.asked
    assert not receipt.before[unasked].any() and not receipt.after[unasked].any()
    part = receipt.of(receipt.asked)
    assert part.recovered.size == receipt.recovered.size and part.lost.size == receipt.lost.size
    assert receipt.share_in_top(receipt.before) == part.share_in_top(part.before)
    receipt = part
    asked = [(d, e) for d, e in pairs if e in names]
    orders = {e: (plain_order(before, v), plain_order(after, v)) for e, v in names.items()}
    was = [orders[e][0].index(d) + 1 for d, e in asked]
    now = [orders[e][1].index(d) + 1 for d, e in asked]
    assert [(r.doc_id, r.entity) for r in receipt.risks] == asked
    assert receipt.before.tolist() == was and receipt.after.tolist() == now
    both = list(zip(was, now, strict=True))
    assert receipt.recovered.tolist() == [i for i, (b, a) in enumerate(both) if b > k >= a]
    assert receipt.lost.tolist() == [i for i, (b, a) in enumerate(both) if b <= k < a]
    assert receipt.share_in_top(receipt.after) == (
        pytest.approx(sum(a <= k for a in now) / len(now)) if now else None
    )
    fell, rose = {}, {}
    for entity in {e for _, e in asked}:
        earlier, later = (set(order[:k]) for order in orders[entity])
        for tally, documents in ((fell, earlier - later), (rose, later - earlier)):
            for doc_id in documents:
                tally[doc_id] = tally.get(doc_id, 0) + 1
    assert dict(receipt.fell) == fell and dict(receipt.rose) == rose


EAST, NORTH, BETWEEN = (np.array(v, np.float32) for v in ([1, 0], [0, 1], [0.8, 0.6]))


def test_a_document_that_comes_up_pushes_another_down():
    before = [("hidden", NORTH), ("first", EAST), ("second", BETWEEN)]
    after = [*before, ("hidden", EAST)]
    receipt = write_receipt(
        [risk("hidden", "Bern"), risk("second", "Bern")],
        {"Bern": EAST}, snapshot(before), snapshot(after), k=2,
    )  # fmt: skip
    assert receipt.before.tolist() == [3, 2] and receipt.after.tolist() == [2, 3]
    assert receipt.recovered.tolist() == [0] and receipt.lost.tolist() == [1]
    assert receipt.fell == {"second": 1} and receipt.rose == {"hidden": 1}
    assert receipt.share_in_top(receipt.before) == receipt.share_in_top(receipt.after) == 0.5


def test_a_neighbour_falls_once_per_query():
    before = [("a", NORTH), ("b", NORTH), ("z", BETWEEN)]
    after = [*before, ("a", EAST), ("b", EAST)]
    receipt = write_receipt(
        [risk("a", "Bern"), risk("b", "Bern"), risk("a", "Aare")],
        {"Bern": EAST, "Aare": EAST}, snapshot(before), snapshot(after), k=2,
    )  # fmt: skip
    assert receipt.fell == {"z": 2}, "two queries, three askers"


def test_a_remedy_that_adds_nothing_moves_nothing():
    rows = [("a", NORTH), ("b", EAST)]
    receipt = write_receipt(
        [risk("a", "Bern")], {"Bern": EAST}, snapshot(rows), snapshot(rows), k=1
    )
    assert receipt.before.tolist() == receipt.after.tolist() == [2]
    assert not receipt.recovered.size and not receipt.lost.size
    assert receipt.fell == {} and receipt.rose == {}


def test_without_risks_or_names_the_receipt_is_empty():
    rows = snapshot([("a", NORTH)])
    for risks, names in (([], {"Bern": EAST}), ([risk("a", "Bern")], {})):
        receipt = write_receipt(risks, names, rows, rows)
        assert list(receipt.risks) == risks and not receipt.asked.any()
        assert receipt.before.tolist() == receipt.after.tolist() == [0] * len(risks)
        assert receipt.share_in_top(receipt.after) is None and not receipt.recovered.size
        assert receipt.fell == {} and receipt.k == 10


def test_an_entity_without_a_vector_stays_without_ranks():
    before = [("hidden", NORTH), ("first", EAST)]
    receipt = write_receipt(
        [risk("hidden", "Aare"), risk("hidden", "Bern")],
        {"Bern": EAST}, snapshot(before), snapshot([*before, ("hidden", EAST)]), k=1,
    )  # fmt: skip
    assert receipt.asked.tolist() == [False, True]
    assert receipt.before.tolist() == [0, 2] and receipt.after.tolist() == [0, 2]
    assert not receipt.recovered.size and not receipt.lost.size
    assert receipt.share_in_top(receipt.before) == 0.0, "of one query asked, none is found"


def test_a_document_that_is_not_indexed_is_named():
    rows = snapshot([("a", NORTH)])
    with pytest.raises(InputError, match="'gone'"):
        write_receipt([risk("gone", "Bern")], {"Bern": EAST}, rows, rows)


def test_names_of_another_dimension_are_refused():
    rows = snapshot([("a", NORTH)])
    with pytest.raises(InputError, match=r"query vectors of shape \(1, 3\)"):
        write_receipt([risk("a", "Bern")], {"Bern": np.ones(3, np.float32)}, rows, rows)
