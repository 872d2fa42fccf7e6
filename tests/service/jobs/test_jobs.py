"""Jobs over HTTP: real commands, run, watched, cancelled, resumed, one writer per folder."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import httpx
import pytest

from argus.data.writing import take_lock
from argus.service.jobs.queue import end_leftover
from argus.service.workplace import STATE
from tests.service.jobs.conftest import (
    events,
    held_request,
    holding,
    judging,
    serving,
    start,
    wait,
)
from tests.support.served import free_port, start_service


def test_a_job_runs_as_on_the_command_line_and_is_watched(client, work):
    id_ = start(client, judging(work))
    job = wait(client, id_)
    assert job["state"] == "done" and job["exit_code"] == 0, job["errors"]
    assert "12 of 60 questions drawn" in job["output"]
    assert job["command"].startswith("argus traffic judge --corpus=")
    summary = json.loads((work / "judged" / "summary.json").read_text())
    assert summary["judging"]["judged"]["total"] == 12
    own, end = events(client, id_)
    assert [e["state"] for e in own][:2] == ["queued", "running"] and own[-1]["state"] == "done"
    assert end == job
    later, _ = events(client, id_, after=own[1]["id"])
    assert later == own[2:]
    assert events(client, id_, after=own[-1]["id"])[0] == []
    listed = client.get("/jobs").json()
    assert listed["jobs"] == [job] and listed["before"] is None


def test_one_job_at_a_time_writes_a_folder_and_others_pass_it(work):
    with holding(work, jobs_at_once=3) as client:
        first, second = (start(client, held_request(work)) for _ in range(2))
        third = start(client, judging(work, out="other"))
        wait(client, third)
        (work / "go").touch()
        jobs = [wait(client, id_) for id_ in (first, second, third)]
        assert {job["state"] for job in jobs} == {"done"}
        happened = {
            id_: {e["state"]: e["id"] for e in events(client, id_)[0]}
            for id_ in (first, second, third)
        }
        running = {id_: min(e["id"] for e in events(client, id_)[0] if e["state"] == "running")
                   for id_ in (first, second, third)}  # fmt: skip
    assert happened[first]["done"] < running[second]
    assert happened[third]["done"] < happened[first]["done"]


def test_a_job_is_cancelled_as_by_ctrl_c_and_goes_on(work):
    with holding(work) as client:
        id_, waiting = start(client, held_request(work)), start(client, held_request(work))
        assert client.post(f"/jobs/{waiting}/cancel").json()["state"] == "cancelled"
        wait(client, id_, ("running",))
        client.post(f"/jobs/{id_}/cancel")
        job = wait(client, id_)
        assert job["state"] == "cancelled" and job["resumable"]
        (work / "go").touch()
        assert client.post(f"/jobs/{id_}/resume").json()["attempt"] == 2
        job = wait(client, id_)
        assert job["state"] == "done"
        assert client.post(f"/jobs/{id_}/resume").status_code == 422
        states = [e["state"] for e in events(client, id_)[0] if e["progress"] is None]
    assert states == ["queued", "running", "cancelled", "queued", "running", "done"]


def test_what_outlived_its_service_is_ended_and_no_other_process(tmp_path):
    held = tmp_path / "job-1.lock"
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    end_leftover(held)
    held.write_text(str(other.pid))
    end_leftover(held)
    assert other.poll() is None
    with take_lock(held, busy="") as lock:
        left = subprocess.Popen(
            [sys.executable, "-c",
             "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
             "print(flush=True); time.sleep(60)"],
            pass_fds=(lock.fileno(),), start_new_session=True, stdout=subprocess.PIPE,
        )  # fmt: skip
    left.stdout.read(1)
    held.write_text(str(left.pid))
    end_leftover(held)
    assert left.wait(5) == -signal.SIGKILL
    left.stdout.close()
    other.kill()
    other.wait()


def files(folder):
    """Return what a judging job leaves that does not hold a time."""
    names = ("draw.json", "to_judge.tsv", "judging.csv")
    return {name: (folder / name).read_bytes() for name in names}


KILLS = int(os.environ.get("ARGUS_SERVE_KILLS", "2"))


@pytest.mark.slow
def test_the_service_is_killed_while_a_job_runs_and_nothing_is_lost(finished, work, tmp_path):
    import random

    rng, port = random.Random(os.environ.get("ARGUS_SERVE_SEED", "7")), free_port()
    with serving(shutil.copytree(finished, tmp_path / "whole")) as client:
        assert wait(client, start(client, judging(tmp_path / "whole")))["state"] == "done"
    process, url = start_service(work, port=port)
    client = httpx.Client(base_url=url, timeout=60)
    id_ = start(client, judging(work))
    killed = 0
    for _ in range(KILLS):
        wait(client, id_, ("running", "done", "failed"))
        time.sleep(rng.uniform(0, 2))
        process.kill()
        process.wait()
        process, _ = start_service(work, port=port)
        job = client.get(f"/jobs/{id_}").json()
        assert job["state"] in ("interrupted", "done"), job
        if job["state"] == "interrupted":
            killed += 1
            assert client.post(f"/jobs/{id_}/resume").json()["attempt"] == killed + 1
        else:
            id_, killed = start(client, judging(work)), 0
    job = wait(client, id_)
    assert job["state"] == "done", job
    assert not list((work / STATE).glob("job-*.lock"))
    client.close()
    process.terminate()
    assert process.wait(60) in (0, -signal.SIGTERM)
    assert files(work / "judged") == {
        name: content.replace(bytes(tmp_path / "whole"), bytes(work))
        for name, content in files(tmp_path / "whole" / "judged").items()
    }
