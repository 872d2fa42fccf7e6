"""Work for engines to do; workers import it by name."""

import os
import signal
import time
from pathlib import Path

import numpy as np

from argus.errors import InputError


def norms(matrix):
    """Sums of squares of rows: floating point, so that the engines can be compared to the bit."""
    return lambda rows: np.einsum("ij,ij->i", matrix[rows], matrix[rows])


def dying(shared):
    """Kill the process on the blocks named, `times` times each; note every block that is begun."""
    folder, victims, times = shared

    def step(block):
        with Path(f"{folder}.begun").open("a") as log:
            log.write(f"{block}\n")
        seen = Path(folder) / f"{block}"
        deaths = len(seen.read_text()) if seen.exists() else 0
        if block in victims and deaths < times:
            seen.write_text("x" * (deaths + 1))
            os.kill(os.getpid(), signal.SIGKILL)
        return block * 10

    return step


def failing_at_start(_):
    raise InputError("no model", expected="a model", fix="Load one.", where="--model")


def failing(_):
    def step(block):
        if block == "input":
            raise InputError("7 legs", expected="4", fix="Count again.", where=Path("dogs.tsv"))
        return block

    return step


def arrays(shared):
    """What the arrays of `shared` are here."""

    def about(array):
        filename = getattr(array, "filename", None)
        return (
            type(array).__name__,
            None if filename is None else Path(filename).name,
            bool(array.flags.writeable),
            float(array.sum()),
        )

    return lambda _: [about(array) for array in shared]


def pids(_):
    def step(_):
        time.sleep(0.05)
        return os.getpid()

    return step
