from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import numpy as np
import pytest

from argus.data.types import View
from argus.errors import ArgusError
from argus.indexes.compact import KEPT, MARGIN, retention
from argus.indexes.views import ViewIndex

DIM = 8
NOTHING = timedelta(0)


def unit(n, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def views(n, remedy=""):
    kind = "expansion" if remedy else "original"
    return [View(f"d{i}{remedy}", f"d{i}", kind, f"text {i} {remedy}") for i in range(n)]


@pytest.fixture
def index(tmp_path):
    """Originals and two remedies, the first rolled back."""
    index = ViewIndex.create(tmp_path / "idx", fingerprint="f", dim=DIM)
    index.add(views(300), unit(300))
    for seed, remedy in enumerate(("r1", "r2"), 1):
        index.add(views(300, remedy), unit(300, seed), remedy=remedy)
    index.rollback("r1")
    return index


def on_disk(index):
    return sum(p.stat().st_size for p in index.path.rglob("*") if p.is_file())


def answers(index):
    asked = unit(20, 9)
    return {s: index.search(asked, 5, s, exact=True) for s in (None, "original", "r2")}


def test_no_state_of_an_index_needs_an_old_version(index):
    before, size = answers(index), on_disk(index)
    index.compact(NOTHING)
    assert len(index.table.list_versions()) == 1
    assert on_disk(index) < size - 300 * DIM * 4, "the vectors that were rolled back are gone"
    assert answers(index) == before == answers(ViewIndex.open(index.path))
    index.add(views(9, "r3"), unit(9, 3), remedy="r3")
    assert [r.id for r in index.remedies()] == ["r2", "r3"], "in the order in which they came"
    assert answers(index)["r2"] == before["r2"]
    assert index.rollback("r2") == 300 and index.rollback("r3") == 9
    assert index.search(unit(20, 9), 5) == before["original"]


def test_the_words_of_a_deleted_document_leave_the_disk(index):
    index.add([View("x", "x", "original", "Rumpelstiltskin lives here.")], unit(1, 5))
    index.delete_documents(["x"])

    def holding():
        files = (p for p in index.path.rglob("*") if p.is_file())
        return [p for p in files if b"Rumpelstiltskin" in p.read_bytes()]

    assert holding(), "until it is compacted"
    index.compact(NOTHING)
    assert not holding()


def test_who_opened_the_index_within_the_hour_reads_on(index):
    reader, late = ViewIndex.open(index.path), ViewIndex.open(index.path)
    there = len(index.table.list_versions())
    index.rollback("r2")
    index.compact()
    assert len(index.table.list_versions()) > there, "none is gone"
    assert len(reader.snapshot().views) == 600, "as of when it was opened"
    index.compact(NOTHING)
    with pytest.raises(ArgusError, match="reading the index failed"):
        late.snapshot()
    late.refresh()
    assert len(late.snapshot().views) == 300


def test_the_version_current_at_the_cutoff_stays_however_old(index):
    now = datetime.now(UTC)
    versions = [{"timestamp": now - timedelta(hours=n)} for n in (9, 3, 1)]
    table = SimpleNamespace(list_versions=lambda: versions)
    age = retention(table, timedelta(hours=2), timedelta(0))  # 2 hours ago, that of 3 was current
    assert timedelta(hours=3) <= age < timedelta(hours=4)
    assert retention(index.table, KEPT) == KEPT + MARGIN, "all are younger"


def test_an_approximate_index_is_built_anew_over_all_views(index):
    index.build_ann()
    index.add(views(200, "r3"), unit(200, 3), remedy="r3")
    assert index.table.index_stats("vector_idx").num_unindexed_rows == 200
    before = answers(index)
    index.compact(NOTHING)
    stats = index.table.index_stats("vector_idx")
    assert (stats.num_unindexed_rows, stats.num_indexed_rows, stats.num_indices) == (0, 800, 1)
    assert answers(index) == before and index.has_ann()
    assert len(index.table.list_versions()) == 1


def test_compacting_waits_for_no_writer_and_says_so(index):
    import fcntl

    with (index.path / "lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ArgusError, match="is being written to by another run"):
            index.compact()
