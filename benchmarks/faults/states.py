"""The folder in which each command's example runs, made by what comes before it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.faults.server import Outcome, Server, Try
from benchmarks.shared import collection
from tests.conftest import Endpoint, serving
from tests.support.example_runs import EXAMPLES, FOLLOWS, arguments, prepare
from tests.support.examples import answer, write_files

READ_ONLY = (
    "argus search", "argus explain", "argus remedy list", "argus remedy queries", "argus plan",
    "argus engine check", "argus gate", "argus authority search", "argus authority stream",
    "argus authority lint",
)  # fmt: skip
"""Commands that write nothing; the rest are tried."""
ELSEWHERE = ("argus serve",)
"""Does not end by itself: benchmarks.faults.serving kills it while jobs run."""
LONG = ("argus demo", "argus reproduce", "argus suite", "argus audit")
"""Commands whose example takes long; with fewer tries."""


LARGE = ("fairseq", "student", "docs", "docs.db")
"""Inputs that are copied for those commands alone that name them."""


@dataclass
class States:
    """Where commands start from. run: the one folder in which all of them run, at one path."""

    home: Path
    server: Server
    url: str
    made: dict[str, Path] = field(default_factory=dict)

    @property
    def run(self) -> Path:
        """The folder of the command that is under way."""
        return self.home / "run"

    def of(self, name: str) -> Path:
        """Return the folder as it is before a command's example, made once."""
        if name not in self.made:
            earlier = self.after(FOLLOWS[name]) if name in FOLLOWS else self.home / "files"
            folder = self.home / "before" / name.replace(" ", "-")
            prepare(name, folder, earlier, collection("fb15k237"))
            for large in self._large(name):  # what comes before may have done without
                if not (folder / large).exists():
                    _copy(self.home / "files" / large, folder / large)
            self.made[name] = folder
        return self.made[name]

    def after(self, name: str) -> Path:
        """Return the folder as a command's example leaves it, made once."""
        folder = self.home / "after" / name.replace(" ", "-")
        if not folder.is_dir():
            self.restore(name)
            outcome = self.start(name)
            if outcome.code:
                raise RuntimeError(f"{name} ended with {outcome.code}: {outcome.text[-2000:]}")
            shutil.copytree(self.run, folder)
        return folder

    def restore(self, name: str) -> None:
        """Have the folder of the command as it is before it."""
        before = self.of(name)  # which may run what comes before it
        shutil.rmtree(self.run, ignore_errors=True)
        large = set(LARGE) - set(self._large(name))
        shutil.copytree(before, self.run, ignore=shutil.ignore_patterns(*large))

    def start(self, name: str, fault: int = 0, n: int = 0) -> Outcome:
        """Run a command's example there."""
        return self.server.run(Try(self.words(name), str(self.run), fault, n))

    def words(self, name: str) -> list[str]:
        """Return the example's words, with what its folder holds."""
        if name not in self._words:
            with chdir(self.of(name)):
                self._words[name] = arguments(name, self.url)
        return self._words[name]

    def _large(self, name: str) -> list[str]:
        """Return the large inputs that a command's example names."""
        return [large for large in LARGE if f" {large}/" in EXAMPLES[name].replace(":", " ")]

    _words: dict[str, list[str]] = field(default_factory=dict)


def _copy(source: Path, place: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, place)
    else:
        shutil.copyfile(source, place)


@contextmanager
def states(home: Path) -> Iterator[States]:
    """Make the files that examples name, and serve what stands behind their URL."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    (home / "files").mkdir(parents=True)
    write_files(home / "files", collection("fb15k237"))
    endpoint = Endpoint()
    endpoint.behave = answer
    server = Server()
    try:
        with serving(endpoint) as url:
            yield States(home, server, url)
    finally:
        server.close()


def commands() -> list[str]:
    """Return the commands that write, in the order of their groups, long ones last."""
    names = [name for name in EXAMPLES if name not in (*READ_ONLY, *ELSEWHERE)]
    return sorted(names, key=lambda name: name in LONG)
