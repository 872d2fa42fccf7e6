"""Every command that a verdict can show is one that Argus has, with options that it takes."""

import json
import shlex
import shutil

import pytest
import typer

import argus
from argus.cli.main import app
from argus.verdict.results import Results
from argus.verdict.verdict import KINDS


def parses(line):
    """Parse each command of a line as the command line would; nothing runs."""
    for part in line.split(" && "):
        words = shlex.split(part)
        assert words[0] == "argus"
        command, rest = typer.main.get_command(app), words[1:]
        while hasattr(command, "commands"):
            command, rest = command.commands[rest[0]], rest[1:]
        command.make_context(command.name, list(rest))


SECTIONS = {
    "nothing more": {},
    "lost records": {"reach": {"k": 10, "reachable": 10, "broken": {},
                               "reached": {"asked": 10, "reached": 8, "low": 0.4, "high": 0.9}}},
    "a harmful repair": {"evaluation": {
        "headline": "nDCG@10", "queries": {"total": 9, "measured": 9},
        "comparison": {"nDCG@10": {"verdict": "worse", "mean_difference": -0.1}}}},
    "superseded": {"authority": {
        "k": 10, "documents": {"total": 20, "superseded": 10},
        "proxies": {"text": {"documents": 10, "reachable": 0.2}}}},
    "a log": {"traffic": {
        "k": 10, "superseded": None, "questions": {"different": 9}, "retriever": None,
        "log": {"hash_only": False, "asks": 9, "files": {"log.jsonl": "plain"}, "fields": {},
                "first": None, "last": None},
        "results": {"logged": 7, "answered": 0, "unknown": 2},
        "unmet": {"questions": 9, "largest": [
            {"words": "tide, moon", "questions": 4, "asks": 7,
             "examples": ["why 'spring' tide?"]}]}}},
}  # fmt: skip


@pytest.fixture
def folder(exposed, tmp_path):
    return shutil.copytree(exposed, tmp_path / "with a space")


def test_what_measures_each_count_parses_and_paths_are_quoted(folder):
    for _, measured_by, _ in KINDS.values():
        parses(getattr(Results.of(folder), measured_by))
    assert f"'{folder}'" in argus.read_verdict(folder).actions[-1].command


@pytest.mark.parametrize("name", SECTIONS)
@pytest.mark.parametrize("is_index", [False, True])
def test_every_thing_to_do_parses(folder, name, is_index):
    file = folder / "summary.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | SECTIONS[name]))
    if is_index:
        (folder / "index.json").write_text("{}")
        (folder / "scenarios").mkdir()
    actions = argus.read_verdict(folder).actions
    assert actions
    for action in actions:
        parses(action.command)
