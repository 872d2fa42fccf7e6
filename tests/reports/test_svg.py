"""Figures as SVG: marks lie where their values say, and nothing of a text becomes markup."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest

import argus
from argus.reports import figures
from argus.reports.svg import svg
from argus.reports.svg.marks import MOST_TITLED
from argus.reports.svg.scale import fitted, ticks

NAMESPACE = "{http://www.w3.org/2000/svg}"


def parsed(figure):
    return ET.fromstring(str(svg(figure, "a figure")))


def of(kind, root):
    return [e for e in root.iter() if e.tag.removeprefix(NAMESPACE) == kind]


def test_bars_are_as_tall_as_their_values():
    figure = figures.framed(
        [{"type": "bar", "x": ["a", "b", "c"], "y": [10, 20, 40]}], "", "", {}, yrange=[0, 40]
    )
    heights = [float(rect.get("height")) for rect in of("rect", parsed(figure))]
    assert heights[1] == pytest.approx(2 * heights[0], abs=0.2)
    assert heights[2] == pytest.approx(4 * heights[0], abs=0.2)


def test_stacked_bars_stand_on_each_other_and_grouped_ones_beside():
    bars = [{"type": "bar", "x": ["a"], "y": [n], "name": str(n)} for n in (10, 30)]
    low, high = of("rect", parsed(figures.framed(bars, "", "", {"barmode": "stack"})))
    bottom = float(high.get("y")) + float(high.get("height"))
    assert bottom == pytest.approx(float(low.get("y")), abs=0.2)
    one, two = of("rect", parsed(figures.framed(bars, "", "", {"barmode": "group"})))
    assert float(two.get("x")) == pytest.approx(
        float(one.get("x")) + float(one.get("width")), abs=0.2
    )


def test_a_point_says_what_it_is_and_very_many_do_not():
    def points(n):
        trace = {
            "type": "scattergl", "mode": "markers", "x": list(range(n)), "y": [1] * n,
            "text": [f"<b>{i}" for i in range(n)],
            "hovertemplate": "%{text}: %{x:,}<extra>x</extra>",
        }  # fmt: skip
        return parsed(figures.framed([trace], "", "", {}))

    few = points(3)
    assert [t.text for t in of("title", few)] == ["<b>0: 0", "<b>1: 1", "<b>2: 2"]
    assert len(of("circle", few)) == 3
    many = points(MOST_TITLED + 1)
    assert not of("circle", many)
    assert any(p.get("d").count("h0") == MOST_TITLED + 1 for p in of("path", many))


def test_log_axes_and_reversed_categories():
    log = fitted([1, 100], {"type": "log"}, 0, 100, from_zero=False)
    assert log.pixel(10) == pytest.approx(50)
    assert [word for _, word in ticks(log, {}, 10)] == ["1", "10", "100"]
    names = fitted(["a", "b"], {"autorange": "reversed"}, 100, 0, from_zero=False)
    assert names.pixel("a") < names.pixel("b")  # the first at the top


def test_empty_and_constant_values_are_drawn():
    for values in ([], [3.0], [3.0, 3.0]):
        trace = {"type": "scatter", "mode": "lines", "x": list(range(len(values))), "y": values}
        assert parsed(figures.framed([trace], "x", "y", {})).get("viewBox")


def test_hostile_names_stay_words():
    trace = {
        "type": "scatter",
        "x": [0, 1],
        "y": [0, 1],
        "name": "</svg><script>",
        "showlegend": True,
    }
    text = str(svg(figures.framed([trace], "<i>", '"', {}), '"><script>'))
    assert "<script>" not in text and ET.fromstring(text) is not None


def test_ink_and_grid_follow_the_page():
    curve = {"values": [10, 20], "mean": [0.2, 0.4], "share_above_half": [0.1, 0.3]}
    text = str(svg(figures.share_over_k(curve, 10, 100), ""))
    assert "currentColor" in text and figures.INK not in text and figures.GRID not in text


def test_every_kind_of_figure_of_the_reports_is_drawn():
    rng = np.random.default_rng(0)
    from argus.retrievability.probes.section import density, residuals

    drawn = [
        figures.distribution({"edges": [0, 0.5, 1], "entities": [3, 4]}, 10, 100),
        figures.projection(
            rng.random((6, 2)), ["low", "mid", "high"] * 2, list("abcdef"), [0.1] * 6
        ),
        figures.lorenz([0, 0.2, 1], 0.4),
        density(rng.random(50), rng.random(50)),
        residuals(rng.normal(0, 0.3, 50)),
    ]
    for figure in drawn:
        root = parsed(figure)
        assert len(of("path", root)) + len(of("rect", root)) + len(of("circle", root)) > 2


def test_a_value_that_no_figure_can_show_is_refused(tmp_path):
    from argus.reports.html import _Drawn

    with pytest.raises(ValueError, match="JSON"):
        _Drawn({"a": figures.lorenz([0, float("inf")], 0.1)})


def test_the_figures_of_a_folder_are_plotlys_in_python(tmp_path):
    from tests.runs.test_record import expose

    expose(tmp_path)
    drawn = argus.figure_dicts(tmp_path)
    assert list(drawn) == ["lorenz"] and drawn["lorenz"]["data"][0]["type"] == "scatter"
    pytest.importorskip("plotly")
    figure = argus.plotly_figures(tmp_path)["lorenz"]
    assert list(figure.data[0].y) == drawn["lorenz"]["data"][0]["y"]
