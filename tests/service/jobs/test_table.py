"""The table of jobs on a full disk."""

from pathlib import Path

import pytest

from argus.errors import ArgusError
from argus.service.jobs.planning import JobRequest, Planned
from argus.service.jobs.table import JobTable

JOB = (
    JobRequest(command="tune try", options={"index": "a b"}),
    Planned(("tune", "try"), ("--index=a b",), (Path("/a b"),)),
)


@pytest.fixture
def table(tmp_path):
    table = JobTable(tmp_path)
    yield table
    table.close()


def test_a_full_disk_is_told_and_what_was_there_stays(table):
    id_ = table.add(*JOB)
    (pages,) = table._sql.execute("PRAGMA page_count").fetchone()
    table._sql.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(ArgusError, match=r"disk is full.*no job was lost"):
        for _ in range(200):
            table.add(*JOB)
    whole = len(table.latest(1000))
    table._sql.execute("PRAGMA max_page_count=100000")
    assert table.add(*JOB) and len(table.latest(1000)) == whole + 1
    assert table.job(id_)["state"] == "queued"
