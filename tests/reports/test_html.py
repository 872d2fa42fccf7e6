import json
import re
from shutil import copytree

import pytest

import argus
from argus.reports import write_report


@pytest.fixture
def folder(results):
    return results


def test_the_report_holds_both_jobs_and_nothing_outside(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "How reachable is every entity?" in page
    assert "How reachable is every document?" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?!data:)", page)


def test_texts_of_documents_cannot_become_markup(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "document.title='owned'</script>" not in page
    assert "<b>bold</b>" not in page


def test_texts_of_documents_turn_nothing_of_the_report(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1f\x7f-\x9f]", page)
    (tables,) = re.findall(r'id="tables">(.*?)</script>', page)
    assert any(r"\u202eylno\u2066\u009b" in text for text in texts_of(json.loads(tables)))


def texts_of(value):
    """All texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in inner for text in texts_of(one)]


def test_the_report_is_rendered_again_from_the_folder_alone(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    (folder / "report.html").unlink()
    assert write_report(folder).read_text(encoding="utf-8") == page


def test_a_job_that_was_stopped_while_it_wrote_is_in_no_report_and_no_figures(
    folder, tmp_path, caplog
):
    torn = copytree(folder, tmp_path / "torn")
    both = argus.reports.figure_dicts(torn)
    summary = json.loads((torn / "summary.json").read_text())
    summary["exposure"]["success_at_k"] = 1.0
    (torn / "summary.json").write_text(json.dumps(summary))
    left = argus.reports.figure_dicts(torn)
    assert 0 < len(left) < len(both) and left.items() <= both.items()
    assert "left out of the report: exposure" in caplog.text
    page = write_report(torn).read_text(encoding="utf-8")
    assert "How reachable is every entity?" in page
    assert "How reachable is every document?" not in page
