"""A table of jobs that is damaged, or a stranger's: told, and searched beside it as ever."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from argus.service.jobs.planning import JobRequest, Planned
from argus.service.jobs.table import FILE, JobState, JobTable
from argus.service.workplace import STATE
from tests.service.jobs.conftest import serving, wait


@pytest.fixture
def table(work):
    """The table of a service that ran here, with a job that has ended."""
    (work / STATE).mkdir()
    jobs, folder = JobTable(work / STATE), str(work / "report")
    request = JobRequest(command="report", options={"folder": folder})
    id_ = jobs.add(request, Planned(("report",), ("--", folder), ()))
    jobs.begin(id_)
    jobs.end(id_, JobState.DONE, 0)
    jobs.close()
    return jobs.path


@pytest.mark.parametrize("damage", ["random", "short", "folder", "columns"])
def test_a_damaged_file_is_told(work, table, damage):
    if damage == "columns":
        with closing(sqlite3.connect(table)) as sql:
            sql.executescript("DROP TABLE jobs; CREATE TABLE jobs (a)")
    elif damage == "short":
        table.write_bytes(table.read_bytes()[:5000])
    else:
        table.unlink()
        table.mkdir() if damage == "folder" else table.write_bytes(bytes(range(256)) * 32)
    with serving(work) as client:
        answer = client.get("/jobs")
        assert client.get("/healthz").status_code == 200
    assert answer.status_code in (200, 503) and (answer.status_code == 200 or FILE in answer.text)


def planted(work, state, command, **options):
    """Have the first job be of another request, as whoever made the folder may write it."""
    with closing(sqlite3.connect(work / STATE / FILE)) as sql:
        request = json.dumps({"command": command, "options": options})
        sql.execute("UPDATE jobs SET state = ?, request = ?", (state, request))
        sql.commit()


@pytest.mark.parametrize("state", ["queued", "interrupted"])
def test_a_planted_job_waits_until_somebody_resumes_it_and_runs_no_code(work, table, state):
    (work / "evil.py").write_text(f"open({str(work / 'ran')!r}, 'w')\ndef search(q, k): return []")
    options = {"retriever": f"{work}/evil.py:search", "query": "hello", "doc_id": "alder-mill"}
    planted(work, state, "explain", **options)
    with serving(work) as client:
        resumed = client.post("/jobs/1/resume")
        job = client.get("/jobs/1").json()
    assert job["state"] == "interrupted"
    assert resumed.status_code == 422 and "where the service is started" in resumed.text
    assert not (work / "ran").exists()


def test_a_job_of_a_folder_that_was_moved_is_resumed_where_it_lies(work, table, tmp_path):
    folder = str(tmp_path / "brought" / "report")
    planted(work, "queued", "report", folder=folder)
    brought = shutil.copytree(work, tmp_path / "brought")
    with serving(brought) as client:
        assert client.post("/jobs/1/resume").json()["command"] == f"argus report -- {folder}"
        assert wait(client, 1)["state"] == "done"
