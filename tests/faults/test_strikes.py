"""A quick draw of the kills and full disks that `make faults` does, and that the shim strikes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.faults.server import Server, Try
from benchmarks.faults.shim import Fault, compiler
from benchmarks.faults.states import States, commands, states
from benchmarks.faults.strikes import moments, strike_command, whole
from benchmarks.faults.together import twice
from benchmarks.faults.values import differences, values_of
from tests.support.example_runs import EXAMPLES

pytestmark = pytest.mark.skipif(compiler() is None, reason="faults are injected by a C library")
DRAWN = "argus index add"


@pytest.fixture(scope="module")
def made(tmp_path_factory, shared) -> Iterator[States]:
    shared("fb15k237")
    with states(tmp_path_factory.mktemp("faults") / "home") as made:
        yield made


def test_moments_are_spread_over_all_writes_and_differ_by_seed():
    assert moments(3, 10, 1) == [1, 2, 3]
    drawn = moments(1000, 10, 1)
    assert [(n - 1) // 100 for n in drawn] == list(range(10)) != drawn
    assert len(set(moments(192, 100, 1))) == 100  # none falls on another
    assert moments(1000, 10, 2) != drawn


def test_every_command_that_writes_is_tried():
    assert len(commands()) >= 50
    assert set(commands()) <= set(EXAMPLES)


def test_a_struck_command_goes_on_and_comes_to_the_same(made):
    undisturbed = whole(made, DRAWN)
    assert undisturbed.writes > 20
    for fault, most in ((Fault.KILL, 2), (Fault.FULL, 1)):
        n = undisturbed.filling if fault is Fault.FULL else undisturbed.writes
        tally = strike_command(made, DRAWN, fault, moments(n, most, 5), undisturbed)
        assert (tally.tries, tally.lost, tally.wrong, tally.escaped) == (most, 0, 0, 0), tally.notes


def test_two_at_once_are_as_one(made):
    tally = twice(made, "argus authority accept")
    assert (tally.lost, tally.wrong, tally.escaped) == (0, 0, 0), tally.notes


def test_the_shim_kills_at_the_nth_write_and_fills_the_disk_from_it_on(made):
    made.restore("argus authority accept")
    counted = made.start("argus authority accept", Fault.COUNT)
    values = values_of(made.run)
    assert counted.code == 0 and counted.writes > 1, counted
    made.restore("argus authority accept")
    assert made.start("argus authority accept", Fault.KILL, 1).code == -9
    assert "edges.jsonl" not in values_of(made.run)
    assert made.start("argus authority accept", Fault.TERM, counted.writes).code == -15
    made.restore("argus authority accept")
    full = made.start("argus authority accept", Fault.FULL, 1)
    assert full.code == 2 and "edges.jsonl: " in full.text and "No space left" in full.text
    assert {name.partition(":")[0] for name in differences(values, {})} == set(values)


def test_the_shim_takes_the_mount_away_and_moves_the_clock(made):
    name = "argus authority accept"
    made.restore(name)
    gone = made.start(name, Fault.GONE, 1)
    assert gone.code == 2 and "edges.jsonl: " in gone.text and "Input/output error" in gone.text
    undisturbed = whole(made, name)
    for fault in (Fault.GONE, Fault.BEHIND, Fault.AHEAD):
        tally = strike_command(made, name, fault, [1, undisturbed.writes], undisturbed)
        assert (tally.lost, tally.wrong, tally.escaped) == (0, 0, 0), tally.notes


def test_a_clock_that_jumps_is_seen_by_the_process(tmp_path):
    import subprocess
    import sys

    from benchmarks.faults.shim import build

    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from benchmarks.faults.shim import Fault, strike\n"
        "before = time.time(), time.monotonic()\n"
        "strike(Fault[sys.argv[1]], 2, Path(sys.argv[2]))\n"
        "file = Path(sys.argv[2]) / 'a'\nfile.write_text('x')\n"
        "print(round((time.time() - before[0]) / 86400), time.monotonic() - before[1] < 60)\n"
    )
    for fault, days in (("AHEAD", "400"), ("BEHIND", "-400")):
        ended = subprocess.run(
            [sys.executable, "-c", program, fault, str(tmp_path)],
            env={"LD_PRELOAD": str(build()), "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        assert ended.stdout.split() == [days, "True"]


def test_the_server_runs_commands_at_once(made):
    assert isinstance(made.server, Server)
    outcomes = made.server.together([Try(["--version"], str(made.home))] * 3)
    assert [outcome.code for outcome in outcomes] == [0, 0, 0]
