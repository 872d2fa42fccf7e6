"""Jobs over HTTP: real commands, run, watched, cancelled, resumed, one writer per folder."""

import json
import os
import random
import re
import shutil
import signal
import time
from html import unescape

import httpx
import pytest

from tests.service.jobs.conftest import events, held_request, holding, judging, serving, start, wait
from tests.support.examples import write_rows
from tests.support.served import free_port, start_service


def test_a_job_runs_as_on_the_command_line_and_is_watched(client, work, monkeypatch):
    (work / "click.py").write_text("raise SystemExit('a file of the folder is no module')")
    monkeypatch.chdir(work)
    id_ = start(client, judging(work))
    own, end = events(client, id_)
    job = client.get(f"/jobs/{id_}").json()
    assert job["state"] == "done" and job["exit_code"] == 0, job["errors"]
    assert "12 of 60 questions drawn" in job["output"]
    assert job["command"].startswith("argus traffic judge --corpus=")
    summary = json.loads((work / "judged" / "summary.json").read_text())
    assert summary["judging"]["judged"]["total"] == 12
    assert {one["state"] for one in own} <= {"queued", "running"} and own
    assert end == job and events(client, id_) == ([], job)
    listed = client.get("/jobs").json()
    assert listed["jobs"] == [job] and listed["before"] is None


def test_one_job_at_a_time_writes_a_folder_others_pass_it_and_one_is_cancelled(work):
    with holding(work, jobs_at_once=3) as client:
        first, second, unwanted = (start(client, held_request(work)) for _ in range(3))
        third = start(client, judging(work, out="other"))
        assert wait(client, third)["state"] == "done"
        states = [client.get(f"/jobs/{id_}").json()["state"] for id_ in (first, second)]
        assert states == ["running", "queued"]
        assert client.post(f"/jobs/{unwanted}/cancel").json()["state"] == "cancelled"
        client.post(f"/jobs/{first}/cancel")  # as by Ctrl-C
        job = wait(client, first)
        assert job["state"] == "cancelled" and job["resumable"]
        assert client.post(f"/jobs/{first}/resume").json()["attempt"] == 2
        (work / "go").touch()
        jobs = [wait(client, id_) for id_ in (second, first)]
        assert {job["state"] for job in jobs} == {"done"}
        assert jobs[0]["finished_at"] <= jobs[1]["started_at"]
        assert client.post(f"/jobs/{first}/resume").status_code == 422


def test_the_first_screen_starts_what_it_advises_and_lists_what_is_wrong_first(client, work):
    rows = [json.loads(line) for line in (work / "docs.jsonl").read_text("utf-8").splitlines()]
    rows[-1]["text"] = "It was taken down, and nobody built it again."
    write_rows(work / "sources.jsonl", rows)
    line = f"argus check {work}/docs.jsonl --sources {work}/sources.jsonl --out {work}/report"
    assert wait(client, start(client, {"command": line}))["state"] == "done"
    page = client.get("/page/report/overview", headers={"accept": "text/html"}).text
    forms = [json.loads(unescape(form)) for form in re.findall(r'data-start="([^"]+)"', page)]
    (again,) = [jobs for jobs in forms if jobs[0]["command"] == "check"]
    assert wait(client, start(client, *again))["state"] == "done"
    page = client.get("/page/report/documents", headers={"accept": "text/html"}).text
    assert re.findall(r"document\?id=([\w-]+)", page)[0] == rows[-1]["_id"]


def files(folder):
    """Return what a judging job leaves that does not hold a time."""
    names = ("draw.json", "to_judge.tsv", "judging.csv")
    return {name: (folder / name).read_bytes() for name in names}


KILLS = int(os.environ.get("ARGUS_SERVE_KILLS", "1"))


@pytest.mark.slow
def test_the_service_is_killed_while_a_job_runs_and_nothing_is_lost(finished, work, tmp_path):
    whole, port = shutil.copytree(finished, tmp_path / "whole"), free_port()
    with serving(whole) as client:
        assert wait(client, start(client, judging(whole)))["state"] == "done"
    process, url = start_service(work, port=port)
    with httpx.Client(base_url=url, timeout=60) as client:
        id_, attempt = start(client, judging(work)), 1
        for _ in range(KILLS):
            wait(client, id_, ("running", "done", "failed"))
            time.sleep(random.uniform(0, 2))
            process.kill()
            process.wait()
            process, _ = start_service(work, port=port)
            job = client.get(f"/jobs/{id_}").json()
            assert job["state"] in ("interrupted", "done"), job
            if job["state"] == "interrupted":
                attempt += 1
                assert client.post(f"/jobs/{id_}/resume").json()["attempt"] == attempt
            else:
                id_, attempt = start(client, judging(work)), 1
        assert wait(client, id_)["state"] == "done"
    process.terminate()
    assert process.wait(60) in (0, -signal.SIGTERM)
    assert files(work / "judged") == {
        name: content.replace(bytes(whole), bytes(work))
        for name, content in files(whole / "judged").items()
    }
