import re

import pytest

import argus
from argus.generative.failures.report import span
from tests.support.failure_rows import rows_of, system, written
from tests.support.pages import tables


def figures(tmp_path):
    return argus.reports.figure_dicts(tmp_path / "out")


def columns(table):
    return [c["name"] for c in table["columns"]]


ONE_PROBLEM = [{"what": "a passage listed twice", "count": 12, "first": "question q7, rank 3"}]


def two_systems(n=120):
    return [
        system("SEAL", rows_of(n, seed=1), problems=ONE_PROBLEM),
        system("MINDER", rows_of(n, seed=2, queries=1)),
    ]


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
    assert columns(found["failures_quality"]) == ["measure", "questions", "mean", "95%"]
    overlap = told["figures"]["generation"]["t06_overlap_deciles"]
    decile = overlap["rows"][2]
    shown = found["failures_t06_overlap_deciles"]["rows"][2]
    assert shown[:2] == [3, span(decile[1], decile[2])]
    assert shown[-2:] == pytest.approx(decile[5:7], abs=1e-3)
    line = figures(tmp_path)["failures_t06_overlap_deciles"]["data"]
    assert [trace["name"] for trace in line] == ["hits@1", "hits@10"]
    assert line[0]["y"][2] == decile[5]
    assert f"Mean {overlap['mean']:.3f}, σ {overlap['sigma']:.3f}." in page
    verdicts = [row[0] for row in found["failures_t10_verdicts"]["rows"]]
    assert verdicts == ["YES", "PARTIAL", "NO", "no verdict"]
    keys = [row[0] for row in found["failures_t17_keys"]["rows"]]
    assert keys == ["correct alone", "others alone", "both"]


def test_text_from_files_is_never_markup(tmp_path):
    page = written(tmp_path, [system("<i>x</i>", rows_of(30, seed=5))])
    for tag in ("<b>song", "<i>x"):
        assert tag not in page
