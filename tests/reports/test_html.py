import json
import re
from shutil import copytree

import argus
from argus.reports import write_report


def test_the_report_holds_both_jobs_and_no_text_becomes_markup_or_turns_it(results):
    page = (results / "report.html").read_text(encoding="utf-8")
    assert "How reachable is every entity?" in page
    assert "How reachable is every document?" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=\"(?!data:)", page)
    assert "document.title='owned'</script>" not in page and "<b>bold</b>" not in page
    assert not re.search("[\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1f\x7f-\x9f]", page)
    (tables,) = re.findall(r'id="tables">(.*?)</script>', page)
    assert any(r"\u202eylno\u2066\u009b" in text for text in texts_of(json.loads(tables)))
    (results / "report.html").unlink()  # it is rendered again from the folder alone
    assert write_report(results).read_text(encoding="utf-8") == page


def texts_of(value):
    """All texts in a value of JSON."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for one in inner for text in texts_of(one)]


def test_a_job_that_was_stopped_while_it_wrote_is_in_no_report_and_no_figures(
    results, tmp_path, logged
):
    torn = copytree(results, tmp_path / "torn")
    both = argus.reports.figure_dicts(torn)
    summary = json.loads((torn / "summary.json").read_text())
    summary["exposure"]["success_at_k"] = 1.0
    (torn / "summary.json").write_text(json.dumps(summary))
    left = argus.reports.figure_dicts(torn)
    assert 0 < len(left) < len(both) and left.items() <= both.items()
    assert "left out of the report: exposure" in " ".join(logged)
    page = write_report(torn).read_text(encoding="utf-8")
    assert "How reachable is every entity?" in page
    assert "How reachable is every document?" not in page
