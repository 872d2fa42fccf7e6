"""The service over a real folder of results."""

import pytest

from argus.service.app import create_app
from argus.service.workplace import open_workplace
from tests.runs.test_record import expose
from tests.service.client import Client


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work") / "report"
    expose(folder)
    with Client(create_app(open_workplace([folder]))) as client:
        yield client


def test_the_start_leads_to_the_verdict_of_the_first_folder(client):
    page = client.get("/")
    assert page.status_code == 200 and str(page.url).endswith("/page/report/overview")
    assert "found by its own sentences?" in page.text
    assert "script-src 'self'" in page.headers["content-security-policy"]


def test_a_folder_that_was_not_named_is_refused(client):
    answer = client.get("/page/elsewhere/overview")
    assert answer.status_code == 422 and "one of report" in answer.json()["detail"]
