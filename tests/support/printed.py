"""The commands that Argus prints, in lines, verdicts, reports and pages, each run as it stands."""

import html
import re
import shlex
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient
from typer.testing import CliRunner

import argus
from argus.cli.main import app
from argus.service.app import create_app
from argus.service.workplace import open_workplace
from tests.support.served import service

PAGES = ("overview", "why-not", "documents", "questions", "repairs", "authority")
LINE = re.compile(r"(?:^| )(argus [a-z]+ .*)$")
SHOWN = re.compile(r'<div class="copy"><code>(.*?)</code>', re.DOTALL)
CAPITALS = re.compile(r"\b[A-Z]{2,}\b")


def run(line: str) -> str:
    """Run a line of commands in process; return what it prints."""
    printed = ""
    for part in line.split(" && "):
        words = shlex.split(part)
        assert words[0] == "argus", line
        if words[1] == "serve":
            with service(*words[2:]):
                continue
        ran: Any = CliRunner().invoke(app, words[1:])
        gated = words[1] == "gate" and "verdict: " in ran.output  # of few pairs it says so
        assert ran.exit_code == 0 or gated, (line, ran.output, ran.exception)
        printed += ran.output
    return printed


def printed_in(output: str) -> list[str]:
    """Return the commands among printed lines."""
    return [found[1] for line in output.splitlines() if (found := LINE.search(line))]


def told_of(folder: Path | str) -> list[str]:
    """Return the commands of a folder's verdict and of its pages."""
    verdict = argus.read_verdict(folder)
    lines = [line for line in (verdict.command, *(one.command for one in verdict.actions)) if line]
    return [*lines, *served(folder)]


def served(*folders: Path | str) -> list[str]:
    """Return the commands of all pages of a service over folders."""
    place = open_workplace([Path(folder) for folder in folders])
    names = [*place.results] or ["-"]
    lines = []
    with TestClient(create_app(place), base_url="http://127.0.0.1") as client:
        for page in (f"/page/{name}/{tab}" for name in names for tab in PAGES):
            answer = client.get(page, headers={"accept": "text/html"})
            assert answer.status_code == 200, (page, answer.text)
            lines += [html.unescape(shown) for shown in SHOWN.findall(answer.text)]
    return lines


def run_all(lines: Iterable[str], said: Mapping[str, str]) -> None:
    """Run every command once, where a word in capitals is what a person says.

    said: these words, and no other may be left for a person to say.
    """
    for part in dict.fromkeys(part for line in lines for part in line.split(" && ")):
        assert set(CAPITALS.findall(part)) <= said.keys(), part
        if part.startswith("argus gate NEW --against "):
            shutil.copytree(shlex.split(part)[-1], said["NEW"], dirs_exist_ok=True)
        run(CAPITALS.sub(lambda word: said[word[0]], part))


# What is known to the person alone who reads the command.
SAID = {
    "RECORDS": "policies/policies.jsonl", "RULES": "policies/rules.yaml",
    "MODEL": "all-MiniLM-L6-v2", "URL": "http://127.0.0.1:9/v1", "NEW": "later",
    "WORDS": "copy", "QUESTION": "cost", "OTHER": "other", "SOURCES": "policies",
}  # fmt: skip
# Commands of parts that a project may lack: a store, relations, a model that writes n-grams.
UNTRIED = ("argus check --store STORE", "argus research audit", "argus research generative")


def check(outputs: Iterable[str], said: Mapping[str, str], *without: str) -> None:
    """Run what these outputs, and all folders of results in the current one, print.

    without: beginnings of further commands that are left out. What undoes comes last.
    """
    lines = [line for output in outputs for line in printed_in(output)]
    for folder in sorted({path.parent for path in Path().glob("*/summary.json")}):
        lines += told_of(folder)
    lines = [line for line in lines if not line.startswith((*UNTRIED, *without))]
    run_all(sorted(lines, key=lambda line: "tune undo" in line), said)
