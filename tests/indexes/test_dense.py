import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.indexes import dense, known_item_search, search
from tests.support.draws import examples


@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(1, 12))
@settings(max_examples=examples(80), deadline=None)
def test_search_is_a_full_sort_with_ties_by_row(seed, n, k):
    rng = np.random.default_rng(seed)
    documents = rng.integers(-2, 3, (n, 3)).astype(np.float32)  # small integers tie often
    queries = rng.integers(-2, 3, (4, 3)).astype(np.float32)
    top = search(queries, documents, k)
    scores = queries @ documents.T
    for row in range(4):
        expected = sorted(range(n), key=lambda d: (-scores[row, d], d))[:k]
        assert top.rows[row].tolist() == expected
        assert top.scores[row].tolist() == scores[row, expected].tolist()


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    documents, queries = rng.normal(size=(50, 8)), rng.normal(size=(20, 8))
    whole = search(queries.astype(np.float32), documents.astype(np.float32), 5)
    monkeypatch.setattr(dense, "BLOCK_BYTES", 4 * 50 * 3)
    parts = search(queries.astype(np.float32), documents.astype(np.float32), 5)
    assert np.array_equal(whole.rows, parts.rows)


def test_known_item_rank_counts_ties_before_the_target():
    documents = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    queries = np.array([[1, 0], [1, 0], [1, 0]], np.float32)
    found = known_item_search(queries, documents, np.array([0, 1, 2]), k=2)
    assert found.rank.tolist() == [1, 2, 3]
    assert found.top.rows.tolist() == [[0, 1]] * 3


def test_a_stand_in_replaces_its_target_in_one_query_only():
    documents = np.array([[1, 0], [0.8, 0.6]], np.float32)
    queries = np.array([[1, 0], [1, 0]], np.float32)
    stand_in = np.array([[0, 1], [0.8, 0.6]], np.float32)  # document 0 without what was asked
    found = known_item_search(queries, documents, np.array([0, 1]), k=1, target_vectors=stand_in)
    assert found.rank.tolist() == [2, 2]
    assert found.top.rows.tolist() == [[1], [0]]


def test_nothing_to_search_is_an_error():
    with pytest.raises(ValueError, match="0 queries over 3 documents"):
        search(np.zeros((0, 2), np.float32), np.zeros((3, 2), np.float32), 1)


def test_equal_documents_tie_by_row_with_a_stand_in_too():
    rng = np.random.default_rng(1)
    half = rng.normal(size=(250, 384)).astype(np.float32)
    half /= np.linalg.norm(half, axis=1, keepdims=True)
    documents = np.repeat(half, 2, axis=0)  # 250 pairs of equal documents
    found = known_item_search(documents, documents, np.arange(500), 5, target_vectors=documents)
    assert found.rank.tolist() == [1, 2] * 250


@pytest.mark.parametrize("dtype", [np.float16, np.int8])
def test_rows_of_few_bits_rank_as_the_same_numbers_of_32(dtype):
    rng = np.random.default_rng(0)
    for _ in range(20):
        documents = (rng.normal(size=(30, 4)) * (20 if dtype is np.int8 else 1)).astype(dtype)
        targets = rng.integers(0, 30, 5)
        wide = documents.astype(np.float32)
        found = known_item_search(documents[:5], documents, targets, 3)
        expected = known_item_search(wide[:5], wide, targets, 3)
        assert np.array_equal(found.rank, expected.rank)
        assert np.array_equal(found.top.rows, expected.top.rows)
        scores = search(documents[:5], documents, 3).scores
        assert np.array_equal(scores, search(wide[:5], wide, 3).scores)
