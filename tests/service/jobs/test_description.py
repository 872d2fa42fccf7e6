"""No request about jobs is answered by a fault of ours, whatever it says."""

import time

import httpx
import schemathesis

from argus.cli.startable import ArgusCommands
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.service.client import run_in_a_thread
from tests.service.fuzzing import ask


def test_no_request_about_jobs_is_answered_by_a_fault(work):
    """Beside a job that has ended, whose number requests may come to name."""
    config = ServeConfig(port=0)
    app = create_app(open_workplace([work]), config, ArgusCommands())
    with run_in_a_thread(app, config) as port, httpx.Client(timeout=120) as http:
        url = f"http://127.0.0.1:{port}"
        request = {"command": "history", "options": {"folders": [str(work)]}}
        job = f"{url}/jobs/{http.post(f'{url}/jobs', json=request).json()['id']}"
        while http.get(job).json()["state"] in ("queued", "running"):
            time.sleep(0.05)
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json", timeout=120).include(
            path_regex="^/jobs"
        )
        operations = [one.ok() for one in schema.get_all_operations()]
        assert len(operations) == 6
        for operation in operations:
            ask(operation)
        assert http.get(f"{job}/events").status_code == 200
