import os
import signal
import subprocess
import sys
import threading
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


def test_threaded_work_and_a_single_worker_stay_in_this_process(engine):
    assert set(run(engine, steps.pids, range(3), threaded=True).values()) == {os.getpid()}
    with open_engine(EngineConfig(workers=1)) as single:
        assert set(run(single, steps.pids, range(3)).values()) == {os.getpid()}


def test_all_workers_work_elsewhere_and_each_is_set_up_once(engine, tmp_path):
    pids = set(run(engine, steps.pids, range(20)).values())
    assert len(pids) == 2
    assert os.getpid() not in pids
    assert run(engine, steps.counted, range(30), str(tmp_path)) == dict(enumerate(range(30)))
    assert len(list(tmp_path.iterdir())) == 2


def test_no_block_starts_no_process_and_one_block_is_done_here(engine, tmp_path):
    assert run(engine, steps.dying_at_start, []) == {}
    assert run(engine, steps.counted, ["a"], str(tmp_path)) == {0: "a"}
    assert len(list(tmp_path.iterdir())) == 1
    assert run(engine, steps.pids, ["a"]) == {0: os.getpid()}


def test_blocks_are_taken_as_there_is_room(engine):
    taken = 0

    def blocks():
        nonlocal taken
        for taken in range(1, 101):  # noqa: UP028 - it is looked at outside
            yield taken

    for n, _ in enumerate(engine.run(Work(setup=steps.echo, shared=None, what="x"), blocks())):
        assert taken <= n + 2 * 2 + 1
    assert taken == 100


def test_errors_come_through_as_they_were(engine):
    with pytest.raises(InputError, match=r"dogs.tsv: 7 legs; expected 4\. Count again\.") as caught:
        run(engine, steps.failing, ["fine", "input"])
    assert caught.value.where == Path("dogs.tsv")
    assert (caught.value.got, caught.value.expected) == ("7 legs", "4")
    with pytest.raises(KeyError, match="absent") as caught:
        run(engine, steps.failing, ["key", "fine"])
    assert 'return {}["absent"]' in caught.value.__notes__[0]
    with pytest.raises(RuntimeError, match=r"\AAwkward: 1 and 2\n"):
        run(engine, steps.failing, ["awkward", "fine"])
    with pytest.raises(InputError, match="no model"):
        run(engine, steps.failing_at_start, range(4))


def test_an_error_of_the_blocks_themselves_comes_through(engine):
    def blocks():
        yield 1
        raise OSError("disk gone")

    with pytest.raises(OSError, match="disk gone"):
        run(engine, steps.echo, blocks())


def test_killed_workers_cost_nothing_but_their_blocks(engine, tmp_path):
    shared = (str(tmp_path), {3, 4, 17}, 2)
    got = list(engine.run(Work(setup=steps.dying, shared=shared, what="testing"), range(40)))
    assert sorted(got) == [(n, n * 10) for n in range(40)]
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == dict.fromkeys(
        ("3", "4", "17"), "xx"
    )


def test_a_block_that_always_kills_is_named(engine, tmp_path):
    shared = (str(tmp_path), {5}, 99)
    with pytest.raises(ArgusError, match=r"^testing: workers ended 3 times, .* 5 .*memory ran out"):
        run(engine, steps.dying, range(8), shared)
    assert (tmp_path / "5").read_text() == "xxxx"  # beside others, then alone


def test_workers_that_die_before_any_block_end_the_run(engine):
    with pytest.raises(ArgusError, match=r"testing: workers ended 3 times"):
        run(engine, steps.dying_at_start, range(8))


def test_a_consumer_that_stops_leaves_no_process(engine):
    results = engine.run(Work(setup=steps.pids, shared=None, what="x"), range(1000))
    pids = {next(results)[1] for _ in range(6)}
    results.close()
    assert_gone(pids)


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


def test_workers_leave_the_cores_to_each_other(engine, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    env = run(engine, steps.environment, [None, None], ["OMP_NUM_THREADS"])[0]
    assert env == {"OMP_NUM_THREADS": "1"}
    assert os.environ["OMP_NUM_THREADS"] == "7"


def test_large_blocks_and_results_do_not_block_each_other(engine):
    blocks = [np.full(3_000_000, i, np.uint8) for i in range(12)]
    got = {}
    thread = threading.Thread(target=lambda: got.update(run(engine, steps.echo, blocks)))
    thread.daemon = True
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert all((got[i] == i).all() and got[i].flags.writeable for i in range(12))


def test_runs_may_feed_each_other(engine):
    first = engine.run(Work(setup=steps.echo, shared=None, what="first"), range(20))
    second = run(engine, steps.slow_echo, (result for _, result in first), 0.01)
    assert sorted(second.values()) == list(range(20))


def test_describe_says_where_it_runs(engine):
    with open_engine(EngineConfig(workers=3)) as engine:
        assert run(engine, steps.echo, range(5), threaded=True)[4] == 4
        assert engine.describe() == {"name": "local", "workers": 0, "machines": 1}
        run(engine, steps.slow_echo, range(2), 0.2)
        assert engine.describe()["workers"] == 2
        run(engine, steps.echo, [1])
    assert engine.describe()["workers"] == 2
