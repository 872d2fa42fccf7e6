"""The page of repairs in a real browser: tried, applied, read, undone; with attacks for texts."""

import json

import pytest

from argus.encoders import EncoderConfig
from argus.indexes.job import build_index
from argus.indexes.views import ViewIndex
from tests.service.jobs.conftest import listening
from tests.support.examples import write_rows
from tests.support.hostile import ATTACKS
from tests.support.served import check_accessible, check_fits, open_browser, page_of
from tests.support.words import corpus

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """An index with judged questions beside it, some of them attacks; served in a process."""
    work = tmp_path_factory.mktemp("repairs") / "work"
    work.mkdir()
    documents = corpus()
    build_index(documents, out=work / "index", encoder=EncoderConfig())
    questions, judgements = [], ["query-id\tcorpus-id\tscore"]
    for i, document in enumerate(documents[:24]):  # four of a subject: none is easy
        wood, attack = f"{document.title.split()[0]} wood", ATTACKS[i % len(ATTACKS)]
        questions.append({"_id": f"q{i} <i>", "text": f"{wood} {attack}"})
        judgements.append(f"q{i} <i>\t{document.id}\t1")
    write_rows(work / "queries.jsonl", questions)
    (work / "qrels.tsv").write_text("\n".join(judgements) + "\n")
    with listening(work, str(work / "index")) as url, open_browser() as launched:
        yield work, url, launched


def state(work):
    index = ViewIndex.open(work / "index")
    return index.version, [remedy.id for remedy in index.remedies()]


def test_a_repair_is_tried_applied_and_undone(place):
    work, url, launched = place
    version = state(work)[0]
    with page_of(launched) as page:
        page.goto(f"{url}/page/-/repairs")
        page.get_by_label("Judged questions").select_option(str(work / "queries.jsonl"))
        page.get_by_label("Their judgements").select_option(str(work / "qrels.tsv"))
        page.get_by_role("button", name="Try", exact=True).click()
        page.get_by_role("heading", name="The last trial").wait_for()
        assert state(work) == (version, [])
        check_accessible(page)
        check_fits(page)
        rows = page.locator("#changed ~ .card tbody tr")
        kinds = [row.get_attribute("class") for row in rows.all()]
        summary = json.loads((work / "index" / "repair" / "summary.json").read_text())["repair"]
        shown = next(a for a in summary["arms"] if summary["kept"] in (a["arm"], "nothing"))
        figures = shown["ndcg10"]
        assert kinds == ["harmed"] * figures["harmed"] + ["improved"] * figures["improved"]
        texts = " ".join(rows.locator("td:first-child").all_inner_texts())
        assert len(kinds) > 3 and sum(attack in texts for attack in ATTACKS) > 2
        page.get_by_role("button", name="Apply blend").click()
        page.get_by_role("button", name="Undo blend").wait_for()
        (remedy,) = state(work)[1]
        assert page.get_by_text("Other remedies are in the index now").is_visible()
        assert not page.get_by_role("button", name="Apply blend").count()
        page.locator("summary", has_text="Receipt").click()
        assert page.locator(f"[id='{remedy}']").locator("tbody tr").count() >= 1
        page.once("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name=f"Undo {remedy}").click()
        page.get_by_text("No remedy: it is searched as it was built.").wait_for()
        assert page.get_by_role("button", name="Apply blend").is_enabled()
    assert state(work)[1] == []
