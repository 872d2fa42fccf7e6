"""An index on disk: states, remedies, one writer, damage, several threads, cleanup."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from argus.data.types import View
from argus.errors import ArgusError, InputError
from argus.indexes.views import ViewIndex

DIM = 8


def unit(n, seed=0):
    vectors = np.random.default_rng(seed).normal(size=(n, DIM)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def originals(n, start=0):
    return [View(f"d{i:03}", f"d{i:03}", "original", f"text {i}") for i in range(start, start + n)]


def expansions(n, remedy):
    return [View(f"d{i:03}#{remedy}", f"d{i:03}", "expansion", f"text {i} {remedy}", "p")
            for i in range(n)]  # fmt: skip


@pytest.fixture
def index(tmp_path):
    index = ViewIndex.create(tmp_path / "idx", fingerprint="f", dim=DIM, encoder={"model": "m"})
    index.add(originals(20), unit(20))
    return index


def test_as_of_gives_the_state_after_each_remedy_and_rollback_removes_one(index):
    opened = ViewIndex.open(index.path)
    before = opened.snapshot()
    assert opened.header.encoder == {"model": "m"} and before.views == originals(20)
    assert np.array_equal(before.vectors, unit(20))
    index.add(expansions(5, "r1"), unit(5, 1), remedy="r1")
    index.add(originals(2, start=20), unit(2, 2))
    index.add(expansions(7, "r2"), unit(7, 3), remedy="r2")
    sizes = {s: len(index.snapshot(s).views) for s in ("original", "r1", "before:r2", "r2", None)}
    assert sizes == {"original": 22, "r1": 25, "before:r2": 27, "r2": 34, None: 34}
    assert [(r.id, r.views, r.documents) for r in index.remedies()] == [("r1", 5, 5), ("r2", 7, 7)]
    assert index.rollback("r1") == 5
    with pytest.raises(InputError, match="unknown remedy 'r1'; expected one of r2"):
        index.rollback("r1")
    assert index.rollback("r2") == 7 and index.delete_documents(["d020", "d021"]) == 2
    assert index.snapshot().views == before.views
    assert np.array_equal(index.snapshot().vectors, before.vectors)
    with pytest.raises(InputError, match="expected a remedy; there is none"):
        index.snapshot("r2")


def test_a_deleted_document_leaves_with_all_its_views_whatever_its_id(index):
    index.add(expansions(3, "r1"), unit(3, 1), remedy="r1")
    assert index.search(unit(1, 1), 1).view_ids == [["d000#r1"]]
    assert [v.id for v in index.snapshot().views_of("d000")] == ["d000", "d000#r1"]
    assert index.delete_documents(["d000", "d019"]) == 3
    assert len(index.snapshot("original")) == 18
    with pytest.raises(InputError, match="2 unknown document ids: 'd000', 'x'"):
        index.delete_documents(["d001", "x", "d000"])
    ids = ["O'Hara", 'a"b', "'; DROP", "北京", "é", "a b"]
    index.add([View(i, i, "original", i) for i in ids], unit(6, 9))
    assert set(ids) <= set(index.snapshot().doc_ids)
    assert index.delete_documents(ids) == 6 and len(index) == 20


@pytest.mark.parametrize(
    ("views", "vectors", "remedy", "message"),
    [
        (originals(2), unit(2), "", "2 view ids are already taken: 'd000', 'd001'"),
        (expansions(1, "n"), unit(1) * np.nan, "", "row 0 is not finite"),
        (expansions(1, "n"), unit(1) * 3, "", "row 0 is of length 3"),
        (expansions(1, "n"), unit(1)[:, :4], "", r"expected \(1, 8\)"),
        ([View("n", "zz", "expansion", "")], unit(1), "r", "1 unknown document id: 'zz'"),
        (expansions(1, "n"), unit(1), "a b", "remedy id 'a b'; expected letters"),
        (expansions(1, "n"), unit(1), "original", "remedy id 'original'"),
    ],
)  # fmt: skip
def test_what_may_not_enter_changes_nothing(index, views, vectors, remedy, message):
    before = index.version
    with pytest.raises(InputError, match=message):
        index.add(views, vectors, remedy)
    index.refresh()
    assert (index.version, len(index)) == (before, 20)


def test_batches_are_one_commit_and_an_error_leaves_nothing(index):
    def batches(fail):
        yield originals(5, start=20), unit(5)
        if fail:
            raise KeyError("broken source")
        yield originals(5, start=25), unit(5)

    with pytest.raises(KeyError, match="broken source"):
        index.add_batches(batches(fail=True))
    assert (len(ViewIndex.open(index.path)), index.delete_documents(["d000"])) == (20, 1)
    version = index.version
    assert index.add_batches(batches(fail=False)) == 10
    assert (index.version, len(index)) == (version + 1, 29)


def test_a_second_writer_is_refused_and_a_reader_reads_on(index):
    reader = ViewIndex.open(index.path)
    with (index.path / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for write in (
            lambda: index.add(originals(1, start=20), unit(1)),
            lambda: index.delete_documents(["d000"]),
            lambda: index.rollback("r"),
            index.compact,
        ):
            with pytest.raises(ArgusError, match="is being written to by another run"):
                write()
        assert len(reader.snapshot()) == 20
    index.add(originals(1, start=20), unit(1))
    assert len(reader) == 20
    reader.refresh()
    assert len(reader.snapshot()) == 21


def test_a_damaged_table_is_an_error_to_act_on(index):
    (index.path / "views.db").write_bytes(b"x" * 5000)
    with pytest.raises(ArgusError, match="opening the index failed"):
        ViewIndex.open(index.path)


CHILD = """
import sys
from argus.indexes.views import ViewIndex
from argus.data.types import View
from tests.indexes.test_views import unit
index = ViewIndex.open(sys.argv[1])
print("ready", flush=True)
i = 0
while True:
    i += 1
    ids = [f"n{i}-{j}" for j in range(50)]
    index.add([View(d, d, "original", d) for d in ids], unit(50))
    index.add([View(d + "#r", d, "expansion", d) for d in ids], unit(50), remedy=f"r{i}")
    index.rollback(f"r{i}")
    index.delete_documents(ids)
"""


@pytest.mark.slow
def test_a_kill_at_any_moment_leaves_a_whole_state(index):
    rng = np.random.default_rng(0)
    for _ in range(2):
        child = subprocess.Popen(
            [sys.executable, "-c", CHILD, str(index.path)], stdout=subprocess.PIPE
        )
        assert child.stdout.readline() == b"ready\n"
        time.sleep(float(rng.uniform(0.02, 0.4)))
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        opened = ViewIndex.open(index.path)
        extra = [v for v in opened.snapshot().views if v.doc_id.startswith("n")]
        assert len(extra) in (0, 50, 100)
        assert len([v for v in extra if v.kind == "original"]) in (0, 50)
        assert np.allclose(np.linalg.norm(opened.snapshot().vectors, axis=1), 1, atol=1e-5)
        opened.delete_documents({v.doc_id for v in extra})  # the lock died with its owner
        assert len(opened.snapshot()) == 20


def test_threads_that_search_while_another_writes_find_no_document_in_anothers_place(index):
    errors, stops, vectors = [], threading.Event(), np.concatenate([unit(20), unit(40, 1)])

    def searching():
        try:
            while not stops.is_set():
                found = index.search(vectors[:40], 1)
                for i, (ids, scores) in enumerate(zip(found.doc_ids, found.scores, strict=True)):
                    if scores[0] > 0.99999 and ids != [f"d{i:03}"]:
                        errors.append((i, ids))
        except Exception as error:
            errors.append(error)

    searchers = [threading.Thread(target=searching) for _ in range(3)]
    for thread in searchers:
        thread.start()
    try:
        for i in range(5):
            index.delete_documents([f"d{i:03}"])
            index.add(originals(1, start=20 + i), vectors[20 + i : 21 + i])
    finally:
        stops.set()
    for thread in searchers:
        thread.join(30)
    assert errors == []
    fresh = ViewIndex.open(index.path)
    assert index.search(vectors[:40], 3) == fresh.search(vectors[:40], 3)


@pytest.fixture
def repaired(tmp_path):
    """Originals and two remedies, the first rolled back."""
    index = ViewIndex.create(tmp_path / "idx", fingerprint="f", dim=DIM)
    index.add(originals(300), unit(300))
    for seed, remedy in enumerate(("r1", "r2"), 1):
        index.add(expansions(300, remedy), unit(300, seed), remedy=remedy)
    index.rollback("r1")
    return index


def answers(index):
    return {s: index.search(unit(20, 9), 5, s) for s in (None, "original", "r2")}


def test_no_state_of_an_index_needs_an_old_version(repaired):
    def on_disk():
        return sum(p.stat().st_size for p in repaired.path.rglob("*") if p.is_file())

    before, size = answers(repaired), on_disk()
    repaired.compact()
    assert on_disk() < size - 300 * DIM * 4, "the vectors that were rolled back are gone"
    assert answers(repaired) == before == answers(ViewIndex.open(repaired.path))
    repaired.add(expansions(9, "r3"), unit(9, 3), remedy="r3")
    assert [r.id for r in repaired.remedies()] == ["r2", "r3"], "in the order in which they came"
    assert answers(repaired)["r2"] == before["r2"]
    assert repaired.rollback("r2") == 300 and repaired.rollback("r3") == 9
    assert repaired.search(unit(20, 9), 5) == before["original"]


def test_the_words_of_a_deleted_document_leave_the_disk(index):
    index.add([View("x", "x", "original", "Rumpelstiltskin lives here.")], unit(1, 5))
    index.delete_documents(["x"])

    def holding():
        files = (p for p in index.path.rglob("*") if p.is_file())
        return [p for p in files if b"Rumpelstiltskin" in p.read_bytes()]

    assert holding(), "until it is compacted"
    index.compact()
    assert not holding()


def test_who_opened_the_index_before_a_change_reads_on_until_it_is_compacted(repaired):
    reader, late = ViewIndex.open(repaired.path), ViewIndex.open(repaired.path)
    repaired.rollback("r2")
    assert len(reader.snapshot().views) == 600, "as of when it was opened"
    repaired.compact()
    assert len(reader.snapshot().views) == 600, "which is in memory"
    with pytest.raises(ArgusError, match="reading the index failed"):
        late.snapshot()
    late.refresh()
    assert len(late.snapshot().views) == 300
