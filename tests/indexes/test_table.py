"""Cleanup of the LanceDB table."""

from datetime import timedelta

import pytest

from argus.data.types import View
from argus.errors import ArgusError
from argus.indexes.views import ViewIndex
from tests.indexes.test_views import DIM, unit

NOTHING = timedelta(0)


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


def answers(index):
    queries = unit(20, 9)
    return {s: index.search(queries, 5, s) for s in (None, "original", "r2")}


def test_no_state_of_an_index_needs_an_old_version(index):
    def on_disk():
        return sum(p.stat().st_size for p in index.path.rglob("*") if p.is_file())

    before, size = answers(index), on_disk()
    index.compact(NOTHING)
    assert len(index.table.list_versions()) == 1
    assert on_disk() < size - 300 * DIM * 4, "the vectors that were rolled back are gone"
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
