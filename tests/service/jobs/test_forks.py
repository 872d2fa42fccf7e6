"""No library's code runs between the fork of a job's process and its start."""

import os
import time

import httpx

from argus.cli.startable import ArgusCommands
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.service.client import run_in_a_thread
from tests.service.jobs.conftest import ENDED, judging

noted = []


def test_a_job_is_started_without_what_libraries_do_after_a_fork(work, tmp_path):
    trace = tmp_path / "trace"
    noted.append(trace)
    os.register_at_fork(after_in_child=lambda: [path.touch() for path in noted])
    config = ServeConfig(port=0)
    app = create_app(open_workplace([work]), config, ArgusCommands())
    try:
        with run_in_a_thread(app, config) as port:
            url = f"http://127.0.0.1:{port}/jobs"
            job = httpx.post(url, json=judging(work), timeout=60).json()
            until = time.monotonic() + 120
            while job["state"] not in ENDED and time.monotonic() < until:
                time.sleep(0.2)
                job = httpx.get(f"{url}/{job['id']}", timeout=60).json()
    finally:
        noted.clear()
    assert job["state"] == "done" and not trace.exists()
