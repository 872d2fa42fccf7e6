"""Compare: what the command line named is compared over all questions by a button of the page."""

from __future__ import annotations

import html
import json
import re

import pytest
from starlette.testclient import TestClient

from argus.cli.startable import ArgusCommands
from argus.evaluation.job import evaluate
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.service.jobs.conftest import start, wait
from tests.support.examples import write_rows

RETRIEVERS = """
def first(query, k):
    return ["a", "b", "c"][:k]

def second(query, k):
    return (["d", "a", "b"] if "mill" in query else ["a", "b", "c"])[:k]
"""


@pytest.fixture
def judged(tmp_path):
    """A folder of results with judged questions beside them, and two retrievers elsewhere."""
    work = tmp_path / "work"
    work.mkdir()
    mine = tmp_path / "mine.py"
    mine.write_text(RETRIEVERS)
    questions = {"q1": "where is the mill", "q2": "where is the bridge"}
    write_rows(work / "queries.jsonl", [{"_id": q, "text": t} for q, t in questions.items()])
    (work / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td\t1\nq2\ta\t1\n")
    evaluate(
        work / "queries.jsonl", work / "qrels.tsv", out=work / "report",
        retrievers=[f"{mine}:first"],
    )  # fmt: skip
    return open_workplace([work], retriever=f"{mine}:first", beside=[f"{mine}:second"])


def test_two_retrievers_are_compared_by_a_button(judged):
    app = create_app(judged, ServeConfig(), ArgusCommands())
    with TestClient(app, base_url="http://127.0.0.1") as client:
        path = "/page/report/compare?a=served&b=beside-1"
        page = client.get(path, headers={"accept": "text/html"}).text
        assert "the questions of this folder" in page
        (wanted,) = re.findall(r'data-start="([^"]+)"', page)
        request = json.loads(html.unescape(wanted))
        assert request["options"]["retriever"] == ["served", "beside-1"]
        assert str(judged.beside[0]) not in wanted
        client.cookies.clear()
        job = wait(client, start(client, request))
        assert job["state"] == "done", job["errors"]
        after = client.get(path, headers={"accept": "text/html"}).text
    assert "What changed" in after and 'href="?q=where+is+the+mill"' in after
    assert "the bridge" not in after.partition("What changed")[2]
