"""Figures as SVG: marks lie where their values say, and nothing of a text becomes markup."""

from xml.etree import ElementTree as ET

import pytest

from argus.reports import figures
from argus.reports.svg import fitted, svg, ticks

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


def test_log_axes_and_reversed_categories():
    log = fitted([1, 100], {"type": "log"}, 0, 100)
    assert log.pixel(10) == pytest.approx(50)
    assert [word for _, word in ticks(log, {"tickvals": [1, 10, 1000]}, 10)] == ["1", "10"]
    names = fitted(["a", "b"], {"autorange": "reversed"}, 100, 0)
    assert names.pixel("a") < names.pixel("b")  # the first at the top


def test_hostile_names_stay_words():
    data = {"type": "scatter", "x": [0, 1], "y": [0, 1]}
    trace = data | {"name": "</svg><script>"}
    text = str(svg(figures.framed([trace, trace], "<i>", '"', {}), '"><script>'))
    assert "<script>" not in text and ET.fromstring(text) is not None
