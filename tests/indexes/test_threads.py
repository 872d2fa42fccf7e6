"""Several threads with one handle: each answer is of one state, whoever writes meanwhile."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from argus.errors import ArgusError
from argus.indexes.views import ViewIndex
from tests.indexes.test_views import DIM, expansions, originals, unit

VECTORS = unit(60)


@pytest.fixture
def index(tmp_path):
    index = ViewIndex.create(tmp_path / "idx", fingerprint="f", dim=DIM)
    index.add(originals(20), VECTORS[:20])
    return index


def deleting(index, id_):
    """Start a thread that deletes a document with this handle, and leave it time to do so."""
    thread = threading.Thread(target=lambda: index.delete_documents([id_]))
    thread.start()
    thread.join(1)
    return thread


def test_a_document_that_leaves_while_a_state_is_read_is_in_it_whole(index, monkeypatch):
    ask, threads = index._query, []

    def query(condition, columns):
        if "vector" in columns:  # the ids have been read
            threads.append(deleting(index, "d002"))
        return ask(condition, columns)

    monkeypatch.setattr(index, "_query", query)
    snapshot = index.snapshot()
    monkeypatch.undo()
    (thread,) = threads
    thread.join(20)
    assert snapshot.views == originals(20) and np.array_equal(snapshot.vectors, VECTORS[:20])
    found = index.search(VECTORS[2:4], 1)
    assert found.doc_ids[1] == ["d003"] and found.doc_ids[0] != ["d002"]
    assert "d002" not in index.snapshot() and len(index) == 19


def test_a_state_is_read_whole_though_a_remedy_leaves_it(index, monkeypatch):
    index.add(expansions(5, "r1"), unit(5, 1), remedy="r1")
    index.add(originals(1, start=20), VECTORS[20:21])
    ask, threads = index._rows, []

    def rows(condition, columns):
        if "id" in columns:  # the condition has been made of the remedies that there are
            threads.append(deleting(index, "d000"))
        return ask(condition, columns)

    monkeypatch.setattr(index, "_rows", rows)
    assert index.rows("r1").num_rows == 25
    monkeypatch.undo()
    threads[0].join(20)
    assert index.rows("r1").num_rows == 23


def test_rows_without_a_vector_are_no_documents(index, monkeypatch):
    """As where other code moves the table of a handle on while a state is read."""
    ask = index._query
    for lacking in (True, False):  # in what has vectors, and in what has texts

        def query(condition, columns, lacking=lacking):
            own = ("vector" in columns) == lacking
            return ask(f"id != 'd002' AND ({condition})" if own else condition, columns)

        monkeypatch.setattr(index, "_query", query)
        with pytest.raises(ArgusError, match="changed while it was read"):
            index.snapshot()


def test_threads_that_only_search_do_not_wait_for_each_other(index, monkeypatch):
    from argus.indexes.snapshot import Snapshot

    index.snapshot()
    both, search = threading.Barrier(2, timeout=20), Snapshot.search

    def slowly(self, *rest):
        both.wait()  # until another thread is here as well
        return search(self, *rest)

    monkeypatch.setattr(Snapshot, "search", slowly)
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(index.search(VECTORS[:1], 1).doc_ids))
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert found == [[["d000"]]] * 2


def test_threads_that_search_while_another_writes_find_no_document_in_anothers_place(index):
    errors, stops = [], threading.Event()

    def searching():
        while not stops.is_set():
            found = index.search(VECTORS[:40], 1)
            for i, (ids, scores) in enumerate(zip(found.doc_ids, found.scores, strict=True)):
                if scores[0] > 0.99999 and ids != [f"d{i:03}"]:
                    errors.append((i, ids))

    def noting(work):
        try:
            work()
        except Exception as error:
            errors.append(error)

    def writing():
        until = time.monotonic() + 3
        for i in range(10):
            index.delete_documents([f"d{i:03}"])
            index.add(originals(1, start=20 + i), VECTORS[20 + i : 21 + i])
            if time.monotonic() > until:
                break

    searchers = [threading.Thread(target=noting, args=(searching,)) for _ in range(3)]
    for thread in searchers:
        thread.start()
    noting(writing)
    stops.set()
    for thread in searchers:
        thread.join(30)
    assert errors == []
    fresh = ViewIndex.open(index.path)
    assert index.search(VECTORS[:40], 3) == fresh.search(VECTORS[:40], 3)
    assert index.version == fresh.version
