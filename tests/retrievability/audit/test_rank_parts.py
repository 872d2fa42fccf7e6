import numpy as np
import pytest

from argus.data.folders import ArtifactFolder
from argus.jobs.workspace import remove_parts
from argus.knowledge import RelationGraph
from argus.retrievability import audit as job
from argus.retrievability.audit import rank_in_parts
from argus.retrievability.config import AuditConfig
from argus.retrievability.ranks import RESERVOIR_QUERIES, pair_ranks
from tests.support.in_process_engine import InProcessEngine, Lost

N = 3 * RESERVOIR_QUERIES + 100
SEED = 3
CONFIG = AuditConfig(seed=SEED, device="cpu")


@pytest.fixture(scope="module")
def vectors():
    drawn = np.random.default_rng(0).normal(size=(N, 16)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def graph():
    rng = np.random.default_rng(1)
    return RelationGraph.from_edges(N, rng.integers(0, N, 2 * N), rng.integers(0, N, 2 * N))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "PART_QUERIES", RESERVOIR_QUERIES)
    opened = ArtifactFolder(tmp_path / "out")
    opened.open()
    return opened


def same(a, b):
    for name in ("entity", "related", "similarity", "above", "pool"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
        assert getattr(a, name).dtype == getattr(b, name).dtype


@pytest.mark.parametrize("reservoir", [None, 300])
@pytest.mark.parametrize("engine", [None, InProcessEngine()])
def test_parts_are_the_ranks_of_all(vectors, graph, folder, reservoir, engine):
    config = AuditConfig(seed=SEED, device="cpu", reservoir=reservoir)
    expected = pair_ranks(vectors, graph, reservoir=reservoir, seed=SEED)
    same(rank_in_parts(vectors, graph, config, folder, engine), expected)
    assert len(list((folder / "ranks").glob("*/*.npz"))) == 4
    remove_parts(folder)
    assert not (folder / "ranks").exists()


def test_what_one_engine_began_another_goes_on_with(vectors, graph, folder):
    first, second = InProcessEngine(ahead=2), InProcessEngine()
    first.fail_at = 3
    with pytest.raises(Lost):
        rank_in_parts(vectors, graph, CONFIG, folder, first)
    found = rank_in_parts(vectors, graph, CONFIG, folder, second)
    assert (first.blocks, second.blocks) == (3, 1)
    third = InProcessEngine()
    same(rank_in_parts(vectors, graph, CONFIG, folder, third), found)
    assert third.setups == []  # all is there, so no worker is needed
    same(found, pair_ranks(vectors, graph))
