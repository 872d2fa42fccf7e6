import json

import pyarrow.parquet as pq
import pytest

from argus.authority.config import LintBounds
from argus.authority.lint import lint
from argus.errors import InputError
from argus.measures import wilson
from tests.support.results import shown
from tests.support.superseding import ROWS, RULES, RUN, story_source, write_story


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def test_violations_rates_and_intervals_of_a_run(story):
    result = lint(story / "run.json", story_source(story), k=2)
    counts = result.summary["queries"]
    assert counts == {"total": 4, "measured": 3, "failed": 0, "not applicable": 1}
    rates = result.summary["rates"]
    low, high = wilson(1 / 3, 3)
    expected = {"share": 1 / 3, "low": float(low), "high": float(high), "queries": 3}
    assert rates["violations"] == rates["frontier_missing"] == expected
    assert rates["superseder_ignored"]["share"] == 1 / 3
    assert rates["stale_queries"]["share"] == 2 / 3  # tokens: flaw-3, with fix-3 beside it
    assert rates["stale_hits"]["share"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert rates["false_retirements"] is None
    assert result.exit_code == 1 and result.report is None
    (row,) = result.summary["violations"]
    assert row["instead"] == "fix-1b" and row["query_id"] == "archive"
    assert row["chain"] == "'flaw-1', superseded by 'fix-1b' (fix)"


def test_a_resolved_run_has_no_violation_and_no_false_retirement(story):
    from argus.authority.opening import open_authority
    from argus.authority.resolve import resolve

    authority = open_authority(story_source(story)).authority
    resolved = resolve(RUN, authority)
    assert list(resolved["archive"]) == ["fix-1b", "flaw-2", "fix-3"]
    result = lint(resolved, story_source(story), before=RUN)
    assert result.exit_code == 0 and result.summary["verdict"] == "pass"
    assert result.summary["rates"]["false_retirements"]["share"] == 0
    assert result.summary["rates"]["stale_queries"]["share"] == 0


def test_a_run_that_lost_an_active_document_fails(story):
    over = RUN | {"archive": {"fix-1b": 3.0, "fix-3": 1.0}, "tokens": {"fix-3": 1.0}}
    result = lint(over, story_source(story), before=RUN)
    assert result.summary["rates"]["false_retirements"]["share"] == 1 / 3
    assert [r["document"] for r in result.summary["violations"]] == ["flaw-2"]
    assert result.exit_code == 1
    loose = LintBounds(false_retirements=0.5)
    assert lint(over, story_source(story), before=RUN, bounds=loose).exit_code == 0


@pytest.mark.parametrize(
    ("bounds", "code"),
    [
        (LintBounds(violations=0.4), 0),
        (LintBounds(violations=0.3), 1),
        (LintBounds(violations=0.4, stale_hits=0.3), 1),
        (LintBounds(violations=0.4, stale_hits=0.34), 0),
    ],
)
def test_bounds_decide(story, bounds, code):
    assert lint(RUN, story_source(story), k=2, bounds=bounds).exit_code == code


def test_as_of_asks_what_was_in_force_then(story):
    before_the_fix = story_source(story, as_of="2024-01-31")
    result = lint({"archive": RUN["archive"]}, before_the_fix)
    assert [row["kind"] for row in result.summary["violations"]] == ["not yet in force"]
    assert result.exit_code == 1
    then = lint({"q": {"flaw-1": 1.0}}, before_the_fix)
    assert then.summary["rates"]["violations"]["share"] == 0


def test_a_folder_gets_table_summary_manifest_and_report(story, tmp_path):
    result = lint(story / "run.json", story_source(story), out=tmp_path / "out")
    rows = pq.read_table(tmp_path / "out" / "lint.parquet").to_pylist()
    assert [row["kind"] for row in rows] == ["superseder ignored"]
    page = result.report.read_text()
    assert "Does the run serve what has been superseded?" in page and "fix-1b" in page
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())["lint"]
    assert set(manifest["inputs"]) == {"records", "rules", "run"}
    lint(story / "run.json", story_source(story), out=tmp_path / "out", fresh=True)


def test_queries_name_what_they_are_about(story, tmp_path):
    queries = tmp_path / "queries.jsonl"
    queries.write_text(
        '{"_id": "parser", "anchor": ["flaw-2"]}\n{"_id": "tokens", "anchor": "flaw-1"}\n'
    )
    result = lint(story / "run.json", story_source(story), queries=queries)
    missing = [r["query_id"] for r in result.summary["violations"] if "missing" in r["kind"]]
    assert missing == ["tokens"]
    queries.write_text('{"_id": "parser", "anchor": ["flaw-9"]}\n')
    with pytest.raises(InputError, match=r"line 1, field 'anchor': anchor 'flaw-9'"):
        lint(story / "run.json", story_source(story), queries=queries)


def test_a_run_of_another_corpus_is_refused(story):
    with pytest.raises(InputError, match="no document of the run has a record; the first is 'x'"):
        lint({"q": {"x": 1.0}}, story_source(story))


def test_a_run_without_results_is_not_measured(story):
    assert lint({"q": {}}, story_source(story)).exit_code == 2


def test_neither_rules_nor_edges_is_refused(story):
    with pytest.raises(InputError, match="neither rules nor edges"):
        lint(RUN, story_source(story, rules=None))


def test_edges_do_without_rules(story):
    edges = story / "edges.jsonl"
    edges.write_text('{"superseder": "fix-3", "superseded": "flaw-1"}\n')
    result = lint(RUN, story_source(story, rules=None, edges=edges))
    assert result.exit_code == 0  # fix-3 is served beside flaw-1
    edges.write_text('{"superseder": "fix-9", "superseded": "flaw-1"}\n')
    with pytest.raises(InputError, match="no record 'fix-9'"):
        lint(RUN, story_source(story, rules=None, edges=edges))


def test_a_bound_outside_of_0_to_1_is_refused():
    with pytest.raises(InputError, match="--max-stale-hits: 10"):
        LintBounds(stale_hits=10)


def test_edges_do_without_types_but_rules_do_not(story, tmp_path):
    bare = [{"_id": row["_id"], "text": row["text"]} for row in ROWS]
    (story / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in bare))
    edges = tmp_path / "edges.jsonl"
    edges.write_text('{"superseder": "fix-1b", "superseded": "flaw-1"}\n')
    assert lint(RUN, story_source(story, rules=None, edges=edges)).exit_code == 1
    with pytest.raises(InputError, match="no type among '_id', 'text'"):
        lint(RUN, story_source(story))


def test_records_without_time_are_counted_at_a_day(story):
    rows = [row | ({"timestamp": None} if row["_id"] == "flaw-2" else {}) for row in ROWS]
    (story / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert lint(RUN, story_source(story)).summary["relation"]["undated"] is None
    then = lint(RUN, story_source(story, as_of="2024-02-15"))
    assert then.summary["relation"]["undated"] == 1


def test_queries_that_run_and_anchors_do_not_share_are_counted(story, tmp_path):
    queries = tmp_path / "queries.jsonl"
    about = [{"_id": "parser", "anchor": ["flaw-2"]}, {"_id": "lost", "anchor": "flaw-1"}]
    queries.write_text("".join(json.dumps(row) + "\n" for row in about))
    counts = lint(RUN, story_source(story), queries=queries).summary["queries"]
    assert counts["without_anchor"] == 3 and counts["not_in_the_run"] == 1
    queries.write_text('{"_id": "parser", "anchor": []}\n')
    with pytest.raises(InputError, match="anchor None"):
        lint(RUN, story_source(story), queries=queries)


def test_an_edge_of_an_unknown_document_is_named_with_its_file(story):
    edges = story / "edges.jsonl"
    edges.write_text('{"superseder": "fix-9", "superseded": "flaw-1"}\n')
    with pytest.raises(InputError, match=r"edges\.jsonl: 'flaw-1' superseded by 'fix-9': no recor"):
        lint(RUN, story_source(story, edges=edges))


def test_an_empty_date_is_not_today(story):
    with pytest.raises(InputError, match="--as-of: an empty date"):
        lint(RUN, story_source(story, as_of=""))


def test_a_filter_that_serves_nothing_instead_fails(story):
    before = {"archive": {"flaw-1": 2.0, "flaw-2": 1.0}}
    result = lint({"archive": {"flaw-2": 1.0}}, story_source(story), before=before)
    assert result.exit_code == 1
    assert [row["kind"] for row in result.summary["violations"]] == [
        "removed, nothing in its place"
    ]
    assert result.summary["rates"]["removed_unreplaced"]["share"] == 1.0


def test_queries_without_one_in_common_are_refused(story, tmp_path):
    with pytest.raises(InputError, match="--before: none of its 1 queries is in the run"):
        lint(RUN, story_source(story), before={"zz": {"flaw-1": 1.0}})
    (tmp_path / "q.jsonl").write_text('{"_id": "zz", "anchor": "flaw-1"}\n')
    with pytest.raises(InputError, match="--queries: none of its 1 queries is in the run"):
        lint(RUN, story_source(story), queries=tmp_path / "q.jsonl")


def test_a_relation_that_retires_nothing_measures_nothing(story):
    nothing = story_source(story, as_of="2024-01-25")
    run = {"q": {"flaw-1": 1.0}}
    assert lint(run, nothing).exit_code == 2
    assert lint(run, nothing, bounds=LintBounds(nothing_superseded=True)).exit_code == 0


def test_edges_the_wrong_way_round_are_told_by_their_times(story):
    edges = story / "edges.jsonl"
    edges.write_text('{"superseder": "flaw-1", "superseded": "fix-1"}\n')
    with pytest.raises(InputError, match=r"go backwards in time; the first: 'flaw-1'.*swapped\?"):
        lint(RUN, story_source(story, rules=None, edges=edges))
    mixed = [("fix-3", "flaw-3"), ("fix-1", "flaw-1"), ("flaw-2", "fix-3")]
    edges.write_text(
        "".join(json.dumps({"superseder": n, "superseded": o}) + "\n" for n, o in mixed)
    )
    summary = lint(RUN, story_source(story, rules=None, edges=edges)).summary
    assert summary["relation"]["edges_against_time"] == 1


def test_what_theta_leaves_out_is_counted(story):
    edges = story / "edges.jsonl"
    rows = [{"superseder": "fix-1", "superseded": "flaw-1", "confidence": 0.4},
            {"superseder": "fix-3", "superseded": "flaw-3"}]  # fmt: skip
    edges.write_text("".join(json.dumps(row) + "\n" for row in rows))
    source = story_source(story, rules=None, edges=edges, theta=0.5)
    summary = lint(RUN, source).summary
    assert summary["relation"]["below_theta"] == 1 and summary["relation"]["given_edges"] == 1


def test_a_lint_shows_its_figures(story):
    result = lint(story / "run.json", story_source(story), k=2)
    assert shown(result)[0].startswith("queries: 3 measured, 1 not applicable")
    assert list(result.headline())[-1] == f"verdict: {result.summary['verdict']}"


def test_undecided_pairs_and_types_without_rules_are_listed(tmp_path):
    folder = write_story(tmp_path / "story")
    more = [
        {"_id": "fix-1c", "type": "patch", "timestamp": "2024-03-01", "entities": {"cve": "1"}},
        {"_id": "memo", "type": "Disclosures", "timestamp": "2024-03-01", "entities": {"cve": "1"}},
    ]
    rows = "".join(json.dumps(row) + "\n" for row in [*ROWS, *more])
    (folder / "records.jsonl").write_text(rows)
    result = lint(RUN, story_source(folder), out=tmp_path / "out")
    told = "\n".join(result.headline())
    assert "undecided: 'fix-1b' (2024-03-01) and 'fix-1c' (2024-03-01)" in told
    assert (
        "1 records are of type 'Disclosures', which no rule names: is 'disclosure' meant?" in told
    )
    (row,) = pq.read_table(tmp_path / "out" / "undecided.parquet").to_pylist()
    assert (row["rule"], {row["superseded"], row["superseding"]}) == (
        "newer fix", {"fix-1b", "fix-1c"},
    )  # fmt: skip
    (folder / "rules.yaml").write_text(RULES + "    ties: id\n")
    result = lint(RUN, story_source(folder))
    told = "\n".join(result.headline())
    assert "1 pairs of equal times are decided by id: 'fix-1b', superseded by 'fix-1c'" in told
    assert result.summary["relation"]["given_edges"] == 0
    assert "undecided" not in told


def test_a_name_in_a_rules_file_goes_before_the_dates(tmp_path):
    folder = write_story(tmp_path / "story")
    rows = [row | {"entities": row["entities"] | {"names": "fix-1b"}} if row["_id"] == "fix-1"
            else row for row in ROWS]  # fmt: skip
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "rules.yaml").write_text(
        "rules:\n- {name: by name, superseding: patch, superseded: patch, order: named,\n"
        "   scope: [{superseding: names, superseded: _id}]}\n"
    )
    result = lint({"q": {"fix-1b": 1.0}}, story_source(folder))
    assert [v["chain"] for v in result.summary["violations"]] == [
        "'fix-1b', superseded by 'fix-1' (by name)"
    ]
