"""Two at once on one folder, every command with itself, and those that meet on an index."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from benchmarks.faults.server import Outcome, Try
from benchmarks.faults.states import States
from benchmarks.faults.strikes import RAW, Tally, whole
from benchmarks.faults.values import Values, differences, leftovers, values_of

ON_AN_INDEX = (
    "argus index add", "argus index delete", "argus remedy expand", "argus remedy blend",
    "argus remedy scenarios", "argus evaluate", "argus repair",
)  # fmt: skip
"""Commands that change or measure one index; each starts from what `index build` leaves."""
SEARCHES = 8
WAITS = (
    "another run",
    "in use",
    "another process",
    "is being",
    "holds it",
    "in it already",
    "rolled back already",
)
"""How a command says that it was not first."""


def pairs() -> list[tuple[str, str]]:
    """Return the commands that meet on an index, two and two."""
    return list(itertools.combinations(ON_AN_INDEX, 2))


def twice(states: States, name: str) -> Tally:
    """Run a command twice at once; then the folder is as one run leaves it, or two in turn.

    One may be refused, and ends well when it is run again, where a second run in turn does.
    """
    undisturbed = whole(states, name)
    tally = _together(states, name, [name, name])
    try:
        values = values_of(states.run)
    except Exception as error:
        tally.wrong += 1
        tally.note(0, f"unreadable: {error!r}")
        return tally
    differing = differences(values, undisturbed.values, undisturbed.apart)
    if differing or tally.lost:
        second, in_turn = _in_turn(states, name)
        if second.code:
            tally.lost = 0
        if differing and (differing := differences(values, in_turn, undisturbed.apart)):
            tally.wrong += 1
            tally.note(0, f"differ: {', '.join(differing[:4])}")
    return tally


def _in_turn(states: States, name: str) -> tuple[Outcome, Values]:
    """Return how a second run ends after a first, and what both leave."""
    states.restore(name)
    states.start(name)
    return states.start(name), values_of(states.run)


def met(states: States, one: str, other: str) -> Tally:
    """Run two commands at once on one index; each ends well, at once or when it is run again."""
    tally = _together(states, one, [one, other])
    tally.command = f"{one} | {other.removeprefix('argus ')}"
    try:
        values_of(states.run)
    except Exception as error:
        tally.wrong += 1
        tally.note(0, f"unreadable: {error!r}")
    return tally


def searched(states: States) -> Tally:
    """Search an index from eight processes while one adds to it and one compacts it."""
    states.restore("argus index add")
    search = Try(["search", "rivers", "--index", "index/"], str(states.run))
    writers = [
        Try(states.words("argus index add"), str(states.run)),
        Try(["index", "compact", "--index", "index/"], str(states.run)),
    ]
    outcomes = states.server.together([*writers, *[search] * SEARCHES])
    tally = Tally("argus search, 8 of them | index add | index compact", "together")
    tally.tries = len(outcomes)
    for outcome in outcomes[2:]:
        if outcome.code:
            tally.lost += 1
            tally.note(0, outcome.text[-250:])
    for outcome in outcomes:
        _look(outcome, tally)
    return tally


def _together(states: States, first: str, names: Sequence[str]) -> Tally:
    states.restore(first)
    tries = [Try(states.words(name), str(states.run)) for name in names]
    outcomes = states.server.together(tries)
    tally = Tally(first, "together", tries=len(tries))
    for one, outcome in zip(tries, outcomes, strict=True):
        _look(outcome, tally)
        if outcome.code and not any(word in outcome.text for word in WAITS):
            tally.escaped += 1
            tally.note(0, f"exit {outcome.code}: {outcome.text[-250:]}")
        if outcome.code:
            again = states.server.run(one)
            _look(again, tally)
            if again.code:
                tally.lost += 1
                tally.note(0, f"again, exit {again.code}: {again.text[-250:]}")
    if there := leftovers(states.run):
        tally.left += 1
        tally.note(0, f"left: {', '.join(there[:3])}")
    return tally


def _look(outcome: Outcome, tally: Tally) -> None:
    if RAW.search(outcome.text):
        tally.escaped += 1
        tally.note(0, f"raw: {outcome.text[-250:]}")
