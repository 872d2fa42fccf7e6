"""The page follows what happens, asks before it undoes, and starts no job that cannot measure."""

from __future__ import annotations

import time

import httpx
import pytest

import argus
from argus.cli.startable import ArgusCommands
from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.service.app import create_app
from argus.service.config import ServeConfig
from argus.service.workplace import open_workplace
from tests.service.client import run_in_a_thread
from tests.support.sentence_models import make_model
from tests.support.served import open_browser, page_of
from tests.support.words import corpus

TRY = {"command": "repair", "options": {"only_try": True}}


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with an index."""
    root = tmp_path_factory.mktemp("page")
    work = root / "work"
    work.mkdir()
    encoder = EncoderConfig(model=str(make_model(root / "model")), device="cpu")
    build_index(corpus(), out=work / "index", encoder=encoder)
    return work


@pytest.fixture(scope="module")
def served(work):
    """The address of a service over it, and a browser."""
    config = ServeConfig(port=0, jobs_at_once=1)
    app = create_app(open_workplace([work]), config, ArgusCommands())
    with run_in_a_thread(app, config) as port, open_browser() as launched:
        yield f"http://127.0.0.1:{port}", launched


def start(url, work):
    options = TRY["options"] | {"index": str(work / "index")}
    answer = httpx.post(f"{url}/jobs", json={**TRY, "options": options})
    return answer.raise_for_status().json()["id"]


def wait_for_end(url, id_):
    until = time.monotonic() + 60
    while (job := httpx.get(f"{url}/jobs/{id_}").json())["finished_at"] is None:
        assert time.monotonic() < until
        time.sleep(0.05)
    return job["state"]


def test_an_answer_that_comes_after_the_end_does_not_bring_a_job_back(served, work):
    url, launched = served
    id_ = start(url, work)

    def answer_late(route):
        answer = route.fetch()
        assert wait_for_end(url, id_) == "cancelled"
        time.sleep(1)
        route.fulfill(response=answer)

    with page_of(launched) as page:
        page.set_default_timeout(60_000)
        page.route("**/cancel", answer_late)
        page.goto(f"{url}/page/-/repairs")
        card = page.locator(f'[data-job="{id_}"]')
        while httpx.get(f"{url}/jobs/{id_}").json()["state"] != "running":
            time.sleep(0.05)
        with page.expect_response("**/cancel"):
            card.get_by_role("button", name="Cancel").click()
        page.wait_for_timeout(500)
        assert card.get_attribute("data-state") == "cancelled"


def test_a_trial_that_nothing_measures_is_not_started(served):
    url, launched = served
    before = httpx.get(f"{url}/jobs").json()["jobs"]
    with page_of(launched) as page:
        page.set_default_timeout(15_000)
        page.goto(f"{url}/page/-/repairs")
        page.get_by_role("button", name="Try", exact=True).click()
        page.locator(".start .problem", has_text="nothing is measured").wait_for()
    assert httpx.get(f"{url}/jobs").json()["jobs"] == before


def test_a_remedy_is_taken_out_once_a_person_has_said_so(served, work):
    url, launched = served
    blended = argus.blend_index(work / "index")
    before = httpx.get(f"{url}/jobs").json()["jobs"]
    with page_of(launched) as page:
        page.set_default_timeout(15_000)
        page.goto(f"{url}/page/-/repairs")
        asked = []
        page.on("dialog", lambda dialog: (asked.append(dialog.message), dialog.dismiss()))
        page.get_by_role("button", name=f"Undo {blended.remedy}").click()
        assert len(asked) == 1 and blended.remedy in asked[0]
    assert httpx.get(f"{url}/jobs").json()["jobs"] == before
