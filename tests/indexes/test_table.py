"""The LanceDB table: its import, its errors, its cleanup."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from pydantic import BaseModel, ValidationError

from argus.data.types import View
from argus.errors import ArgusError
from argus.indexes.table import (
    KEPT,
    MARGIN,
    deferred,
    postpone,
    retention,
    storage,
    unchecked_overrides,
)
from argus.indexes.views import ViewIndex
from tests.indexes.test_views import DIM, unit

CLIENT = "lance_namespace_urllib3_client"
NOTHING = timedelta(0)


@pytest.mark.parametrize("error", [RuntimeError, OSError, ValueError])
def test_what_the_store_raises_names_folder_and_deed(tmp_path, error):
    with (
        pytest.raises(ArgusError, match=r"i: adding views failed \(no space left\).*as it was"),
        storage(tmp_path / "i", "adding views"),
    ):
        raise error("no space left, /build/lance/writer/structural.rs:258:9\nRust backtrace")


def test_lancedb_is_imported_without_the_rest_client_which_is_whole_when_it_is_used(tmp_path):
    code = (
        "import sys\n"
        "from argus.indexes.table import import_lancedb\n"
        "lancedb = import_lancedb()\n"
        f"print([m for m in sys.modules if m.startswith('{CLIENT}.api')])\n"
        f"table = lancedb.connect({str(tmp_path)!r}).create_table('t', [{{'id': 'a'}}])\n"
        "print(table.count_rows(), import_lancedb() is lancedb)\n"
        f"import {CLIENT} as client\n"
        "print(client.api.table_api.TableApi is client.TableApi)\n"
        f"from {CLIENT} import DescribeTableRequest\n"
        "try: client.nothing\n"
        "except AttributeError as error: print(error)\n"
        "try: DescribeTableRequest(id=7)\n"
        "except ValueError as error: print(type(error).__name__)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "[]", "1 True", "True", f"module '{CLIENT}' has no attribute 'nothing'", "ValidationError",
    ]  # fmt: skip


def test_records_are_validated_as_ever(tmp_path, monkeypatch):
    (tmp_path / "later").mkdir()
    (tmp_path / "later" / "__init__.py").write_text("from later.part import VALUE\nRUN = []\n")
    (tmp_path / "later" / "part.py").write_text("VALUE = 3\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(BaseModel.model_config)
    with deferred("later"):
        from later.part import VALUE

        class Record(BaseModel):
            number: int

        assert VALUE == 3 and "RUN" not in vars(sys.modules["later"])
    assert Record(number=4).number == 4
    with pytest.raises(ValidationError):
        Record(number="four")
    import later

    assert later.RUN == [] and later.part.VALUE == 3
    with pytest.raises(ZeroDivisionError), deferred("later"):
        raise ZeroDivisionError
    assert BaseModel.model_config == before
    postpone("no_such_package_anywhere")
    assert "no_such_package_anywhere" not in sys.modules


def test_overrides_are_checked_again_afterwards():
    overrides = pytest.importorskip("overrides")

    class Parent:
        def search(self, query): ...

    def other_signature():
        class Child(Parent):
            @overrides.override
            def search(self): ...

    with unchecked_overrides():
        other_signature()
    with pytest.raises(TypeError):
        other_signature()


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
    return {s: index.search(queries, 5, s, exact=True) for s in (None, "original", "r2")}


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
