import numpy as np
import pytest

from argus.data.folders import ArtifactFolder
from argus.jobs.parts import remove_parts
from argus.knowledge import RelationGraph
from argus.retrievability.audit import rank_parts
from argus.retrievability.audit.rank_parts import Ranking, ranks_in_parts
from argus.retrievability.limits import RESERVOIR_QUERIES
from argus.retrievability.ranks import pair_ranks
from tests.support.in_process_engine import InProcessEngine, Lost

N = 3 * RESERVOIR_QUERIES + 100
SEED = 3


@pytest.fixture(scope="module")
def vectors():
    drawn = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(1)
    return RelationGraph.from_edges(N, rng.integers(0, N, 2 * N), rng.integers(0, N, 2 * N))


@pytest.fixture(scope="module")
def ranking(vectors, graph):
    return Ranking(vectors, graph, reservoir=None, seed=SEED, device="cpu")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(rank_parts, "PART_QUERIES", RESERVOIR_QUERIES)
    opened = ArtifactFolder(tmp_path / "out")
    opened.open()
    return opened


def same(a, b):
    names = ("entity", "related", "similarity", "above", "pool")
    for name in names:
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name).dtype == getattr(b, name).dtype


@pytest.mark.parametrize("reservoir", [None, 300])
@pytest.mark.parametrize("engine", [None, InProcessEngine()])
def test_parts_are_the_ranks_of_all(vectors, graph, folder, reservoir, engine):
    ranking = Ranking(vectors, graph, reservoir, SEED, "cpu")
    expected = pair_ranks(vectors, graph, reservoir=reservoir, seed=SEED)
    same(ranks_in_parts(ranking, folder, engine), expected)
    assert len(list((folder / "ranks").glob("*/*.npz"))) == 4
    remove_parts(folder)
    assert not (folder / "ranks").exists()


def test_what_one_engine_began_another_goes_on_with(vectors, graph, ranking, folder):
    first, second = InProcessEngine(ahead=2), InProcessEngine()
    first.fail_at = 3
    with pytest.raises(Lost):
        ranks_in_parts(ranking, folder, first)
    found = ranks_in_parts(ranking, folder, second)
    assert (first.blocks, second.blocks) == (3, 1)
    third = InProcessEngine()
    same(ranks_in_parts(ranking, folder, third), found)
    assert third.setups == []  # all is there, so no worker is needed
    same(ranks_in_parts(ranking, folder), found)
    same(found, pair_ranks(vectors, graph))
