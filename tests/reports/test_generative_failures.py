import json
import re

import pytest

from argus.reports.sections.failure_specs import SHOWN
from argus.reports.sections.failure_tables import span
from tests.support.failure_rows import COMPARISON, K, rows_of, system, written


def script(page, name):
    return json.loads(re.search(rf"const {name} = (.*);", page).group(1))


def columns(table):
    return [c["name"] for c in table["columns"]]


OF_ONE_OR_NONE = {"taxonomy", "missing", "query_ngrams", "positives_histogram"}
ONE_PROBLEM = [{"what": "a passage listed twice", "count": 12, "first": "question q7, rank 3"}]


def two_systems(n=120):
    return [
        system("SEAL", rows_of(n, seed=1), problems=ONE_PROBLEM),
        system("MINDER", rows_of(n, seed=2, queries=1), broken="it ends within a record"),
    ]


def test_two_systems_stand_side_by_side_in_every_table(tmp_path):
    page = written(tmp_path, two_systems(), comparison=COMPARISON)
    found = script(page, "TABLES")
    assert {f"failures_{s.name}" for s in SHOWN} <= set(found)
    for name, table in found.items():
        names = columns(table)
        assert all(len(row) == len(names) for row in table["rows"]), name
        if name.removeprefix("failures_") not in OF_ONE_OR_NONE:
            assert any("SEAL" in c for c in names) and any("MINDER" in c for c in names), name
    assert columns(found["failures_t04_frequency_top_deciles"]) == [
        "decile", "range SEAL", "hits@1 SEAL", "hits@10 SEAL",
        "range MINDER", "hits@1 MINDER", "hits@10 MINDER",
    ]  # fmt: skip
    assert columns(found["failures_comparison"])[2:5] == [
        "SEAL",
        "MINDER",
        "MINDER - SEAL (95% interval)",
    ]
    assert found["failures_comparison"]["rows"] == [
        ["hits@1", 120, 0.4, 0.5, "+0.100 (+0.020\u00a0to\u00a0+0.180)", "0.012"],
        ["different tokens", 9, 0.5, 0.5, "+0.000", "1.000"],
    ]
    assert "3 questions are only in SEAL, 0 only in MINDER" in page


def nothing_measured():
    return [system("bm25", rows_of(12, seed=3, bare=True))]


def test_every_value_is_of_its_column_s_kind_and_every_chart_has_its_place(tmp_path):
    for i, systems in enumerate((two_systems(), two_systems()[1:], nothing_measured())):
        page = written(tmp_path / str(i), systems)
        for name, table in script(page, "TABLES").items():
            kinds = [c["kind"] for c in table["columns"]]
            assert len(set(columns(table))) == len(kinds), name
            for row in table["rows"]:
                assert len(row) == len(kinds), name
                for value, kind in zip(row, kinds, strict=True):
                    fits = str if kind == "text" else int | float
                    assert value is None or isinstance(value, fits), (name, row)
        shown = re.findall(r'data-plot="([^"{]+)"', page)
        assert sorted(shown) == sorted(script(page, "PLOTS"))
        assert set(re.findall(r'data-table="([^"{]+)"', page)) <= set(script(page, "TABLES"))


def test_what_is_shown_is_what_was_counted(tmp_path):
    (told, _) = seal = system("SEAL", rows_of(80, seed=4))
    page = written(tmp_path, [seal])
    found = script(page, "TABLES")
    # By hand, over the rows: hits@1 and the three outcomes of the tiles.
    rows = rows_of(80, seed=4)
    hits = sum(row["hit_1"] for row in rows)
    assert f"<b>{100 * hits / 80:.1f}%</b><span>hits@1</span>" in page
    failed = sum(not row["hit_k"] for row in rows)
    late = sum(row["hit_k"] and not row["hit_1"] for row in rows)
    assert f"<b>{failed}</b><span>questions failed; {late} late, {hits} found first</span>" in page
    by_measure = {row[0]: row for row in found["failures_quality"]["rows"]}
    assert by_measure["hits@1"][1:3] == [80, pytest.approx(hits / 80)]
    assert columns(found["failures_quality"]) == ["measure", "n", "mean", "95%"]
    decile = told["figures"]["generation"]["t06_overlap_deciles"]["rows"][2]
    shown = found["failures_t06_overlap_deciles"]["rows"][2]
    assert shown == ["3", span(decile[1], decile[2]), pytest.approx(decile[5], abs=1e-3),
                     pytest.approx(decile[6], abs=1e-3)]  # fmt: skip
    line = script(page, "PLOTS")["failures_t06_overlap_deciles"]["data"]
    assert [trace["name"] for trace in line] == ["hits@1", "hits@10"]
    assert line[0]["y"][2] == decile[5]
    verdicts = [row[0] for row in found["failures_t10_verdicts"]["rows"]]
    assert verdicts == ["YES", "PARTIAL", "NO", "no verdict"]
    keys = [row[0] for row in found["failures_t17_keys"]["rows"]]
    assert keys == ["correct alone", "others alone", "both"]


def test_modes_stand_in_the_same_order_in_both_charts_and_in_their_table(tmp_path):
    systems = two_systems()
    page = written(tmp_path, systems)
    plots, found = script(page, "PLOTS"), script(page, "TABLES")["failures_modes"]
    names = [row[0] for row in found["rows"]]
    for i, (told, _) in enumerate(systems):
        failed, success = plots[f"failures_modes_{i}"]["data"]
        assert failed["y"] == success["y"] == names
        shares = {mode["name"]: mode["among_failed"] for mode in told["modes"]}
        assert failed["x"] == [shares[name] for name in names]
        assert [row[2 + 4 * i] for row in found["rows"]] == failed["x"]
    most = [max(row[2], row[6]) for row in found["rows"]]
    assert most == sorted(most, reverse=True)


def test_questions_are_ordered_by_outcome_and_say_why_in_words(tmp_path):
    systems = two_systems()
    systems[1][1].pop(0)  # a question that the second system was not asked
    page = written(tmp_path, systems)
    found = script(page, "TABLES")["failures_questions"]
    assert columns(found) == ["id", "question", "outcome SEAL", "why SEAL",
                              "outcome MINDER", "why MINDER"]  # fmt: skip
    order = [row[2].partition(":")[0] for row in found["rows"]]
    assert order == sorted(order, key=["failed", "late", "found at 1"].index)
    assert any(row[2] == "failed: rank 25" for row in found["rows"])
    rows = {row[0]: row for row in found["rows"]}
    assert rows["q0"][4:] == ["not asked", ""]
    first = systems[0][1][3]
    assert rows["q3"][3].startswith(f"1. {first['modes'][0]}: {first['evidence'][0]}")
    long = next(d for d in systems[0][1] if len(d["modes"]) > 4)
    assert rows[long["query_id"]][3].endswith(f"; and {len(long['modes']) - 4} more")


def test_a_broken_file_is_told_at_the_top_and_problems_in_a_table(tmp_path):
    page = written(tmp_path, two_systems(), needs=["no index was given: <--corpus-index>"])
    assert "/data/MINDER.json is broken: it ends within a record" in page
    assert "Only the 120 questions before the break" in page
    assert page.index("is broken") < page.index("hits@1")
    assert script(page, "TABLES")["failures_problems"]["rows"] == [
        ["a passage listed twice", 12, "question q7, rank 3", None, None]
    ]
    assert "no index was given: &lt;--corpus-index&gt;" in page


def test_text_from_files_is_never_markup(tmp_path):
    page = written(tmp_path, [system("<i>x</i>", rows_of(30, seed=5), broken="<u>cut</u>")])
    for tag in ("<b>song", "<i>x", "<u>cut"):
        assert tag not in page


def test_where_nothing_applies_the_page_says_what_to_give(tmp_path):
    page = written(tmp_path, nothing_measured())
    found = script(page, "TABLES")
    assert script(page, "PLOTS") == {}
    missing = found["failures_missing"]
    assert columns(missing) == ["figures", "why"]
    told = " ".join(row[0] for row in missing["rows"])
    assert all(shown.heading.format(k=K) in told for shown in SHOWN)
    assert any("--corpus-index" in why for _, why in missing["rows"])
    assert "nobody said what is correct" in page
    assert "Which failures dominate" in page and "Scoring failures" not in page
    assert found["failures_questions"]["rows"][0] == [
        "q0", "who sang <b>song 0</b> in the film?", "not judged", "",
    ]  # fmt: skip


def test_what_applies_to_one_system_alone_has_its_columns_and_the_other_s_reason(tmp_path):
    page = written(tmp_path, two_systems())
    found = script(page, "TABLES")
    assert columns(found["failures_query_ngrams"])[:3] == ["passages", "has one", "n MINDER"]
    (row,) = found["failures_missing"]["rows"]
    assert row[:2] == ["Pseudo-queries", "SEAL"]
    assert "No n-gram is a pseudo-query" in row[2]


def test_long_names_become_letters_that_the_page_explains(tmp_path):
    names = ["seal-index-train-model", "minder-index-train-model"]
    systems = [system(name, rows_of(30, seed=i)) for i, name in enumerate(names)]
    page = written(tmp_path, systems)
    assert all(
        f"<h3>{letter}: {name}</h3>" in page for letter, name in zip("AB", names, strict=True)
    )
    assert columns(script(page, "TABLES")["failures_quality"])[1:3] == ["n A", "mean A"]


def test_what_the_judge_and_the_replay_could_not_do_is_told(tmp_path):
    questions = {"total": 3, "YES": 1, "PARTIAL": 0, "NO": 1, "failed": 1, "incomplete": 1}
    passages = {"total": 9, "ok": 6, "failed": 2, "not_asked": 1, "YES": 1, "PARTIAL": 0, "NO": 5}
    judge = {
        "model": "m<1>", "language_model": None,
        "systems": {"SEAL": {"questions": questions, "passages": passages}},
        "failures": [{"reason": "no answer in 2 attempts", "passages": 2}],
    }  # fmt: skip
    replayed = [{"questions": 20, "of": 30, "mode": "seal", "beams": 15, "as_searched": False}]
    seal = system("SEAL", rows_of(30, seed=6))
    page = written(tmp_path, [seal], judge=judge, replayed=replayed)
    assert "Judged by m&lt;1&gt;: 6 of 9 passages got a verdict, <b>2 failed</b>" in page
    assert "<b>1 were not asked about</b>; 1 questions might have a better verdict" in page
    assert "2 passages: no answer in 2 attempts" in page
    assert "Replayed: 20 of 30 questions with positives, 15 beams, seal; how the search" in page
