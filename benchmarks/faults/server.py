"""A process that has imported Argus and forks one child per command: seconds are saved per try.

It is started under the library of `benchmarks.faults.shim`; a line of JSON in, one out.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from benchmarks.faults.shim import Fault, build, strike, writes

LONGEST_S = 300
POLL_S = 0.01
MARK = "\nwrites: "


@dataclass(frozen=True)
class Try:
    """One run of a command. folder: where it runs, and below which faults strike."""

    words: list[str]
    folder: str
    fault: int = int(Fault.NONE)
    n: int = 0


@dataclass(frozen=True)
class Outcome:
    """How it ended. code: minus the signal where one killed it. writes: where it counted them."""

    code: int
    text: str
    writes: int
    seconds: float


class Server:
    """The client's side of the process."""

    def __init__(self) -> None:
        environment = os.environ | {"LD_PRELOAD": str(build()), "COLUMNS": "200"}
        environment |= {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "ARGUS_TRACEBACK": ""}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.faults.server"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def run(self, one: Try) -> Outcome:
        """Run a command in a child of the process."""
        return self.together([one])[0]

    def together(self, tries: Sequence[Try]) -> list[Outcome]:
        """Run commands at once, each in a child of the process."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps([asdict(one) for one in tries]) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs commands has ended")
        return [Outcome(**outcome) for outcome in json.loads(line)]

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


def _child(one: Try, told: int) -> None:
    """Run the command line in this process; never returns."""
    os.chdir(one.folder)
    os.dup2(told, 1)
    os.dup2(told, 2)
    sys.stdout = os.fdopen(1, "w", buffering=1, closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, closefd=False)
    sys.argv = ["argus", *one.words]
    from argus.cli.main import main

    code, before = 0, set(sys.modules)
    strike(Fault(one.fault), one.n, Path(one.folder))
    try:
        main()
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else 1
    counted = writes()
    strike(Fault.NONE, 0, Path(one.folder))
    print(MARK, counted, *sorted(sys.modules.keys() - before), flush=True)
    os._exit(code)


@dataclass
class _Running:
    """A child, and the file into which it tells what it tells."""

    child: int
    told: IO[str]
    start: float

    @classmethod
    def of(cls, one: Try) -> _Running:
        told = TemporaryFile("w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        start = time.monotonic()
        child = os.fork()
        if child == 0:
            os.setpgid(0, 0)
            _child(one, told.fileno())
        return cls(child, told, start)

    def outcome(self) -> Outcome:
        """Wait for its end; what takes too long is killed."""
        late = ""
        for _ in range(int(LONGEST_S / POLL_S)):  # not by the clock: a machine may stand still
            child, status = os.waitpid(self.child, os.WNOHANG)
            if child:
                break
            time.sleep(POLL_S)
        else:
            with suppress(ProcessLookupError):
                os.killpg(self.child, signal.SIGKILL)
            status, late = os.waitpid(self.child, 0)[1], f"Traceback: not done in {LONGEST_S} s"
        self.told.seek(0)
        text = self.told.read() + late
        self.told.close()
        text, mark, told = text.rpartition(MARK)
        if not mark:
            text, told = told, "0"
        counted, *imported = told.split()
        if imported:
            _import(imported)
        seconds = round(time.monotonic() - self.start, 2)
        return Outcome(os.waitstatus_to_exitcode(status), text[-4000:], int(counted), seconds)


def _import(names: Iterable[str]) -> None:
    """Import what a child imported, so that the next one need not; no child's collector visits it.

    Without `gc.freeze` each child's first full collection copies every page of this process.
    """
    for name in names:
        with suppress(Exception):  # of extras
            import_module(name)
    gc.freeze()


def _warm_up() -> None:
    """Import and load what commands do, so that a child begins where they do their work."""
    import pkgutil

    import numpy as np
    import torch

    import argus
    from argus.encoders import EncoderConfig, load_encoder, precision
    from argus.generative.index.suffixes import suffix_array
    from argus.indexes.table import import_lancedb
    from argus.reports import html

    modules = (module.name for module in pkgutil.walk_packages(argus.__path__, "argus."))
    _import(name for name in modules if not name.endswith("__main__"))
    import_lancedb()
    torch.set_num_threads(1)
    precision.CANDIDATES = ()  # no number format is timed, so that results are the same to the bit
    _keep_encoders()
    load_encoder(EncoderConfig())
    suffix_array(np.arange(3, dtype=np.int32), 3)  # what compiles kernels wakes up slowly
    pages = html._environment()
    for template in pages.list_templates("j2"):
        if "service" not in template:  # whose pages have filters of their own
            pages.get_template(template)
    gc.collect()
    gc.freeze()


def _keep_encoders() -> None:
    """Have an encoder loaded once, whatever its configuration says of the precision."""
    from argus.encoders import load

    once = cache(load._sentence_transformer)
    load._sentence_transformer = lambda config, precision: once(
        replace(config, precision=precision), precision
    )


def main() -> None:
    """Warm up, then serve until the input ends."""
    warnings.simplefilter("ignore")  # LanceDB warns of forks, and mends itself in the child
    _warm_up()
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    for line in sys.stdin:
        running = [_Running.of(Try(**one)) for one in json.loads(line)]
        outcomes = [asdict(one.outcome()) for one in running]
        answers.write(json.dumps(outcomes) + "\n")
    os._exit(0)  # libraries that it imported say at an end what they leak


if __name__ == "__main__":
    main()
