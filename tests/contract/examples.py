"""Runs each command's example once, as it stands, in a folder of its own."""

import contextlib
import io
import multiprocessing
import os
import re
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing import forkserver
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from argus.authority.benchmarks import makers
from argus.cli.main import main
from tests.support import vectors
from tests.support.console import forget_chroma
from tests.support.example_runs import COMMANDS, EXAMPLES, FOLLOWS, arguments, prepare


@dataclass(frozen=True)
class Ran:
    """A command that ended. folder: where it ran; before: the same folder as it was before it."""

    folder: Path
    before: Path
    code: int
    out: str
    err: str
    renames: int


@dataclass
class Examples:
    """Commands' examples, each in a copy of the folder that what it follows has left."""

    home: Path
    source: Path
    vectors: Path
    url: str
    ran: dict[str, Ran] = field(default_factory=dict)
    ended: dict[str, Ran] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Start what kills are forked from: it imports while the first examples run."""
        FORKS.set_forkserver_preload([__name__, *PRELOADED])
        forkserver.ensure_running()

    def after(self, name: str) -> Ran:
        """Return a command's example as it ran, with what comes before it; each runs once."""
        if name not in self.ran:
            earlier = self.after(FOLLOWS[name]).folder if name in FOLLOWS else self.home / "files"
            before = self.home / "before" / name.replace(" ", "-")
            prepare(name, before, earlier, self.source)
            folder = self.home / "after" / name.replace(" ", "-")
            shutil.copytree(before, folder)
            with contextlib.chdir(folder), _ended(name):
                words, counted = arguments(name, self.url), RENAMES.counted
                code, out, err = invoke(words)
            self.ran[name] = Ran(folder, before, code, out, err, RENAMES.counted - counted)
        return self.ran[name]

    def again(self, name: str, place: str, *more: str) -> Ran:
        """Run a command's example, with more words, in a place of its own: it may be there."""
        first = self.after(name)
        folder = self.copy(name, place)
        with contextlib.chdir(folder):
            code, out, err = invoke([*arguments(name, self.url), *more])
        return Ran(folder, first.before, code, out, err, 0)

    def copy(self, name: str, place: str) -> Path:
        """Return a folder as a command's example finds it, copied the first time."""
        folder = self.home / place / name.replace(" ", "-")
        if not folder.is_dir():
            shutil.copytree(self.after(name).before, folder)
        return folder

    def resumed(self, name: str) -> Ran:
        """Kill a command's example at half of its files, and run it to its end, once.

        With --json where it has that. One that puts fewer than two files in place is only run.
        """
        if name not in self.ended:
            if (renames := self.after(name).renames) > 1:
                self.kill(name, "resumed", renames // 2 + 1)
            has_json = any("--json" in option.opts for option in COMMANDS[name].params)
            self.ended[name] = self.again(name, "resumed", *["--json"] * has_json)
        return self.ended[name]

    def kill(self, name: str, place: str, at: int) -> None:
        """Kill a command's example as it puts its `at`-th file in place."""
        folder = self.copy(name, place)
        with contextlib.chdir(folder):
            words = arguments(name, self.url)
        given = str(folder), self.vectors, words, at
        process = FORKS.Process(target=_until_killed, args=given)
        process.start()
        process.join(180)
        if process.exitcode is None:
            process.kill()
        # a training that writes by the clock may end with fewer files than the one that was counted
        assert process.exitcode in (-signal.SIGKILL, 0), (name, process.exitcode)


class _Renames:
    """Counts the files that this process puts in place; kills it at one of them."""

    def __init__(self) -> None:
        self.counted, self.fatal = 0, 0
        sys.addaudithook(self._heard)

    def _heard(self, event: str, _: Any) -> None:
        if event == "os.rename":
            self.counted += 1
            if self.counted == self.fatal:
                os.kill(os.getpid(), signal.SIGKILL)


# What most commands import: a process that is killed begins with it, and with this module.
PRELOADED = ["tests.contract.preloaded", "pandas", "sklearn.pipeline", "numba",
             "transformers.models.bart.modeling_bart"]  # fmt: skip
RENAMES, FORKS = _Renames(), multiprocessing.get_context("forkserver")
# Of the 1,000 questions of FinSuperQA.
FEWER = patch.object(makers, "PAIRS", 100)


def _until_killed(folder: str, kept: Path, words: list[str], at: int) -> None:
    """Run a command in a process that the fork server has made: see PRELOADED."""
    os.chdir(folder)
    sys.argv = ["argus", *words]
    with FEWER, pytest.MonkeyPatch.context() as patch:
        vectors.make_once(patch, kept)
        RENAMES.counted, RENAMES.fatal = 0, at
        main()


def invoke(words: list[str]) -> tuple[int, str, str]:
    """Run a command as `argus` runs it, in this process; return its exit code and both outputs."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    forget_chroma()
    argv = patch.object(sys, "argv", ["argus", *words])
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), argv, FEWER:
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return code, out.getvalue(), err.getvalue()


@contextlib.contextmanager
def _ended(name: str) -> Iterator[None]:
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
