"""The page of questions in a real browser: drawn by a job, judged by keys, written."""

import json

import pytest

import argus
from argus.traffic.judging import LiveJudging
from tests.service.jobs.conftest import listening
from tests.support.examples import write_rows
from tests.support.hostile import ATTACKS
from tests.support.served import check_accessible, check_fits, open_browser, page_of
from tests.support.words import ByWords, corpus

pytestmark = pytest.mark.slow
# The first grade loads what estimates: more than five seconds beside other tests.
BUDGET = 24


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder of real traffic, some of it attacks; nothing drawn yet."""
    work = tmp_path_factory.mktemp("questions") / "work"
    work.mkdir()
    documents = corpus()
    rows = [{"_id": d.id, "title": d.title, "text": f"{d.text} {ATTACKS[i % 5]}"}
            for i, d in enumerate(documents)]  # fmt: skip
    write_rows(work / "docs.jsonl", rows)
    asks = []
    for i in range(60):
        document = documents[i % 40]
        text = f"who built the {document.title.lower()} number {i} {ATTACKS[i % 5]}"
        if i % 3 == 0:
            text = f"opening hours of the museum in winter, room {i}"
        asks.append({"query": text, "time": 1_772_323_200 + i})
    write_rows(work / "log.jsonl", asks)
    argus.audit_traffic(
        work / "log.jsonl", out=work / "traffic", corpus=work / "docs.jsonl",
        retriever=ByWords(documents), config=argus.traffic.TrafficConfig(resamples=1_000, k=3),
    )  # fmt: skip
    with listening(work) as url, open_browser() as launched:
        yield work / "traffic", url, launched


def press(page, key):
    """Press a key of judge mode, and wait until its answer is on the page."""
    before = page.locator("#judge").inner_html()
    page.keyboard.press(key)
    page.wait_for_function(
        "before => document.getElementById('judge').innerHTML !== before", arg=before
    )


def test_questions_are_drawn_judged_by_keys_and_written(place):
    folder, url, launched = place
    with page_of(launched) as page:
        page.goto(f"{url}/page/traffic/questions")
        text = page.locator("main").inner_text()
        assert "60 asks" in text and "What nobody meets" in text and "Likely to fail" in text
        assert sum(attack in text for attack in ATTACKS) > 2
        page.get_by_label("Questions to judge").fill(str(BUDGET))
        page.get_by_role("button", name="Draw").click()
        page.get_by_role("link", name="Judge", exact=True).click()
        page.get_by_role("heading", name="Judge", exact=True).wait_for()
        check_accessible(page)
        check_fits(page)
        for i in range(6):
            press(page, "y" if i % 3 else "n")
            press(page, "x")
            assert page.locator("#measured").inner_text() == str(i + 1)
        interval = page.locator("#interval").inner_text()
        page.goto(f"{url}/page/traffic/questions")
        assert interval.split(" to ")[0] in page.locator(".answer").inner_text()
        page.get_by_role("button", name="Write the results").click()
        page.locator('#jobs .job[data-job="2"][data-state="done"]').wait_for()
        check_accessible(page)
        check_fits(page)
    summary = json.loads((folder / "summary.json").read_text())["judging"]
    assert summary["judged"]["measured"] == 6
    assert f"{100 * summary['estimates'][0]['low']:.1f}%" == interval.split(" to ")[0]
    assert len(LiveJudging.of(folder).grades) == summary["graded"]
