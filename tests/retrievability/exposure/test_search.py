import numpy as np
import pytest

from argus.data.folders import ArtifactFolder
from argus.indexes import exact as dense
from argus.indexes import known_item_search, search
from argus.retrievability.exposure_asking import Block, search_in_parts
from tests.support.in_process_engine import InProcessEngine, Lost

N, K = 60, 5


def unit(rng, n):
    drawn = rng.normal(size=(n, 8)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.fixture
def documents():
    vectors = unit(np.random.default_rng(0), N)
    vectors[20:24] = vectors[3]  # equal ones tie
    return vectors


@pytest.fixture
def queries(documents):
    rng = np.random.default_rng(1)
    targets = rng.integers(0, N, 90)
    targets[rng.random(90) < 0.3] = -1
    return Block(unit(rng, 90), targets, documents[np.maximum(targets, 0)])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(dense, "BLOCK_BYTES", 4 * N * 16)  # 16 queries in a block
    opened = ArtifactFolder(tmp_path / "out")
    opened.open()
    return opened


@pytest.mark.parametrize("engine", [None, InProcessEngine()])
def test_parts_are_the_searches_of_all(documents, queries, folder, engine):
    found, parts = search_in_parts(documents, queries, K, folder, engine)
    own = queries.targets >= 0
    known = known_item_search(
        queries.vectors[own], documents, queries.targets[own], K,
        target_vectors=queries.stand_ins[own],
    )  # fmt: skip
    np.testing.assert_array_equal(found["rank"][own], known.rank)
    np.testing.assert_array_equal(found["top"][own], known.top.rows)
    assert (found["rank"][~own] == 0).all() and not own.all()
    others = search(queries.vectors[~own], documents, K).rows
    np.testing.assert_array_equal(found["top"][~own], others)
    assert len(list(parts.home.iterdir())) == -(-own.sum() // 16) + -(-(~own).sum() // 16)
    parts.remove()
    assert not (folder / "ranks").exists()


def test_what_one_engine_began_another_goes_on_with(documents, queries, folder):
    first, second = InProcessEngine(ahead=2), InProcessEngine()
    first.fail_at = 3
    with pytest.raises(Lost):
        search_in_parts(documents, queries, K, folder, first)
    found, parts = search_in_parts(documents, queries, K, folder, second)
    assert first.blocks + second.blocks == len(list(parts.home.iterdir()))
    parts.remove()
    expected, _ = search_in_parts(documents, queries, K, folder)
    np.testing.assert_array_equal(found["rank"], expected["rank"])
    np.testing.assert_array_equal(found["top"], expected["top"])
