"""Both engines on the same work; the cluster has two cores on loopback."""

import os
import signal
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
from argus.errors import ArgusError, InputError
from tests.engine import steps

STORE = 200 << 20
ROOT = Path(__file__).parents[2]


def members(session):
    """Pids of the processes of a session, which is what each parent of these tests has."""
    pids = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, _, own = path.read_text().rpartition(")")[2].split()[:4]
            if int(own) == session and state != "Z":
                pids.add(int(path.parent.name))
    return pids


def assert_gone(left, within_s=60.0):
    until = time.monotonic() + within_s
    while pids := left():
        assert time.monotonic() < until, f"processes left: {pids}"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A cluster that was started by hand, as a configuration."""
    pytest.importorskip("ray.exceptions", reason="pip install 'argus-retrieval[ray]'")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    log = tmp_path_factory.mktemp("ray") / "log"
    command = [
        *(str(Path(sys.executable).with_name("ray")), "start", "--head", "--block"),
        *(f"--port={port}", "--num-cpus=2", "--include-dashboard=false"),
        f"--object-store-memory={STORE}",
    ]
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    env = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONPATH": path}
    with log.open("w") as out:
        head = subprocess.Popen(command, stdout=out, stderr=out, env=env, start_new_session=True)
    until = time.monotonic() + 120
    while "Ray runtime started" not in log.read_text():
        assert head.poll() is None and time.monotonic() < until, log.read_text()
        time.sleep(0.2)
    yield EngineConfig(name="ray", address=f"127.0.0.1:{port}")
    head.terminate()
    head.wait(60)
    assert_gone(lambda: members(head.pid))


@pytest.fixture(scope="module")
def local():
    with open_engine(EngineConfig(workers=2)) as engine:
        yield engine


@pytest.fixture(scope="module")
def ray(cluster):
    with open_engine(cluster) as engine:
        yield engine


@pytest.fixture(params=["local", pytest.param("ray", marks=pytest.mark.slow)])
def engine(request):
    return request.getfixturevalue(request.param)


def run(engine, setup, blocks, shared=None, **options):
    work = Work(setup=setup, shared=shared, what="testing", **options)
    return dict(engine.run(work, blocks))


def test_workers_return_what_this_process_does_to_the_bit(engine):
    matrix = np.random.default_rng(0).normal(size=(5_000, 33))
    blocks = [np.arange(i, i + 500) for i in range(0, 5_000, 500)]
    here = [steps.norms(matrix)(rows) for rows in blocks]
    for threaded in (False, True):
        there = run(engine, steps.norms, blocks, matrix, threaded=threaded)
        assert sorted(there) == list(range(10))
        for number, norms in there.items():
            np.testing.assert_array_equal(norms, here[number])
            assert norms.flags.writeable


def test_errors_come_through_as_they_were_and_the_engine_goes_on(engine):
    with pytest.raises(InputError, match=r"dogs.tsv: 7 legs; expected 4\. Count again\.") as caught:
        run(engine, steps.failing, ["fine", "input"])
    error = caught.value
    assert (error.where, error.got, error.expected) == (Path("dogs.tsv"), "7 legs", "4")
    with pytest.raises(InputError, match="no model"):
        run(engine, steps.failing_at_start, range(4))
    assert run(engine, steps.echo, ["again"]) == {0: "again"}


def test_a_block_that_kills_its_worker_ends_the_run_with_advice(local, tmp_path):
    shared = (str(tmp_path), {5}, 1)
    with pytest.raises(ArgusError, match=r"^testing: workers ended .*memory ran out"):
        run(local, steps.dying, range(8), shared)
    assert run(local, steps.dying, range(8), shared)[5] == 50


SCRIPT = """
import signal
from argus.engine import EngineConfig, Work, open_engine
from tests.engine import steps
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    with open_engine(EngineConfig(workers=2)) as engine:
        for _, pid in engine.run(Work(setup=steps.pids, shared=None, what="x"), range(100000)):
            print(pid, flush=True)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_a_killed_parent_leave_no_process(sign, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    parent = subprocess.Popen(
        [sys.executable, tmp_path / "script.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert {int(parent.stdout.readline()) for _ in range(8)} <= members(parent.pid) - {parent.pid}
    if sign == signal.SIGINT:
        os.killpg(parent.pid, sign)  # as a terminal does
    else:
        parent.kill()
    _, stderr = parent.communicate(timeout=60)
    assert_gone(lambda: members(parent.pid))
    if sign == signal.SIGINT:
        assert stderr.count("Traceback") == 1  # the parent's own


def test_memmaps_stay_memmaps_and_large_arrays_are_shared(local, tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(100_000.0).reshape(1_000, 100))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    shared = (rows, rows[10:20], np.asarray(rows)[5:], np.ones(100_000), np.ones(3))
    kinds, files, writeable, sums = zip(
        *run(local, steps.arrays, [None, None], shared)[0], strict=True
    )
    assert kinds == ("memmap", "memmap", "ndarray", "ndarray", "ndarray")
    assert files[:2] == ("rows.npy", "rows.npy")
    assert writeable == (False, False, False, False, True)
    assert sums == tuple(float(array.sum()) for array in shared)


@pytest.mark.slow
def test_a_killed_actor_costs_nothing_but_its_blocks(ray, tmp_path):
    shared = (str(tmp_path), {3, 4}, 1)
    assert run(ray, steps.dying, range(30), shared) == {n: n * 10 for n in range(30)}
    assert {path.name for path in tmp_path.iterdir()} == {"3", "4"}
    begun = Counter(Path(f"{tmp_path}.begun").read_text().split())
    again = {block: times - 1 for block, times in begun.items() if times > 1}
    assert len(begun) == 30 and {"3", "4"} <= again.keys()
    assert sum(again.values()) <= 2 * AHEAD  # what two dead workers had in hand


@pytest.mark.slow
def test_a_consumer_that_stops_ends_the_actors(ray):
    results = ray.run(Work(setup=steps.pids, shared=None, what="x"), range(1000))
    pids = {next(results)[1] for _ in range(6)}
    results.close()
    assert_gone(lambda: {pid for pid in pids if Path(f"/proc/{pid}").exists()})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"name": "dask"}, r"--engine: 'dask'; expected one of local, ray\. Leave it out"),
        ({"address": "auto"}, r"--address: 'auto' for the local engine; .*Add --engine ray"),
        ({"name": "ray", "address": "head"}, r"--address: 'head'; expected host:port .*6379"),
        ({"name": "ray", "address": "http://h:1"}, r"'http://h:1'; expected host:port"),
        ({"workers": 0}, r"--workers: 0; expected a whole number from 1"),
    ],
)
def test_what_does_not_fit_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        EngineConfig(**options)
