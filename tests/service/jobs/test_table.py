"""The table of jobs: attempts, events that go, and a full disk."""

from pathlib import Path

import pytest

from argus.errors import ArgusError
from argus.service.jobs import table as module
from argus.service.jobs.planning import JobRequest, Planned
from argus.service.jobs.table import JobTable

JOB = (
    JobRequest(command="repair", options={"index": "a b"}),
    Planned(("repair",), ("--index=a b",), (Path("/a b"),)),
)


@pytest.fixture
def table(tmp_path):
    table = JobTable(tmp_path)
    yield table
    table.close()


def test_of_many_events_the_last_are_kept_and_ids_are_never_used_again(table, monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENTS", 20)
    first, other = table.add(*JOB), table.add(*JOB)
    for n in range(60):
        table.step(first, {"step": "embedding", "done": n, "total": 100, "eta_s": None})
    kept = table.events(first, 0, 100)
    assert [e["progress"]["done"] for e in kept] == list(range(40, 60))
    assert len(table.events(other, 0, 9)) == 1
    assert len({e["id"] for e in kept}) == 20 and kept[-1]["id"] == 62


def test_a_full_disk_is_told_and_what_was_there_stays(table):
    id_ = table.add(*JOB)
    (pages,) = table._sql.execute("PRAGMA page_count").fetchone()
    table._sql.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(ArgusError, match=r"disk is full.*no job was lost"):
        for _ in range(200):
            table.add(*JOB)
    assert not table._sql.in_transaction
    whole = len(table.latest(1000))
    table._sql.execute("PRAGMA max_page_count=100000")
    assert table.add(*JOB) and len(table.latest(1000)) == whole + 1
    assert table.job(id_)["state"] == "queued"
