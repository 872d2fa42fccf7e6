"""Both demos on real parts, the first as the README runs it; what they print to try runs."""

import json
import shutil
from pathlib import Path

import pytest

from argus.data.folders import SUMMARY
from argus.demo import job
from argus.errors import InputError
from tests.support import console

pytestmark = pytest.mark.slow


ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def readme(tmp_path_factory):
    """What the README's commands print, in a folder that stays the working one."""
    with pytest.MonkeyPatch.context() as patch:
        home = tmp_path_factory.mktemp("readme")
        shutil.copytree(ROOT / "examples", home / "examples")
        patch.chdir(home)
        yield console.check(ROOT / "README.md")


@pytest.fixture
def shown(readme):
    """The lines of `argus demo`."""
    return readme[0].output.splitlines()


def test_the_readme_prints_what_it_shows(readme):
    assert len(readme) == 6


def test_each_planted_fault_is_named_and_nothing_else_is_lost_or_stale(shown):
    faults = {kind: [line for line in shown if line.startswith(f"  {kind}: ")]
              for kind in ("lost", "stale", "superseded", "missed")}  # fmt: skip
    (stale,) = job.read_corpus(job.DATA / "earlier.jsonl")
    wrong = {"lost": job.LOST, "stale": stale.id, "superseded": job.SUPERSEDED}
    for kind, id_ in wrong.items():
        assert len(faults[kind]) == 1 and id_ in faults[kind][0].split(), faults
    assert " of 59 questions" in faults["missed"][0]


def test_each_command_that_it_prints_runs(shown):
    commands = [line.strip() for line in shown if line.startswith("  argus ")]
    assert [line.split()[1] for line in commands] == ["check", "explain", "authority"]
    drifted, explained, answered = (console.run(line, {}) for line in commands)
    assert (drifted.code, explained.code, answered.code) == (0, 0, 0)
    assert "1 of 299 chunks are stale" in drifted.output
    assert "14 of 59 questions fail" in explained.output
    assert f"in place of {job.SUPERSEDED}" in answered.output


def test_what_ships_with_it_states_its_licence():
    text = (job.DATA / "LICENSE.txt").read_text()
    assert "PYTHON SOFTWARE FOUNDATION LICENSE VERSION 2" in text and "documents.jsonl" in text
    assert sum(file.stat().st_size for file in job.DATA.iterdir()) < 400_000


def test_the_whole_demo_runs_on_its_first_entities(tmp_path):
    result = job.demo(out=tmp_path, full=True, limit=60)
    sections = json.loads((tmp_path / SUMMARY).read_text())
    assert {"audit", "exposure"} <= sections.keys() and list(result.headline())


def test_the_small_demo_refuses_the_settings_of_the_whole_one(tmp_path):
    with pytest.raises(InputError, match="Add --full"):
        job.demo(out=tmp_path / "out", limit=40)
    assert not (tmp_path / "out").exists()
