"""A command is struck at one of its writes, run again, and compared.

By kills, full disks, mounts that go away, clocks that jump.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.faults.server import Outcome
from benchmarks.faults.shim import Fault
from benchmarks.faults.states import States
from benchmarks.faults.values import Values, differences, leftovers, values_of

RAW = re.compile(r"Traceback|This is a fault of Argus|core dumped")
"""What a person never is to see."""
NO_FILES = (Fault.FULL, Fault.GONE)
"""Faults that end a command with a message that names the path."""
CLOCK = (Fault.BEHIND, Fault.AHEAD)
"""Faults that a command does not notice."""


@dataclass
class Tally:
    """What became of the tries of one command under one fault.

    lost: the same command did not end well afterwards. wrong: it did, and a value differs from that
    of a run that nothing struck. escaped: a raw error, or a message without a path. left: temporary
    files after it.
    """

    command: str
    fault: str
    writes: int = 0
    tries: int = 0
    lost: int = 0
    wrong: int = 0
    escaped: int = 0
    left: int = 0
    notes: list[str] = field(default_factory=list)

    def note(self, n: int, what: str) -> None:
        """Keep what went wrong at the n-th write, of the first few."""
        if len(self.notes) < 6:
            self.notes.append(f"write {n}: {what[:300]}")

    def record(self) -> dict[str, Any]:
        """Return it for a JSON file."""
        return asdict(self)


@dataclass(frozen=True)
class Whole:
    """A run that nothing struck: what it leaves, and how many writes it made, of each kind.

    apart: places in which a second run differs: what is by chance or of the moment.
    """

    values: Values
    writes: int
    filling: int
    apart: frozenset[str] = frozenset()


def whole(states: States, name: str) -> Whole:
    """Run a command's example as it stands, and once more on a disk that fills up at no write."""
    states.restore(name)
    counted = states.start(name, Fault.COUNT)
    if counted.code:
        raise RuntimeError(f"{name} ended with {counted.code}: {counted.text[-1500:]}")
    values = values_of(states.run)
    states.restore(name)
    filling = states.start(name, Fault.FULL, 1 << 40)
    apart = frozenset(differences(values_of(states.run), values))
    return Whole(values, counted.writes, filling.writes, apart)


def moments(n: int, most: int, seed: int) -> list[int]:
    """Return at most so many of the writes 1 to n, drawn one from each equal part."""
    if n <= most:
        return list(range(1, n + 1))
    draw = random.Random(seed)
    ends = [part * n // most for part in range(most + 1)]
    return [draw.randint(first + 1, last) for first, last in itertools.pairwise(ends)]


def strike_command(
    states: States, name: str, fault: Fault, at: Sequence[int], undisturbed: Whole
) -> Tally:
    """Strike a command at each of these writes; say what was lost, wrong, raw and left behind."""
    tally = Tally(name, fault.name.lower(), undisturbed.writes)
    for n in at:
        states.restore(name)
        struck = states.start(name, fault, n)
        tally.tries += bool(struck.code) or struck.writes >= n  # else it ended before its moment
        if escape := _escape(struck, fault):
            tally.escaped += 1
            tally.note(n, f"{escape}: {struck.text[-250:]}")
        if struck.code:
            _again(states, name, n, undisturbed, tally)
        else:  # nobody runs again what ended well
            _look(states, n, undisturbed, tally)
    return tally


def _escape(struck: Outcome, fault: Fault) -> str:
    """Return in what way an end is none that a command may have, "" where it is one."""
    if RAW.search(struck.text):
        return "raw"
    if (fault in NO_FILES and struck.code not in (0, 2)) or (fault in CLOCK and struck.code):
        return f"exit {struck.code}"
    if fault in NO_FILES and struck.code == 2 and not _names_a_path(struck.text):
        return "no path"
    return ""


def _again(states: States, name: str, n: int, undisturbed: Whole, tally: Tally) -> None:
    again = states.start(name)
    if again.code:
        tally.lost += 1
        tally.note(n, f"again, exit {again.code}: {again.text[-250:]}")
        if RAW.search(again.text):
            tally.escaped += 1
        return
    _look(states, n, undisturbed, tally)


def _look(states: States, n: int, undisturbed: Whole, tally: Tally) -> None:
    """Count a folder whose values are not those of a run that nothing struck, and what is left."""
    try:
        differing = differences(values_of(states.run), undisturbed.values, undisturbed.apart)
    except Exception as error:
        differing = [f"unreadable: {error!r}"]
    if differing:
        tally.wrong += 1
        tally.note(n, f"differ: {', '.join(differing[:4])}")
    if there := leftovers(states.run):
        tally.left += 1
        tally.note(n, f"left: {', '.join(there[:3])}")


def _names_a_path(text: str) -> bool:
    return re.search(r"argus: [^ ]*[/\w.-]+", text) is not None


def summed(tallies: Iterable[Tally]) -> Tally:
    """Return the sums of some tallies."""
    total = Tally("all", "")
    for one in tallies:
        for name in ("writes", "tries", "lost", "wrong", "escaped", "left"):
            setattr(total, name, getattr(total, name) + getattr(one, name))
    return total
