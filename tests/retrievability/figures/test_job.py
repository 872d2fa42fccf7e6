import json
import re

import numpy as np
import plotly.graph_objects as go
import pyarrow.parquet as pq
import pytest

import argus
from argus.errors import InputError
from argus.retrievability.figures.measuring import oriented
from argus.retrievability.geometry import Projection
from tests.support.pages import tables
from tests.support.results import shown, sizes

POOLS = (20, 40, 80, 160)


@pytest.fixture(scope="module")
def result(audits, tmp_path_factory):
    named = [f"{name}={folder}" for name, folder in audits.items()]
    return argus.audit_figures(named, out=tmp_path_factory.mktemp("figures"))


def of(result, name):
    return next(one for one in result.summary["retrievers"] if one["name"] == name)


def test_k_and_pools_are_those_of_the_first_audit(result):
    assert (result.summary["k"], result.summary["pools"]) == (10, [*POOLS])
    assert result.summary["shared"] == 240


def test_at_the_audits_own_setting_scores_are_the_audits(result, audits):
    for name, folder in audits.items():
        audited = pq.read_table(folder / "retrievability.parquet").to_pylist()
        panels = result.panels.to_pylist()
        rps = {r["id"]: r["rps"] for r in panels if (r["retriever"], r["N"]) == (name, 160)}
        assert rps == pytest.approx({row["id"]: row["rps"] for row in audited})
        assert of(result, name)["mean_rps"] == pytest.approx(np.mean(list(rps.values())), abs=1e-6)


def test_at_another_setting_scores_are_those_of_an_audit_at_it(result, audits, tmp_path):
    """The figures rank nothing: an audit that is asked for N=40 at once says the same."""
    from tests.retrievability.figures.conftest import BLURS, Hazy, write_base

    again = argus.audit(
        write_base(tmp_path), out=tmp_path / "out", encoder=Hazy("fair", BLURS["fair"]),
        config=argus.AuditConfig(k=(10,), pool=(40,), pooling="sentence"),
    )  # fmt: skip
    panel = next(p for p in of(result, "fair")["panels"] if p["pool"] == 40)
    assert panel["mean_rps"] == pytest.approx(again.summary["mean_rps"], abs=1e-6)
    assert panel["groups"]["counts"] == again.summary["bands"]


def test_reach_falls_with_competition_and_rises_with_k(result):
    for one in result.summary["retrievers"]:
        assert np.all(np.diff(one["over_pool"]["mean"]) < 0)
        assert np.all(np.diff(one["over_k"]["mean"]) > 0)
        low = [panel["groups"]["counts"]["low"] for panel in one["panels"]]
        assert low == sorted(low) and low[0] < low[-1]
    means = [of(result, name)["mean_rps"] for name in ("keen", "fair", "dull")]
    assert means == sorted(means, reverse=True)


def test_curves_are_in_a_table_with_the_setting_of_each_point(result):
    rows = result.table.to_pylist()
    over_k = [r for r in rows if (r["figure"], r["retriever"]) == ("5", "keen")]
    assert [r["k"] for r in over_k] == list(range(1, 101)) and {r["N"] for r in over_k} == {160}
    at = next(r for r in over_k if r["k"] == 10)
    assert at["mean_rps"] == pytest.approx(of(result, "keen")["mean_rps"], abs=1e-6)
    over_pool = [r["N"] for r in rows if (r["figure"], r["retriever"]) == ("3", "dull")]
    assert set(POOLS) <= set(over_pool)


def test_figure_2_is_of_the_lowest_and_the_highest_and_6_of_all(result):
    def rows(name):
        figure = go.Figure(json.loads((result.folder / "figures" / f"{name}.json").read_text()))
        return [a.text for a in figure.layout.annotations if a.text.startswith("<b>")]

    assert rows("figure-2") == ["<b>keen</b>", "<b>dull</b>"]
    assert rows("figure-6") == ["<b>keen</b>", "<b>fair</b>", "<b>dull</b>"]


def test_panels_draw_every_group_where_the_table_says(result):
    figure = json.loads((result.folder / "figures" / "figure-6.json").read_text())
    points = [t for t in figure["data"] if t["type"] == "scattergl"]
    assert len(points) == 3 * len(POOLS) * 3
    first = result.panels.filter(
        [r == "keen" and n == 20 and g == "high" for r, n, g in zip(
            *(result.panels[c].to_pylist() for c in ("retriever", "N", "group")), strict=True
        )]
    )  # fmt: skip
    drawn = next(t for t in points if t["name"] == "high RPS")
    assert drawn["x"] == pytest.approx(first["x"].to_numpy().round(2).tolist())
    heights = [t for t in figure["data"] if t.get("fill") == "tozeroy"]
    counted = sum(sum(t["y"]) for t in heights[:3])
    inside = result.panels.filter(
        [r == "keen" and n == 20 and abs(x) <= 3.6 for r, n, x in zip(
            *(result.panels[c].to_pylist() for c in ("retriever", "N", "x")), strict=True
        )]
    )  # fmt: skip
    assert counted == inside.num_rows


def test_the_report_shows_all_figures(result):
    page = result.report.read_text()
    plots = set(re.findall(r'data-plot="([^"]+)"><svg', page))
    assert plots == {"figure-1", "figure-2", "figure-3", "figure-5", "figure-6"}
    assert len(tables(page)["panel_figures"]["rows"]) == 3 * len(POOLS)
    assert "<h1>Retrievers compared</h1>" in page and "keen, fair, dull" in page
    assert "All scored the same 240 entities" in page


def test_a_result_shows_itself(result, monkeypatch):
    lines = shown(result)
    assert lines[0] == "RPS at k=10, N=160; groups: bands"
    assert sizes(result, monkeypatch) == {"table": 3 * (100 + 5), "panels": 3 * 4 * 240}


def test_terciles_hold_a_third_each_at_every_n(audits, tmp_path):
    config = argus.FigureConfig(groups="terciles", pools=(40, 160), k=5, shown=30)
    result = argus.audit_figures([audits["keen"]], out=tmp_path, config=config)
    (one,) = result.summary["retrievers"]
    assert one["name"] == "keen" and result.summary["k"] == 5
    for panel in one["panels"]:
        assert list(panel["groups"]["counts"].values()) == pytest.approx([80] * 3, abs=8)
        assert panel["groups"]["low_up_to"] < panel["groups"]["high_from"]
    assert sum(result.panels["shown"].to_pylist()) == 2 * 30
    assert not (tmp_path / "figures" / "figure-2.json").exists()
    assert "terciles" in result.report.read_text()


def test_low_lies_to_the_left_and_mid_above():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(90, 2)) * 0.1 + np.repeat([[4, 2], [0, -3], [-4, 2]], 30, axis=0)
    groups = np.repeat(["low", "mid", "high"], 30)
    turned = oriented(Projection(points, "LDA"), groups)
    assert turned.mean(axis=0) == pytest.approx([0, 0], abs=1e-9)
    assert turned.std(axis=0) == pytest.approx([1, 1])
    assert turned[groups == "low", 0].max() < turned[groups == "high", 0].min()
    assert turned[groups == "mid", 1].min() > turned[groups != "mid", 1].max()


def test_what_is_wrong_is_said_and_how_to_mend_it(audits, tmp_path):
    keen, fair = audits["keen"], audits["fair"]
    cases = [
        ([], {}, "AUDITS: no audit; expected folders"),
        ([tmp_path], {}, "no audit in it"),
        ([f"a={keen}", f"a={fair}"], {}, "two retrievers of the name 'a'"),
        ([keen], {"k": 30, "pools": (20, 40)}, "--k: k=30 with N=20; expected k <= N"),
        ([keen], {"pools": (500,)}, "--pools: N=500, for which keen has no pair"),
    ]
    for audits_, settings, message in cases:
        with pytest.raises(InputError) as error:
            argus.audit_figures(
                audits_, out=tmp_path / "out", config=argus.FigureConfig(**settings)
            )
        assert message in str(error.value)
        assert not (tmp_path / "out").exists()
    with pytest.raises(InputError, match="--pools: 0; expected candidates N"):
        argus.FigureConfig(pools=(0,))


def test_audits_of_one_encoder_are_called_by_their_folders(audits, tmp_path):
    again = tmp_path / "again"
    again.symlink_to(audits["keen"])
    result = argus.audit_figures([audits["keen"], again], out=tmp_path / "out")
    names = [one["name"] for one in result.summary["retrievers"]]
    assert names == [str(audits["keen"]), str(again)]
