"""A workplace of real results, and services over copies of it."""

import json
import shutil
import signal
import time
from contextlib import contextmanager

import pytest
from starlette.testclient import TestClient

from argus.cli.startable import ArgusCommands
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.runs.test_record import expose
from tests.service.client import run_in_a_thread
from tests.support.examples import write_rows
from tests.support.words import corpus

# A retriever that answers when a file is there.
HELD = """
import time
from pathlib import Path

def retrieve(query, k):
    while not Path({go!r}).exists():
        time.sleep(0.02)
    return ["alder-mill"]
"""
ENDED = ("done", "failed", "cancelled", "interrupted")


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A folder of results with a corpus and a log of questions beside it; copied, not used."""
    work = tmp_path_factory.mktemp("jobs") / "work"
    work.mkdir()
    expose(work / "report")
    write_rows(
        work / "docs.jsonl",
        [{"_id": d.id, "title": d.title, "text": d.text} for d in corpus()],
    )
    ids = [d.id for d in corpus()]
    write_rows(
        work / "log.jsonl",
        [
            {
                "id": f"q{i:02d}", "text": f"where is the {ids[i % 40].replace('-', ' ')}",
                "documents": [ids[i % 40], ids[(i + 7) % 40]], "risk": (i % 30) / 30,
            }
            for i in range(60)
        ],
    )  # fmt: skip
    return work


@pytest.fixture
def work(finished, tmp_path):
    """A copy of it that may be changed."""
    return shutil.copytree(finished, tmp_path / "work")


@contextmanager
def serving(work, config=None, retriever=None, **settings):
    """Run the service in this process; yield its client."""
    place = open_workplace([work], config=config, retriever=retriever)
    app = create_app(place, ServeConfig(**settings), ArgusCommands())
    with TestClient(app, base_url="http://127.0.0.1") as client:
        yield client


@contextmanager
def listening(work, index=None):
    """Run the service in this process for a browser; yield its address."""
    config = ServeConfig(port=0)
    app = create_app(open_workplace([work], index=index), config, ArgusCommands())
    with run_in_a_thread(app, config) as port:
        yield f"http://127.0.0.1:{port}"


def holding(work, **settings):
    """Serve what runs held jobs; yield its client."""
    (work / "held.py").write_text(HELD.format(go=str(work / "go")))
    return serving(work, retriever=f"{work}/held.py:retrieve", **settings)


def held_request(work, out="held"):
    """Return the request of a job that runs until work/go is there."""
    options = {"corpus": str(work / "docs.jsonl"), "out": str(work / out), "retriever": "served"}
    return {"command": "check", "options": options}


@pytest.fixture
def client(work):
    with serving(work) as client:
        yield client


@pytest.fixture(autouse=True)
def heeds_ctrl_c():
    """Take Ctrl-C, as uvicorn has a service do: what a script starts with `&` ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def judging(work, out="judged", **options):
    """Return a request that takes a second or two, writes, and always comes to the same."""
    return {
        "command": "traffic judge",
        "options": {
            "traffic": str(work / "log.jsonl"), "corpus": str(work / "docs.jsonl"),
            "out": str(work / out), "budget": 12, **options,
        },
    }  # fmt: skip


def start(client, request):
    answer = client.post("/jobs", json=request)
    assert answer.status_code == 202, answer.text
    return answer.json()["id"]


def wait(client, id_, states=ENDED, timeout_s=120):
    until = time.monotonic() + timeout_s
    while (job := client.get(f"/jobs/{id_}").json())["state"] not in states:
        assert time.monotonic() < until, job
        time.sleep(0.05)
    return job


def events(client, id_):
    """Return the job at each event until its end, and the job as the stream ends with it."""
    text = client.get(f"/jobs/{id_}/events").text
    blocks = [dict(line.split(": ", 1) for line in b.splitlines()) for b in text.split("\n\n") if b]
    own = [json.loads(b["data"]) for b in blocks if b.get("event") == "job"]
    (end,) = [json.loads(b["data"]) for b in blocks if b.get("event") == "end"]
    return own, end
