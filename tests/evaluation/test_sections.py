import json
import re

from argus.data import Query
from argus.data.folders import ArtifactFolder
from argus.evaluation.comparison import Comparison, comparison_row, write_comparison
from argus.evaluation.config import EvaluateConfig
from argus.evaluation.job import evaluate
from argus.jobs.workspace import Record
from argus.reports import write_report
from tests.support.pages import tables

QUERIES = [Query("q1", "Who <b>ruled</b>?"), Query("q2", "When did Teutberga die?")]
QRELS = {"q1": {"d1": 1}, "q2": {"d1": 1, "gone": 1}}
BEFORE = {"q1": {"d1": 2.0}, "q2": {"d1": 3.0}}
AFTER = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d1": 2.0}}


def page_of(tmp_path, **settings):
    corpus = tmp_path / "corpus.jsonl"
    records = [
        {"_id": "d1", "title": "Teutberga", "text": "A queen."},
        {"_id": "d2", "title": "Cow", "text": "Grass."},
    ]
    corpus.write_text("".join(json.dumps(r) + "\n" for r in records))
    result = evaluate(
        QUERIES, QRELS, out=tmp_path / "out", corpus=corpus,
        config=EvaluateConfig(resamples=1000), **settings,
    )  # fmt: skip
    return write_report(result.folder).read_text()


def test_before_and_after_with_the_harmed_queries_by_their_text(tmp_path):
    page = page_of(tmp_path, runs=[BEFORE, AFTER])
    assert "Did the change help?" in page
    assert "1 relevant documents are not in <code>run 1</code>" in page
    found = tables(page)
    (harmed,) = found["evaluation_harmed"]["rows"]
    assert harmed[0] == "Who <b>ruled</b>? · q1" and harmed[4:] == [1, 2]
    assert "<b>ruled</b>" not in page, "text from outside is never markup"
    by_measure = {row[0]: row for row in found["evaluation_measures"]["rows"]}
    assert by_measure["RR"][1:4] == [1.0, 0.75, "-0.2500"]
    widths = {name: len(t["columns"]) for name, t in found.items()}
    assert all(len(r) == widths[name] for name, t in found.items() for r in t["rows"])


def test_a_comparison_says_what_was_lost_and_why_no_audit(tmp_path):
    sides, ranks = ("retrieved", "never retrieved"), (1, 7)
    rows = [
        comparison_row("document", id_, "Teutberga", verdict, sides, ranks)
        for id_, verdict in (("d1", "lost"), ("d2", "same"))
    ]
    comparison = Comparison(
        of="results", names=["a", "b"], fingerprints=["enc-a", "enc-b"], rows=rows,
        figures={"same_corpus": False, "kinds": {}}, notes=["no audit: too few"],
    )  # fmt: skip
    record = Record("comparison", {"before": "a", "after": "b"}, {})
    write_comparison(ArtifactFolder(tmp_path), record, (), comparison)
    page = (tmp_path / "report.html").read_text()
    assert "What is gained and lost?" in page and "no audit: too few" in page
    assert "different corpus files" in page
    (row,) = tables(page)["comparison"]["rows"]
    assert row == [
        "document", "Teutberga · d1", "lost", "retrieved", "never retrieved", 1.0, 7.0,
    ]  # fmt: skip


def test_a_difference_is_coloured_where_interval_and_test_agree(tmp_path):
    queries = [Query(f"q{i}", f"question {i}") for i in range(20)]
    qrels = {q.id: {"d1": 1} for q in queries}
    worse = {q.id: {"d2": 2.0, "d1": 1.0 if i % 3 else 3.0} for i, q in enumerate(queries)}
    best = {q.id: {"d1": 1.0} for q in queries}
    nearly = best | {q: worse[q] for q in ("q1", "q2", "q4")}
    tiles = {}
    for name, before in (("many", worse), ("few", nearly)):
        out = evaluate(
            queries, qrels, out=tmp_path / name, runs=[before, best],
            config=EvaluateConfig(resamples=1000),
        )  # fmt: skip
        page = write_report(out.folder).read_text()
        tiles[name] = re.search(r'<div class="tile ?(\w*)"[^>]*>\s*<[^>]*>\+0', page).group(1)
        assert ("only 3 of 20 queries changed" in page) == (name == "few")
    assert tiles == {"many": "good", "few": ""}
