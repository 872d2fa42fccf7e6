import json

import pytest
import typer
from typer.testing import CliRunner

from argus.cli import engine as cli
from argus.engine import EngineConfig
from argus.engine.check import check_engine
from argus.engine.verdict import Check, NodeCheck, words_of
from argus.errors import ArgusError

app = typer.Typer()
app.add_typer(cli.app, name="engine")


def invoke(*arguments):
    return CliRunner().invoke(app, ["engine", "check", *map(str, arguments)])


def test_this_machine_can_work(tmp_path):
    check = check_engine(EngineConfig(workers=2), tmp_path)
    assert check.good
    assert check.verdict == "good: 2 workers on 1 machine"
    (node,) = check.nodes
    assert 0 < node["latency_ms"] < 10_000
    assert node["mib_per_s"] > 1
    assert words_of(node).startswith("this machine")
    assert words_of(node).endswith(": good")


def test_the_command_says_it_in_words_and_as_json(tmp_path):
    result = invoke("--engine", "local", "--workers", 1, "--path", tmp_path / "none")
    assert result.exit_code == 2
    assert "it does not see" in result.output
    assert result.output.splitlines()[-1].startswith("not good: 1 of 1 machines cannot work")
    result = invoke("--engine", "local", "--workers", 1, "--path", tmp_path, "--json")
    assert result.exit_code == 0
    summary = json.loads(result.output)
    assert summary["good"]
    assert summary["nodes"][0]["sees"]


def test_an_address_that_does_not_answer_is_an_error():
    result = invoke("--address", "127.0.0.1:1")
    assert isinstance(result.exception, ArgusError)
    assert "no Ray cluster answers at 127.0.0.1:1" in str(result.exception)


@pytest.mark.parametrize(
    ("workers", "problems", "verdict"),
    [
        (0, [None], "not good: no machine has cores for workers"),
        (4, [None, "a cannot import argus"], "not good: 1 of 2 machines cannot work"),
        (4, [None, None], "good: 4 workers on 2 machines"),
    ],
)
def test_the_verdict_is_the_worst_of_all_machines(workers, problems, verdict):
    nodes = tuple(NodeCheck(address="a", cores=2, problem=problem) for problem in problems)
    check = Check(engine={"workers": workers}, nodes=nodes)
    assert check.verdict.startswith(verdict)
    assert check.good == verdict.startswith("good")
    assert json.loads(json.dumps(check.summary))["good"] == check.good
