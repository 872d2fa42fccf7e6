"""The table of jobs: what is kept, what a full disk leaves, events that go."""

from pathlib import Path

import pytest

from argus.errors import ArgusError
from argus.service.jobs import table as module
from argus.service.jobs.planning import JobRequest, Planned
from argus.service.jobs.table import JobState, JobTable

REQUEST = JobRequest(command="repair", options={"index": "a b"})
PLANNED = Planned(("repair",), ("--index=a b",), (Path("/a b"),))
JOB = REQUEST, PLANNED


@pytest.fixture
def table(tmp_path):
    table = JobTable(tmp_path)
    yield table
    table.close()


def step(n, of=10):
    return {"step": "embedding", "done": n, "total": of, "eta_s": None}


def test_a_job_and_what_happened_to_it_outlive_the_table(table, tmp_path):
    id_ = table.add(*JOB)
    table.begin(id_)
    table.step(id_, step(3))
    again = JobTable(tmp_path)
    assert again.running() == [id_]
    job = again.job(id_)
    assert (job["command"], job["state"]) == ("argus repair '--index=a b'", "running")
    assert job["progress"] == step(3) and job["writes"] == ["/a b"]
    again.end(id_, JobState.FAILED, 2, "out", "argus: no")
    assert [e["state"] for e in table.events(id_, 0, 10)] == [
        "queued", "running", "running", "failed",
    ]  # fmt: skip
    job = table.job(id_)
    assert (job["exit_code"], job["output"], job["errors"]) == (2, "out", "argus: no")
    assert job["progress"] is None and job["resumable"]
    again.close()


def test_what_a_job_wrote_is_known_once_it_began(table):
    id_ = table.add(*JOB)
    assert table.wrote() == set()
    table.begin(id_)
    table.end(id_, JobState.FAILED, 2)
    assert table.wrote() == {"/a b"}
    table.again(id_, PLANNED)
    assert table.wrote() == {"/a b"}


def test_who_never_began_is_at_the_first_attempt(table):
    id_ = table.add(*JOB)
    for attempt in (1, 1, 2):
        assert [job.attempt for job in table.queued()] == [attempt]
        if attempt == 1 and len(table.events(id_, 0, 9)) > 2:
            table.begin(id_)
        table.end(id_, JobState.CANCELLED, None)
        table.again(id_, PLANNED)
    assert table.job(id_)["attempt"] == 2


def test_jobs_wait_in_their_order_and_the_latest_are_listed_first(table):
    ids = [table.add(*JOB) for _ in range(5)]
    assert [job.id for job in table.queued()] == ids
    assert [job["id"] for job in table.latest(2)] == ids[:-3:-1]
    assert [job["id"] for job in table.latest(9, before=ids[2])] == ids[1::-1]


def test_of_many_events_the_last_are_kept_and_ids_are_never_used_again(table, monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENTS", 20)
    first, other = table.add(*JOB), table.add(*JOB)
    for n in range(60):
        table.step(first, step(n, 100))
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


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / module.FILE).write_bytes(b"no database at all" * 100)
    with pytest.raises(ArgusError, match=r"jobs\.sqlite"):
        JobTable(tmp_path)
