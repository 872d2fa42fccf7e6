"""One cluster of two cores on loopback for all of these tests, and one that an engine starts."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from argus.engine import EngineConfig, Work, open_engine
from argus.engine.blocks import AHEAD
from argus.engine.check import check_engine
from argus.engine.verdict import words_of
from argus.errors import ArgusError, InputError
from tests.engine import steps

pytestmark = pytest.mark.slow
pytest.importorskip("ray.exceptions", reason="pip install 'argus-retrieval[ray]'")
STORE = 200 << 20


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
def token():
    """A token for the clusters of these tests, rather than the user's own."""
    before = {name: os.environ.get(name) for name in ("RAY_AUTH_TOKEN", "RAY_AUTH_MODE")}
    os.environ.update(RAY_AUTH_TOKEN=uuid.uuid4().hex * 2, RAY_AUTH_MODE="token")
    yield
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


@pytest.fixture(scope="module")
def address(token, tmp_path_factory):
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
        "PYTHONPATH": str(Path(__file__).parents[2]),
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
    with open_engine(EngineConfig(name="ray", address=address, env=("NAMED_KEY",))) as engine:
        yield engine


def run(engine, setup, blocks, shared=None, **options):
    return dict(engine.run(Work(setup=setup, shared=shared, what="testing", **options), blocks))


@pytest.mark.parametrize("threaded", [False, True])
def test_a_cluster_returns_what_this_process_does_to_the_bit(engine, threaded):
    matrix = np.random.default_rng(0).normal(size=(5_000, 33))
    blocks = [np.arange(i, i + 500) for i in range(0, 5_000, 500)]
    with open_engine(EngineConfig(workers=1)) as single:
        here = run(single, steps.norms, blocks, matrix)
    there = run(engine, steps.norms, blocks, matrix, threaded=threaded)
    assert sorted(there) == list(range(10))
    for number, norms in here.items():
        np.testing.assert_array_equal(there[number], norms)
        assert there[number].flags.writeable


def test_actors_are_set_up_once_and_blocks_taken_for_room(engine, tmp_path):
    taken = 0

    def blocks():
        nonlocal taken
        for taken in range(1, 101):  # noqa: UP028 - it is looked at outside
            yield taken

    work = Work(setup=steps.counted, shared=str(tmp_path), what="testing")
    for n, _ in enumerate(engine.run(work, blocks())):
        assert taken <= n + 2 * 2 + 1
    assert taken == 100
    assert len(list(tmp_path.iterdir())) == 2
    assert run(engine, steps.dying_at_start, []) == {}


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


def test_deaths_between_two_runs_do_not_count_for_the_next(engine, tmp_path):
    resting = set()

    def blocks():
        until = time.monotonic() + 60
        while len(resting) < 2:
            assert time.monotonic() < until
            yield None

    for _, pid in engine.run(Work(setup=steps.pids, shared=None, what="testing"), blocks()):
        resting.add(pid)
    for pid in resting:
        os.kill(pid, signal.SIGKILL)
    got = run(engine, steps.dying_at_first, range(6), str(tmp_path))
    assert sorted(got.values()) == list(range(6))
    assert {path.name for path in tmp_path.iterdir()} == {"a", "b"}


def test_a_block_that_always_kills_is_named(engine, tmp_path):
    shared = (str(tmp_path), {"B"}, 99)
    with pytest.raises(ArgusError, match=r"^testing: block 0 \('B'\) ended 3 workers, .*died \("):
        run(engine, steps.dying, ["B"], shared)
    assert (tmp_path / "B").read_text() == "xxx"


def test_memmaps_stay_memmaps_and_large_arrays_are_shared(engine, tmp_path):
    np.save(tmp_path / "rows.npy", np.arange(100_000.0).reshape(1_000, 100))
    rows = np.load(tmp_path / "rows.npy", mmap_mode="r")
    shared = (rows, rows[10:20], np.ones(100_000), np.ones(3))
    (about,) = run(engine, steps.arrays, [None], shared).values()
    assert about == [
        ("memmap", "rows.npy", False, float(rows.sum())),
        ("memmap", "rows.npy", False, float(rows[10:20].sum())),
        ("ndarray", None, False, 100_000.0),
        ("ndarray", None, True, 3.0),
    ]


def test_workers_get_settings(engine):
    names = ["HF_HUB_OFFLINE", "OMP_NUM_THREADS", "NAMED_KEY"]
    (env,) = run(engine, steps.environment, [None], names).values()
    assert env == {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "NAMED_KEY": None}


def test_a_consumer_that_stops_ends_the_actors(engine):
    results = engine.run(Work(setup=steps.pids, shared=None, what="x"), range(1000))
    pids = {next(results)[1] for _ in range(6)}
    with pytest.raises(RuntimeError, match="runs another work"):
        run(engine, steps.echo, [1])
    results.close()
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert run(engine, steps.echo, ["again"]) == {0: "again"}


def test_a_cluster_that_wants_another_token_says_so(address, monkeypatch):
    monkeypatch.setenv("RAY_AUTH_TOKEN", "f" * 64)
    config = EngineConfig(name="ray", address=address, connect_timeout_s=2)
    with pytest.raises(ArgusError, match=r"RAY_AUTH_MODE=token"), open_engine(config):
        pass


def test_describe_names_no_machine(engine):
    described = engine.describe()
    assert re.fullmatch(r"[\d.]+", described.pop("ray"))
    assert described == {"name": "ray", "workers": 2, "machines": 1, "cores": 2, "gpus": 0}


def test_paths_that_machines_do_not_see_are_told(engine, tmp_path):
    assert engine.unseen(str(tmp_path)) == []
    assert engine.unseen(str(tmp_path / "none")) == ["127.0.0.1"]


def test_check_says_what_every_machine_is_like(address, tmp_path):
    good = check_engine(EngineConfig(name="ray", address=address), tmp_path)
    assert good.good
    (node,) = good.nodes
    assert (node["address"], node["cores"]) == ("127.0.0.1", 2)
    assert node["sees"] and node["problem"] is None
    assert node["object_store"] == STORE
    assert 0 < node["latency_ms"] < 10_000 and node["mib_per_s"] > 0
    assert good.verdict == "good: 2 workers on 1 machine"
    bad = check_engine(EngineConfig(name="ray", address=address), tmp_path / "none")
    assert not bad.good
    assert f"does not see {tmp_path / 'none'}" in words_of(bad.nodes[0])
    assert bad.verdict.startswith("not good: 1 of 1 machines cannot work")


def test_a_cluster_that_goes_away_is_said_to(token, monkeypatch):
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "2")
    config = EngineConfig(name="ray", workers=2, object_store_bytes=STORE)
    with open_engine(config) as engine:
        session = engine._child.process.pid
        work = Work(setup=steps.slow_echo, shared=0.1, what="testing")
        results = engine.run(work, range(100_000))
        assert next(results)[1] in range(4)
        (head,) = (
            pid
            for pid in members(session)
            if "gcs_server" in Path(f"/proc/{pid}/cmdline").read_text()
        )
        assert "--node-ip-address=127.0.0.1" in Path(f"/proc/{head}/cmdline").read_text()
        os.kill(head, signal.SIGKILL)
        with pytest.raises(
            ArgusError, match=r"Ray cluster on this machine is gone .*run the same command"
        ):
            list(results)
    assert_gone(session)


def test_an_address_where_nothing_or_no_cluster_answers_is_named(token):
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        config = EngineConfig(name="ray", address=address, connect_timeout_s=1)
        began = time.monotonic()
        with (
            pytest.raises(
                ArgusError, match=rf"no Ray cluster answers at {address} .*ray start --head"
            ),
            open_engine(config),
        ):
            pass
        assert time.monotonic() - began < 30
        listening.listen()  # accepts, and says nothing
        with pytest.raises(ArgusError, match=r"answers at .*no answer in 1 s"), open_engine(config):
            pass
        assert time.monotonic() - began < 60
