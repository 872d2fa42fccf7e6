import pytest

from argus.scenarios.ablation.section import components_by_weight


def row(component, weight, value, verdict="better"):
    comparison = {
        "mean_difference": value - 0.2, "low": None, "high": None, "p_value": 1.0, "improved": 3,
        "harmed": 1, "verdict": verdict, "no_interval": "no query changed",
    }  # fmt: skip
    return {
        "component": component, "lambda": weight, "measures": {"m": value},
        "comparison": comparison,
    }  # fmt: skip


CELLS = [row("M", 0.0, 0.5), row("M", 0.7, 0.1, ""), row("E", 0.0, 0.3), row("E", 0.7, 0.2)]


def test_cells_stand_at_component_and_weight_with_difference():
    figure = components_by_weight(CELLS[::-1], "m", 0.2, [])
    heat = figure["data"][0]
    assert (heat["y"], heat["x"]) == (["E", "M"], ["0", "0.7"]), "as they come, by λ"
    assert heat["z"] == [[0.1, 0.0], [0.3, -0.1]]
    assert heat["text"] == [["0.300", "0.200"], ["0.500", "(0.100)"]], "brackets: no verdict"
    assert heat["zmin"] == -heat["zmax"] == -0.3, "white is no difference"
    assert "no interval: no query changed" in heat["customdata"][0][0]
    assert "3 improved, 1 harmed" in heat["customdata"][0][0]


def test_chosen_cells_are_framed_where_they_stand():
    marked = [
        ({"component": "E", "lambda": 0.7}, "solid"),
        ({"component": "M", "lambda": 0.0}, "dot"),
    ]
    shapes = components_by_weight(CELLS, "m", 0.2, marked)["layout"]["shapes"]
    centres = [((s["x0"] + s["x1"]) / 2, (s["y0"] + s["y1"]) / 2) for s in shapes]
    assert centres == [(1, 1), (0, 0)]
    assert [s["line"]["dash"] for s in shapes] == ["solid", "dot"]


def test_a_grid_in_which_nothing_changes_has_no_colour():
    heat = components_by_weight([row("M", 1.0, 0.2)], "m", 0.2, [])["data"][0]
    assert heat["z"] == [[0.0]] and heat["zmax"] == pytest.approx(0.01)
