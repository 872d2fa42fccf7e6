import json

import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from argus.errors import InputError


def run(*options: str):
    return CliRunner().invoke(app, ["plan", *options], catch_exceptions=False)


def test_the_papers_scale_is_planned_step_by_step_with_its_bottleneck():
    result = run("--entities", "7e6", "--dim", "1024", "--neighbours", "20")
    lines = result.stdout.splitlines()
    assert "7,000,000 entities x 1024" in lines[0] and "among 20,000" in lines[0]
    steps = ["load and ground", "encode", "relation graph", "rank", "score and write", "in all"]
    assert [line.split("  ")[0] for line in lines[2:8]] == steps
    assert lines[8].startswith("bottleneck: ")


def test_machines_read_the_same_plan_as_json():
    result = run("--entities", "1e5", "--price", "0.1", "--wikipedia-gb", "23", "--json")
    planned = json.loads(result.stdout)
    assert planned["steps"][0]["name"] == "read the dumps"
    assert planned["seconds"] == pytest.approx(sum(s["seconds"] for s in planned["steps"]))
    assert planned["cost"] == pytest.approx(planned["seconds"] / 3600 * 0.1)
    assert planned["workload"]["candidates"] == 20_000 and planned["fits"]


def test_what_does_not_fit_is_said_with_what_to_do():
    result = run("--entities", "1e9")
    assert "does not fit: " in result.stdout and "--sample" in result.stdout


def test_a_file_that_is_not_there_is_told():
    with pytest.raises(InputError, match="one of two-cores"):
        run("--hardware", "nowhere.json")
