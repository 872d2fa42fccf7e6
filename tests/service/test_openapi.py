"""No answer of the service is a fault, whatever its description allows a program to ask."""

import time

import httpx
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error

from argus.cli.startable import ArgusCommands
from argus.service.app import create_app
from argus.service.config import ServeConfig
from tests.service.client import run_in_a_thread


def ask(operation):
    """Send an operation requests that fit its description, and some that do not."""
    wrong = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(case=st.one_of(operation.as_strategy(), wrong))
    def send(case):
        try:
            response = case.call(timeout=120)
        except requests.ConnectionError:  # refused by its head, with the body not yet read
            return
        case.validate_response(response, checks=[not_a_server_error])

    send()


def test_no_request_is_answered_by_a_fault(served):
    """Beside a job that has ended, whose number requests may come to name."""
    config = ServeConfig(port=0)
    app = create_app(served.service.workplace, config, ArgusCommands())
    app.state.service.searcher._source = served.service.searcher.source()  # warm already
    with run_in_a_thread(app, config) as port, httpx.Client(timeout=120) as http:
        url = f"http://127.0.0.1:{port}"
        request = {
            "command": "gate",
            "options": {"history": True, "folders": [str(served.folder / "index")]},
        }
        job = f"{url}/jobs/{http.post(f'{url}/jobs', json=request).json()['id']}"
        while http.get(job).json()["state"] in ("queued", "running"):
            time.sleep(0.05)
        schema = schemathesis.openapi.from_url(f"{url}/openapi.json", timeout=120)
        operations = [operation.ok() for operation in schema.get_all_operations()]
        assert sum(operation.path.startswith("/jobs") for operation in operations) == 6
        for operation in operations:
            ask(operation)
        assert http.get(f"{job}/events").status_code == 200
