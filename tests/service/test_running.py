"""The service as a process: where it listens, and its token."""

import os
import re
import signal
import subprocess
import sys

import httpx
import pytest


@pytest.mark.slow
def test_the_command_prints_its_token_once_and_is_back_after_a_kill(report):
    command = [
        sys.executable, "-c", "from argus.cli.main import main; main()", "serve", str(report),
        "--host", "0.0.0.0", "--port", "0",
    ]  # fmt: skip
    env = {name: text for name, text in os.environ.items() if name != "ARGUS_SERVE_TOKEN"}
    tokens = set()
    for end in (signal.SIGKILL, signal.SIGINT):
        process = subprocess.Popen(
            command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        try:
            port = int(re.search(r":(\d+)/", process.stdout.readline())[1])
            token = process.stdout.readline().removeprefix("token, shown once: ").strip()
            url = f"http://127.0.0.1:{port}/page/report/overview"
            assert httpx.get(url, timeout=120).status_code == 401
            bearer = {"authorization": f"Bearer {token}"}
            assert httpx.get(url, headers=bearer, timeout=120).status_code == 200
        finally:
            process.send_signal(end)
            out, errors = process.communicate(timeout=120)
        assert token not in out + errors
        tokens.add(token)
    assert process.returncode == 0 and len(tokens) == 2
