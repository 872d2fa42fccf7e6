"""The workflows of docs/ci.md are YAML, and the commands in them run as they stand."""

import contextlib
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from argus.cli.main import app
from tests.support.examples import documents, write_rows

PAGE = Path(__file__).parents[2] / "docs" / "ci.md"
BLOCKS = re.findall(r"```yaml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def lines_of(block):
    """Return the shell lines of a workflow, in order."""
    content = yaml.safe_load(block)
    if "jobs" in content:
        return [step["run"] for step in content["jobs"]["argus"]["steps"] if "run" in step]
    return content["argus"]["script"]


def run(line, folder):
    """Run a line of the workflow: Argus in this process, the rest in a shell."""
    if line.startswith("pip "):
        return 0
    inner = re.search(r"argus [^;]+", line)
    if inner is None:
        environment = {"CI_COMMIT_BRANCH": "main", "CI_DEFAULT_BRANCH": "main",
                       "GITHUB_STEP_SUMMARY": "step.md", "PATH": "/usr/bin:/bin"}  # fmt: skip
        return subprocess.run(["bash", "-ec", line], cwd=folder, env=environment).returncode
    if "[ -d baseline ]" in line and not (folder / "baseline").is_dir():
        return 0
    ran = CliRunner().invoke(app, shlex.split(inner[0])[1:])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.output
    return ran.exit_code


@pytest.mark.parametrize("number", [0, 1], ids=["github", "gitlab"])
def test_a_workflow_runs_twice_and_passes_against_itself(number, tmp_path, shared):
    write_rows(tmp_path / "docs.jsonl", documents(shared("fb15k237"))[:24])
    lines = lines_of(BLOCKS[number])
    assert sum("argus " in line for line in lines) >= 2
    with contextlib.chdir(tmp_path):
        for again in (False, True):
            for line in lines:
                if not again and ("gate" in line or "summary.md" in line):
                    continue  # there is no baseline yet
                assert run(line, tmp_path) == 0, line
    assert (tmp_path / "junit.xml").is_file() and (tmp_path / "baseline/summary.json").is_file()
    assert "Argus gate: pass" in (tmp_path / "summary.md").read_text()
