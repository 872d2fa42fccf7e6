"""What is searched is opened as the service starts, and the page says so meanwhile."""

import time

import pytest

from argus.service.app import create_app
from argus.service.workplace import open_workplace
from tests.service.client import Client, wait_until_ready

RETRIEVER = """
import time
from pathlib import Path

here = Path(__file__).parent
(here / "began").touch()
while not (here / "go").exists():
    time.sleep(0.02)

def retrieve(query, k):
    return ["other", "wanted"][:k]
"""
ASKING = {"q": "a mill by the river", "doc": "wanted", "k": 1}


@pytest.fixture
def opening(tmp_path):
    """A service whose retriever opens when work/go is there, before any request."""
    (tmp_path / "slow.py").write_text(RETRIEVER)
    place = open_workplace([tmp_path], retriever=f"{tmp_path}/slow.py:retrieve")
    with Client(create_app(place)) as client:
        yield tmp_path, client
        (tmp_path / "go").touch()


def until(holds):
    end = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_service_opens_what_it_searches_before_anybody_asks(opening):
    work, _ = opening
    until((work / "began").exists)


@pytest.mark.parametrize("headers", [{"accept": "text/html"}, {"hx-request": "true"}])
def test_why_not_shows_that_it_is_being_opened_and_then_answers(opening, headers):
    work, client = opening
    until((work / "began").exists)
    meanwhile = client.get("/page/-/why-not", params=ASKING, headers=headers)
    assert meanwhile.status_code == 200
    assert "is being opened" in meanwhile.text and 'hx-trigger="load delay' in meanwhile.text
    assert 'id="verdict"' not in meanwhile.text
    (work / "go").touch()
    wait_until_ready(client)
    answer = client.get("/page/-/why-not", params=ASKING, headers=headers)
    assert 'id="verdict"' in answer.text and "is being opened" not in answer.text
