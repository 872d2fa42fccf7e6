import json
import re

import pytest

import argus
from argus.generative.failures.analyse import analyse_failures
from argus.generative.failures.report import span
from argus.reports import write_report
from tests.generative.failures.golden.twelve import records
from tests.support.failures import write_output


@pytest.fixture
def shown(tmp_path):
    """Analyse outputs: the page, its tables, its charts, and the figures of the first."""

    def show(**outputs):
        files = [write_output(tmp_path / f"{name}.json", outputs[name]) for name in outputs]
        out = tmp_path / "-".join(outputs)
        summary = analyse_failures(files, out=out).summary
        page = write_report(out).read_text()
        tables = json.loads(re.search(r'id="tables">(.*?)</script>', page, re.DOTALL)[1])
        return page, tables, argus.reports.figure_dicts(out), summary["systems"][0]["figures"]

    return show


def nothing_measured():
    return [{"id": "a", "question": "who?", "ctxs": [{"id": "p", "text": "x"}]}] * 3


def test_every_value_fits_its_column_and_every_chart_a_place(shown):
    twelve = records()
    twelve[0]["ctxs"].append(twelve[0]["ctxs"][0])  # a problem to tell
    for outputs in ({"a": twelve}, {"a": twelve, "b": records()[::-1]}, {"c": nothing_measured()}):
        page, tables, figures, _ = shown(**outputs)
        for name, table in tables.items():
            kinds = [c["kind"] for c in table["columns"]]
            assert len({c["name"] for c in table["columns"]}) == len(kinds), name
            for row in table["rows"]:
                for value, kind in zip(row, kinds, strict=True):
                    if kind == "said":
                        text, value = value or ("", None)
                        assert isinstance(text, str), (name, row)
                    fits = str if kind in ("text", "lines") else int | float
                    assert value is None or isinstance(value, fits), (name, row)
        assert sorted(re.findall(r'data-plot="([^"{]+)"', page)) == sorted(figures)
        assert set(re.findall(r'data-table="([^"{]+)"', page)) <= set(tables)


def test_what_is_shown_is_what_was_counted(shown):
    page, tables, figures, counted = shown(a=records())
    # hits@1 of 0, 1, 6, 8, 10 among the eleven that are judged; failed are 4 and 5.
    assert "<b>45.5%</b><span>hits@1</span>" in page
    assert "<b>2</b><span>questions failed; 4 late, 5 found first</span>" in page
    quality = tables["failures_quality"]
    assert [c["name"] for c in quality["columns"]] == ["measure", "questions", "mean", "95%"]
    assert {row[0]: row[1:3] for row in quality["rows"]}["hits@1"] == [
        11,
        pytest.approx(5 / 11, 1e-3),
    ]
    overlap = counted["generation"]["t06_overlap_deciles"]
    decile = overlap["rows"][2]
    row = tables["failures_t06_overlap_deciles"]["rows"][2]
    assert row[:2] == [3, span(decile[1], decile[2])]
    assert row[-2:] == pytest.approx(decile[5:7], abs=1e-3)
    line = figures["failures_t06_overlap_deciles"]["data"]
    assert [trace["name"] for trace in line] == ["hits@1", "hits@10"]
    assert line[0]["y"][2] == decile[5]
    assert f"Mean {overlap['mean']:.3f}, σ {overlap['sigma']:.3f}." in page
    keys = [row[0] for row in tables["failures_t17_keys"]["rows"]]
    assert keys == ["correct alone", "others alone", "both"]


def test_text_from_files_is_never_markup(shown):
    page, *_ = shown(
        **{"<i>x": [{**one, "question": f"<b>song {n}?"} for n, one in enumerate(records())]}
    )
    for tag in ("<b>song", "<i>x"):
        assert tag not in page
