"""One cluster of two cores on loopback for all of these tests, and one that an engine starts."""

import os
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from argus.engine import EngineConfig, Work, open_engine
from argus.engine.local import AHEAD
from argus.errors import InputError
from tests.engine import steps

pytestmark = pytest.mark.slow
pytest.importorskip("ray.exceptions", reason="pip install 'argus-retrieval[ray]'")
STORE = 200 << 20
ROOT = Path(__file__).parents[2]


def members(session):
    """Pids of the processes of a session, which is what a cluster of these tests has for itself."""
    pids = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                pids.add(int(path.parent.name))
    return pids


def assert_gone(session, within_s=60.0):
    until = time.monotonic() + within_s
    while left := members(session):
        assert time.monotonic() < until, f"processes left: {left}"
        time.sleep(0.1)


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The address of a cluster that was started by hand."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    log = tmp_path_factory.mktemp("ray") / "log"
    command = [
        *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
        *(f"--port={port}", "--num-cpus=2", "--include-dashboard=false"),
        f"--object-store-memory={STORE}",
    ]
    env = os.environ | {
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_USAGE_STATS_ENABLED": "0",
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]),
    }
    with log.open("w") as out:
        head = subprocess.Popen(command, stdout=out, stderr=out, env=env, start_new_session=True)
    until = time.monotonic() + 120
    while "Ray runtime started" not in log.read_text():
        assert head.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.2)
    yield f"127.0.0.1:{port}"
    head.terminate()
    head.wait(60)
    assert_gone(head.pid)


@pytest.fixture(scope="module")
def engine(address):
    with open_engine(EngineConfig(name="ray", address=address)) as engine:
        yield engine


def run(engine, setup, blocks, shared=None, **options):
    return dict(engine.run(Work(setup=setup, shared=shared, what="testing", **options), blocks))


def test_a_cluster_returns_what_this_process_does_to_the_bit(engine):
    matrix = np.random.default_rng(0).normal(size=(5_000, 33))
    blocks = [np.arange(i, i + 500) for i in range(0, 5_000, 500)]
    with open_engine(EngineConfig(workers=1)) as single:
        here = run(single, steps.norms, blocks, matrix)
    there = run(engine, steps.norms, blocks, matrix)
    assert sorted(there) == list(range(10))
    for number, norms in here.items():
        np.testing.assert_array_equal(there[number], norms)
        assert there[number].flags.writeable


def test_errors_come_through_as_they_were_and_the_engine_goes_on(engine):
    with pytest.raises(InputError, match=r"dogs.tsv: 7 legs; expected 4\. Count again\.") as caught:
        run(engine, steps.failing, ["input"])
    assert (caught.value.where, caught.value.got) == (Path("dogs.tsv"), "7 legs")
    with pytest.raises(InputError, match="no model"):
        run(engine, steps.failing_at_start, [1])
    assert run(engine, steps.echo, ["again"]) == {0: "again"}


def test_a_killed_actor_costs_nothing_but_its_blocks(engine, tmp_path):
    shared = (str(tmp_path), {3, 4}, 1)
    got = list(engine.run(Work(setup=steps.dying, shared=shared, what="testing"), range(30)))
    assert sorted(got) == [(n, n * 10) for n in range(30)]
    assert {path.name for path in tmp_path.iterdir()} == {"3", "4"}
    begun = Counter(Path(f"{tmp_path}.begun").read_text().split())
    again = {block: times - 1 for block, times in begun.items() if times > 1}
    assert len(begun) == 30 and {"3", "4"} <= again.keys()
    assert sum(again.values()) <= 2 * AHEAD  # what two dead workers had in hand


def test_a_consumer_that_stops_ends_the_actors(engine):
    results = engine.run(Work(setup=steps.pids, shared=None, what="x"), range(1000))
    pids = {next(results)[1] for _ in range(6)}
    results.close()
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.05)
