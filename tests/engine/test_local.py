import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from argus.engine import EngineConfig, Work, open_engine
from argus.errors import ArgusError, InputError
from tests.engine import steps


@pytest.fixture
def engine():
    with open_engine(EngineConfig(workers=2)) as engine:
        yield engine


def run(engine, setup, blocks, shared=None, **options):
    work = Work(setup=setup, shared=shared, what="testing", **options)
    return dict(engine.run(work, blocks))


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def assert_gone(pids, within_s=30.0):
    until = time.monotonic() + within_s
    while any(map(alive, pids)):
        assert time.monotonic() < until, f"processes left: {[p for p in pids if alive(p)]}"
        time.sleep(0.05)


def test_processes_return_what_this_process_does_to_the_bit(engine):
    matrix = np.random.default_rng(0).normal(size=(5_000, 33))
    blocks = [np.arange(i, i + 100) for i in range(0, 5_000, 100)]
    with open_engine(EngineConfig(workers=1)) as single:
        here = run(single, steps.norms, blocks, matrix)
    there = run(engine, steps.norms, blocks, matrix)
    threaded = run(engine, steps.norms, blocks, matrix, threaded=True)
    assert sorted(here) == sorted(there) == sorted(threaded) == list(range(50))
    for number, norms in here.items():
        np.testing.assert_array_equal(there[number], norms)
        np.testing.assert_array_equal(threaded[number], norms)


def test_errors_come_through_as_they_were(engine):
    with pytest.raises(InputError, match=r"dogs.tsv: 7 legs; expected 4\. Count again\.") as caught:
        run(engine, steps.failing, ["fine", "input"])
    assert caught.value.where == Path("dogs.tsv")
    assert (caught.value.got, caught.value.expected) == ("7 legs", "4")
    with pytest.raises(InputError, match="no model"):
        run(engine, steps.failing_at_start, range(4))


def test_a_block_that_kills_its_worker_ends_the_run_with_advice(engine, tmp_path):
    shared = (str(tmp_path), {5}, 1)
    with pytest.raises(ArgusError, match=r"^testing: workers ended .*memory ran out"):
        run(engine, steps.dying, range(8), shared)
    assert run(engine, steps.dying, range(8), shared)[5] == 50


SCRIPT = """
import signal
import sys
from argus.engine import EngineConfig, Work, open_engine
from tests.engine import steps
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    with open_engine(EngineConfig(name=sys.argv[1], workers=2)) as engine:
        for _, pid in engine.run(Work(setup=steps.pids, shared=None, what="x"), range(100000)):
            print(pid, flush=True)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_ctrl_c_and_a_killed_parent_leave_no_process(sign, tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    parent = subprocess.Popen(
        [sys.executable, tmp_path / "script.py", "local"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    pids = {int(parent.stdout.readline()) for _ in range(8)}
    if sign == signal.SIGINT:
        os.killpg(parent.pid, sign)  # as a terminal does
    else:
        parent.kill()
    _, stderr = parent.communicate(timeout=60)
    assert_gone(pids)
    if sign == signal.SIGINT:
        assert stderr.count("Traceback") == 1  # the parent's own


def test_memmaps_stay_memmaps_and_large_arrays_are_shared(engine, tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(100_000.0).reshape(1_000, 100))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    shared = (rows, rows[10:20], np.asarray(rows)[5:], np.ones(100_000), np.ones(3))
    expected = [float(array.sum()) for array in shared]
    about = run(engine, steps.arrays, [None, None], shared)[0]
    assert [kind for kind, *_ in about] == ["memmap", "memmap", "ndarray", "ndarray", "ndarray"]
    assert [name for _, name, *_ in about[:2]] == ["rows.npy"] * 2
    assert [writeable for *_, writeable, _ in about] == [False] * 4 + [True]
    assert [total for *_, total in about] == expected
