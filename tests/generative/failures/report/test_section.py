import re

import pytest

import argus
from argus.generative.failures.references import references
from argus.generative.failures.report.section import brief
from argus.generative.failures.report.specs import SHOWN
from argus.generative.failures.report.tables import span
from argus.generative.failures.tables import SECTIONS
from argus.generative.failures.taxonomy import taxonomy
from tests.support.failure_rows import COMPARISON, K, rows_of, system, written
from tests.support.pages import tables


def figures(tmp_path):
    return argus.figure_dicts(tmp_path / "out")


def columns(table):
    return [c["name"] for c in table["columns"]]


OF_ONE_OR_NONE = {"taxonomy", "missing", "query_ngrams", "positives_histogram"}
NOT_SHOWN: dict[str, str] = {}
"""Tables that the page leaves out: (table -> why)."""
ONE_PROBLEM = [{"what": "a passage listed twice", "count": 12, "first": "question q7, rank 3"}]


def two_systems(n=120):
    return [
        system("SEAL", rows_of(n, seed=1), problems=ONE_PROBLEM),
        system("MINDER", rows_of(n, seed=2, queries=1), broken="it ends within a record"),
    ]


def test_two_systems_stand_side_by_side_in_every_table(tmp_path):
    page = written(tmp_path, two_systems(), comparison=COMPARISON)
    found = tables(page)
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
        [
            "hits@1",
            120,
            ["0.400", 0.4],
            ["0.500", 0.5],
            "+0.100 (+0.020\u00a0to\u00a0+0.180)",
            "0.012",
        ],
        ["different tokens", 9, ["0.500", 0.5], ["0.500", 0.5], "+0.000", "1.000"],
    ]
    assert "3 questions are only in SEAL, 0 only in MINDER" in page


def nothing_measured():
    return [system("bm25", rows_of(12, seed=3, bare=True))]


def test_every_value_fits_its_column_and_every_chart_a_place(tmp_path):
    for i, systems in enumerate((two_systems(), two_systems()[1:], nothing_measured())):
        page = written(tmp_path / str(i), systems)
        for name, table in tables(page).items():
            kinds = [c["kind"] for c in table["columns"]]
            assert len(set(columns(table))) == len(kinds), name
            for row in table["rows"]:
                assert len(row) == len(kinds), name
                for value, kind in zip(row, kinds, strict=True):
                    if kind == "said":
                        text, value = value or ("", None)
                        assert isinstance(text, str), (name, row)
                    fits = str if kind in ("text", "lines") else int | float
                    assert value is None or isinstance(value, fits), (name, row)
        shown = re.findall(r'data-plot="([^"{]+)"', page)
        assert sorted(shown) == sorted(figures(tmp_path / str(i)))
        assert set(re.findall(r'data-table="([^"{]+)"', page)) <= set(tables(page))


def test_every_table_of_the_analysis_is_on_the_page(tmp_path):
    (told, _) = seal = system("SEAL", rows_of(80, seed=4))
    made = {(part, name) for part in SECTIONS for name in told["figures"][part]}
    shown = [(s.part, s.name) for s in SHOWN]
    assert len(shown) == len(set(shown))
    assert set(shown) == {(part, name) for part, name in made if name not in NOT_SHOWN}
    page = written(tmp_path, [seal])
    placed = set(re.findall(r'data-(?:table|plot)="([^"{]+)"', page))
    assert set(tables(page)) <= placed


def test_what_is_shown_is_what_was_counted(tmp_path):
    (told, _) = seal = system("SEAL", rows_of(80, seed=4))
    page = written(tmp_path, [seal])
    found = tables(page)
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
    line = figures(tmp_path)["failures_t06_overlap_deciles"]["data"]
    assert [trace["name"] for trace in line] == ["hits@1", "hits@10"]
    assert line[0]["y"][2] == decile[5]
    overlap = told["figures"]["generation"]["t06_overlap_deciles"]
    assert f"Mean {overlap['mean']:.3f}, σ {overlap['sigma']:.3f}." in page
    titles = told["figures"]["scoring"]["t15_title_repetition"]["rows"]
    line = figures(tmp_path)["failures_t15_title_repetition"]["data"]
    assert [trace["name"] for trace in line] == ["hits@1", "hits@10"]
    assert line[1]["x"] == [row[0] for row in titles]
    assert line[1]["y"] == [row[5] for row in titles]
    verdicts = [row[0] for row in found["failures_t10_verdicts"]["rows"]]
    assert verdicts == ["YES", "PARTIAL", "NO", "no verdict"]
    keys = [row[0] for row in found["failures_t17_keys"]["rows"]]
    assert keys == ["correct alone", "others alone", "both"]


def test_modes_stand_in_one_order_in_charts_and_table(tmp_path):
    systems = two_systems()
    page = written(tmp_path, systems)
    plots, found = figures(tmp_path), tables(page)["failures_modes"]
    names = [row[0] for row in found["rows"]]
    for i, (told, _) in enumerate(systems):
        failed, success = plots[f"failures_modes_{i}"]["data"]
        assert failed["y"] == success["y"] == names
        modes = {mode["name"]: mode for mode in told["modes"]}
        assert failed["x"] == [modes[name]["among_failed"] for name in names]
        assert success["customdata"] == [modes[name]["measured_found"] for name in names]
        assert [row[2 + 4 * i][1] for row in found["rows"]] == failed["x"]
    of_first = [m["name"] for m in systems[0][0]["modes"] if m["among_failed"] is not None]
    assert names[: len(of_first)] == of_first
    assert set(names[len(of_first) :]) <= {m["name"] for m in systems[1][0]["modes"]}


def test_questions_are_ordered_by_outcome_and_say_why_in_words(tmp_path):
    systems = two_systems()
    systems[1][1].pop(0)  # a question that the second system was not asked
    page = written(tmp_path, systems)
    found = tables(page)["failures_questions"]
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
    lines = rows[long["query_id"]][3].split("\n")
    assert [line[:2] for line in lines[:-1]] == ["1.", "2.", "3.", "4."]
    assert lines[-1] == f"and {len(long['modes']) - 4} more"


def test_a_broken_file_is_named_at_the_top(tmp_path):
    page = written(tmp_path, two_systems(), needs=["no index was given: <--corpus-index>"])
    assert "/data/MINDER.json is broken: it ends within a record" in page
    assert "Only the 120 questions before the break" in page
    assert page.index("is broken") < page.index("hits@1")
    assert tables(page)["failures_problems"]["rows"] == [
        ["a passage listed twice", 12, "question q7, rank 3", None, None]
    ]
    assert "no index was given: &lt;--corpus-index&gt;" in page


def test_text_from_files_is_never_markup(tmp_path):
    page = written(tmp_path, [system("<i>x</i>", rows_of(30, seed=5), broken="<u>cut</u>")])
    for tag in ("<b>song", "<i>x", "<u>cut"):
        assert tag not in page


def test_where_nothing_applies_the_page_says_what_to_give(tmp_path):
    page = written(tmp_path, nothing_measured())
    found = tables(page)
    assert figures(tmp_path) == {}
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


def test_what_one_system_lacks_has_columns_and_a_reason(tmp_path):
    page = written(tmp_path, two_systems())
    found = tables(page)
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
    assert columns(tables(page)["failures_quality"])[1:3] == ["n A", "mean A"]


def test_what_the_judge_and_the_replay_could_not_do_is_told(tmp_path):
    questions = {"total": 3, "YES": 1, "PARTIAL": 0, "NO": 1, "failed": 1, "incomplete": 1}
    passages = {"total": 9, "ok": 6, "failed": 2, "not_asked": 1, "YES": 1, "PARTIAL": 0, "NO": 5}
    judge = {
        "model": "m<1>", "language_model": None,
        "systems": {"SEAL": {"questions": questions, "passages": passages}},
        "failures": [{"reason": "no answer in 2 attempts", "passages": 2}],
    }  # fmt: skip
    replayed = [
        {"questions": 20, "of": 30, "mode": "seal", "beams": 15, "as_searched": False,
         "same": 11, "compared": 12}
    ]  # fmt: skip
    seal = system("SEAL", rows_of(30, seed=6))
    page = written(tmp_path, [seal], judge=judge, replayed=replayed)
    assert "Judged by m&lt;1&gt;: 6 of 9 passages got a verdict, <b>2 failed</b>" in page
    assert "<b>1 were not asked about</b>; 1 questions might have a better verdict" in page
    assert "2 passages: no answer in 2 attempts" in page
    assert "Replayed: 20 of 30 questions with positives, 15 beams, seal; where the output" in page
    assert 'the same rank in 11 of 12; <a href="#failures_missing">it is not known' in page


def test_an_ablation_that_switched_nothing_off_says_so(tmp_path):
    systems = [system(n, rows_of(60, seed=i, queries=i)) for i, n in enumerate(("SEAL", "MINDER"))]
    found = tables(written(tmp_path, systems))["failures_ablations"]
    names = columns(found)
    for row in found["rows"]:
        told = dict(zip(names, row, strict=True))
        nothing = told["without"] == "pseudo-queries"
        assert (told["change SEAL"] == "no such n-gram") == nothing
        assert (told["p SEAL"] == "–") == (told["improved / harmed SEAL"] == "–") == nothing
        assert "no such" not in told["change MINDER"]
        assert told["p MINDER"] != "–"
    by_key = {tuple(row[:2]): dict(zip(names, row, strict=True)) for row in found["rows"]}
    rows = rows_of(60, seed=1, queries=1)
    harmed = sum(row["hit_1_without_titles"] < row["hit_1"] for row in rows)
    assert by_key["titles", "hits@1"]["improved / harmed MINDER"] == f"0\u00a0/\u00a0{harmed}"


def test_correlations_say_how_many_are_small_by_chance(tmp_path):
    page = written(tmp_path, [system("SEAL", rows_of(60, seed=4))])
    found = tables(page)["failures_correlations"]
    assert columns(found) == ["indicator", "with", "n", "ρ", "95%", "p"]
    assert {row[2] for row in found["rows"]} == {60}
    tested = sum(row[5] != "–" for row in found["rows"])
    assert f"{tested} p-values are shown; about 2 of them would be below 0.05" in page


def test_the_brief_names_the_first_mode_of_failed_questions():
    told, _ = system("SEAL", rows_of(60, seed=4))
    mode = {"among_failed": 9 / 14, "measured_failed": 14, "leading": 0}
    none = {"name": "N", "among_failed": None, "measured_failed": 0, "leading": 0}
    never = {"name": "0", "among_failed": 0.0, "measured_failed": 20, "leading": 99}
    told["modes"] = [none, never, {"name": "X", **mode}, {"name": "Y", **mode, "leading": 9}]
    assert brief([told], K).endswith("; “X” holds for 9 of 14 failed questions measured")
    told["modes"] = [none, never]
    assert brief([told], K).endswith("in the first 10")


def test_questions_of_two_systems_are_paired_by_pair(tmp_path):
    systems = two_systems(40)
    for (_, diagnosis), mark in zip(systems, ("a", "b"), strict=True):
        for row in diagnosis:
            row["pair"], row["query_id"] = row["query_id"], f"{mark}-{row['query_id']}"
    systems[1][1][0]["pair"] = "of its own"
    systems[1][1][2]["pair"] = systems[1][1][1]["pair"]  # twice in one system
    rows = tables(written(tmp_path, systems))["failures_questions"]["rows"]
    by_id = {row[0]: row for row in rows}
    assert len(rows) == 42
    assert by_id["a-q3"][4] != "not asked"
    assert by_id["a-q0"][4] == "not asked"
    assert by_id["b-q0"][2] == "not asked"
    assert by_id["b-q2"][2] == by_id["a-q2"][4] == "not asked"


def test_cited_works_are_named_and_linked_in_the_taxonomy(tmp_path):
    page = written(tmp_path, two_systems(20))
    found = tables(page)["failures_taxonomy"]
    see = {row[0]: row[4] for row in found["rows"]}
    (unigrams,) = (mode for mode in taxonomy() if mode.id == "too-many-unigrams")
    assert "[35]" in unigrams.reference
    assert "Yuan et al. 2024 [35]" in see[unigrams.name]
    assert page.count("<li>") >= len(references())
    for work in references().values():
        assert work.short in page
        if work.url:
            assert f'<a href="{work.url}">' in page


@pytest.mark.parametrize("hit", [0, 1])
def test_a_run_in_which_nothing_or_all_was_found_has_a_page(tmp_path, hit):
    rows = [row for row in rows_of(200, seed=7) if row["hit_k"] == hit]
    if hit:
        rows = [row | {name: None for name in row if name.startswith(("pruned", "rank_"))}
                for row in rows]  # fmt: skip
    page = written(tmp_path, [system("SEAL", rows)])
    modes = tables(page)["failures_modes"]
    side = columns(modes).index("failed" if hit else "found")
    assert {tuple(row[side]) for row in modes["rows"]} == {("–", None)}
    assert ("False pruning" in [row[0] for row in modes["rows"]]) == (not hit)
