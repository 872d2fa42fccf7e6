"""The example that each command's help opens with: it is there, and it runs as it stands.

An example may need what others write: each runs in a copy of the folder that `FOLLOWS` names.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner

from argus.cli.main import app
from tests.conftest import Endpoint, serving
from tests.support.example_runs import COMMANDS, EXAMPLES, FOLLOWS, arguments, prepare
from tests.support.examples import answer, write_files

SLOW = {"argus demo": "it does what most others do"}
"""Left out while editing, and why."""


@dataclass(frozen=True)
class Ran:
    folder: Path
    code: int
    output: str


@pytest.fixture(scope="module")
def after(
    tmp_path_factory: pytest.TempPathFactory, shared: Callable[[str], Path]
) -> Iterator[Callable[[str], Ran]]:
    """Return what runs a command's example, and what comes before it, once."""
    home, source = tmp_path_factory.mktemp("examples"), shared("fb15k237")
    (home / "files").mkdir()
    write_files(home / "files", source)
    endpoint = Endpoint()
    endpoint.behave = answer

    @cache
    def run(name: str) -> Ran:
        earlier = run(FOLLOWS[name]).folder if name in FOLLOWS else home / "files"
        folder = home / name.replace(" ", "-")
        prepare(name, folder, earlier, source)
        with contextlib.chdir(folder), ended(name):
            return invoke(name, folder, url)

    with serving(endpoint) as url:
        yield run


@contextlib.contextmanager
def ended(name: str) -> Iterator[None]:
    """Ask a service for its page as soon as it is there, and end it as a person does."""
    if name != "argus serve":
        yield
        return
    address = re.search(r"--port (\d+)", EXAMPLES[name])
    assert address is not None
    page = f"http://127.0.0.1:{address[1]}/"
    answers: list[int] = []
    over = threading.Event()

    def ask() -> None:
        until = time.monotonic() + 60
        while not answers and time.monotonic() < until:
            with contextlib.suppress(httpx.TransportError):
                answers.append(httpx.get(page, follow_redirects=True).status_code)
            if over.wait(0.05):
                return  # it did not even begin
        os.kill(os.getpid(), signal.SIGINT)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield
    finally:
        over.set()
        asking.join()
    assert answers == [200]


def invoke(name: str, folder: Path, url: str) -> Ran:
    """Run an example in the working directory, with the URL and the remedy that are there."""
    ran: Any = CliRunner().invoke(app, arguments(name, url))
    told = "".join(traceback.format_exception(ran.exception)) if ran.exception else ""
    return Ran(folder, ran.exit_code, ran.output + told)


def test_every_command_has_an_example_of_one_line() -> None:
    assert not [name for name, line in EXAMPLES.items() if line is None]
    assert not [line for line in EXAMPLES.values() if len(line) > 110 or "\n" in line]
    assert all(line.startswith(f"{name} ") for name, line in EXAMPLES.items())


def test_only_commands_follow_and_are_slow() -> None:
    assert {*FOLLOWS, *FOLLOWS.values(), *SLOW} <= set(COMMANDS)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in EXAMPLES]
)
def test_an_example_runs_as_it_stands(name: str, after: Callable[[str], Ran]) -> None:
    ran = after(name)
    assert ran.code == 0, ran.output
    for path in re.findall(r"--out (\S+)", EXAMPLES[name]):
        assert any((ran.folder / path).iterdir())
