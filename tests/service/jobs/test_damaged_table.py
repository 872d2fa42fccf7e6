"""A table of jobs that is damaged: told with its file, and searched beside it as ever."""

import sqlite3
from contextlib import closing

import pytest

from argus.service.jobs.table import FILE
from argus.service.workplace import STATE
from tests.service.jobs.conftest import judging, serving, start, wait

ROWS = [
    "UPDATE jobs SET state = 'weird'",
    "UPDATE jobs SET writes = '{'",
    "UPDATE jobs SET writes = '[1]'",
    "UPDATE jobs SET state = 'queued', arguments = '[null]'",
    "UPDATE events SET state = 'x'",
    "UPDATE events SET progress = '{'",
]


@pytest.fixture
def table(work):
    with serving(work) as client:
        wait(client, start(client, judging(work)))
    return work / STATE / FILE


@pytest.mark.parametrize("change", ROWS)
def test_a_damaged_row_is_no_fault(work, table, change):
    with closing(sqlite3.connect(table)) as sql:
        sql.execute("PRAGMA ignore_check_constraints = ON")
        sql.execute(change)
        sql.commit()
    with serving(work) as client:
        answers = [client.get(path) for path in ("/jobs", "/jobs/1", "/page/report/overview")]
        assert client.get("/healthz").status_code == 200
    assert {answer.status_code for answer in answers} <= {200, 503}
    assert all(FILE in answer.text for answer in answers if answer.status_code == 503)


@pytest.mark.parametrize("damage", ["random", "short", "folder", "columns"])
def test_a_damaged_file_is_told(work, table, damage):
    if damage == "columns":
        with closing(sqlite3.connect(table)) as sql:
            sql.executescript("DROP TABLE events; CREATE TABLE events (a)")
    elif damage == "short":
        table.write_bytes(table.read_bytes()[:5000])
    else:
        table.unlink()
        table.mkdir() if damage == "folder" else table.write_bytes(bytes(range(256)) * 32)
    with serving(work) as client:
        answer = client.get("/jobs")
        assert client.get("/healthz").status_code == 200
    assert answer.status_code in (200, 503) and (answer.status_code == 200 or FILE in answer.text)


@pytest.mark.parametrize("lock", ["folder", "digits"])
def test_a_damaged_lock_of_a_job_ends_no_service(work, table, lock):
    held = table.with_name("job-1.lock")
    held.unlink(missing_ok=True)
    held.mkdir() if lock == "folder" else held.write_text("9" * 5000)
    with closing(sqlite3.connect(table)) as sql:
        sql.execute("UPDATE jobs SET state = 'running'")
        sql.commit()
    with serving(work) as client:
        assert client.get("/jobs/1").json()["state"] == "interrupted"


def test_no_job_writes_where_the_service_keeps_its_state(work):
    with serving(work) as client:
        options = {"folders": [str(work)], "html": str(work / STATE / FILE)}
        answer = client.post("/jobs", json={"command": "history", "options": options})
    assert answer.status_code == 422 and "keeps its own state" in answer.text
