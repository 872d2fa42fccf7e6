"""Both engines on the same work, and whole jobs on a cluster of two cores of this machine."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.data.types import Document
from argus.engine import EngineConfig, Work, open_engine
from argus.engine.local import AHEAD
from argus.engine.on_ray import RayEngine
from argus.errors import ArgusError, EncodingError, InputError
from argus.indexes.job import add_documents, build_index
from argus.indexes.views import ViewIndex, originals
from argus.knowledge import KnowledgeSource
from argus.retrievability import audit as audit_job
from argus.retrievability.audit import audit
from argus.retrievability.config import AuditConfig
from tests.engine import steps
from tests.support.word_encoder import WordEncoder

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
# Of whole jobs.
N = 240
FIRST = ["Alder", "Birch", "Cedar", "Dogwood", "Elm", "Fir"]
SECOND = ["Court", "Gate", "Hall", "House"]
THIRD = ["Ash", "Bay", "Cliff", "Dale", "End", "Ford", "Green", "Hill", "Isle", "Lake"]
TITLES = [f"{a} {b} {c}" for a in FIRST for b in SECOND for c in THIRD]
CONFIG = AuditConfig(k=(5,), pool=(50,))
VOLATILE = {
    "parts", "started", "finished", "timings_s", "invocation", "peak_memory_bytes", "environment",
    "engine",
}  # fmt: skip


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
def local():
    with open_engine(EngineConfig(workers=2)) as engine:
        yield engine


@pytest.fixture(scope="module")
def ray():
    """The one cluster of these tests: it takes seconds to start."""
    pytest.importorskip("ray.exceptions", reason="pip install 'argus-retrieval[ray]'")
    with open_engine(EngineConfig(name="ray", workers=2)) as engine:
        yield engine


@pytest.fixture(params=["local", "ray"])
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


def of_one_worker(ray):
    """The same cluster where a second worker would show no more: each takes seconds to start."""
    return RayEngine(ray.ray, 1)


def test_errors_come_through_as_they_were_and_the_engine_goes_on(engine):
    engine = engine if engine.name == "local" else of_one_worker(engine)
    if engine.name == "local":  # to a cluster setting up and doing is one call
        with pytest.raises(InputError, match="no model"):
            run(engine, steps.failing_at_start, range(4))
    with pytest.raises(InputError, match=r"dogs.tsv: 7 legs; expected 4\. Count again\.") as caught:
        run(engine, steps.failing, ["fine", "input"])
    error = caught.value
    assert (error.where, error.got, error.expected) == (Path("dogs.tsv"), "7 legs", "4")


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


def test_a_killed_actor_costs_nothing_but_its_blocks(ray, tmp_path):
    shared = (str(tmp_path), {3, 4}, 1)
    assert run(ray, steps.dying, range(30), shared) == {n: n * 10 for n in range(30)}
    assert {path.name for path in tmp_path.iterdir()} == {"3", "4"}
    begun = Counter(Path(f"{tmp_path}.begun").read_text().split())
    again = {block: times - 1 for block, times in begun.items() if times > 1}
    assert len(begun) == 30 and {"3", "4"} <= again.keys()
    assert sum(again.values()) <= 2 * AHEAD  # what two dead workers had in hand


def test_a_consumer_that_stops_ends_the_actors(ray):
    work = Work(setup=steps.pids, shared=None, what="x")
    results = of_one_worker(ray).run(work, range(1000))
    pids = {next(results)[1] for _ in range(6)}
    results.close()
    assert_gone(lambda: {pid for pid in pids if Path(f"/proc/{pid}").exists()})


CONNECT = """
import sys
from argus.engine import EngineConfig, Work, open_engine
from tests.engine import steps
with open_engine(EngineConfig(name="ray", address=sys.argv[1], workers=1)) as engine:
    (result,) = engine.run(Work(setup=steps.pids, shared=None, what="x"), [None])
    print(*result)
"""


def test_a_cluster_is_joined_by_its_address(ray):
    address = ray.ray.get_runtime_context().gcs_address
    done = subprocess.run(
        [sys.executable, "-c", CONNECT, address], capture_output=True, text=True, timeout=120,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert re.fullmatch(r"0 \d+\n", done.stdout), done.stderr
    assert_gone(Path(f"/proc/{done.stdout.split()[1]}").exists)


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


@pytest.fixture(scope="module")
def documents():
    """240 documents; each names two others by their titles."""
    rows = []
    for i, title in enumerate(TITLES):
        near, far = TITLES[(i + 1) % N], TITLES[(7 * i + 3) % N]
        text = f"{title} lies {i} miles from {near}. Its road number {i % 17} leads on to {far}."
        rows.append(Document(f"d{i:03}", text, title))
    return rows


@pytest.fixture
def small_batches(monkeypatch):
    monkeypatch.setattr(import_module("argus.encoders.embed"), "BATCH_TEXTS", 40)
    monkeypatch.setattr(audit_job, "PART_QUERIES", 64)


def sections(out, job, name):
    return json.loads((out / name).read_text())[job]


def settled(out, job):
    """What a job's manifest says that must not depend on where it ran."""
    section = sections(out, job, "manifest.json")
    section["encoder"].pop("precision_trials", None)
    return {key: value for key, value in section.items() if key not in VOLATILE}


def agree(a, b, job):
    """Assert that two folders hold the same results of a job."""
    left, right = ({p.name: pq.read_table(p) for p in out.glob("*.parquet")} for out in (a, b))
    assert left == right and left
    assert sections(a, job, "summary.json") == sections(b, job, "summary.json")
    assert settled(a, job) == settled(b, job)
    assert "engine" not in sections(a, job, "manifest.json")
    assert sections(b, job, "manifest.json")["engine"]["name"] in ("local", "ray")


def run_audit(documents, out, **options):
    source = KnowledgeSource(relations="mentions")
    options = {"encoder": WordEncoder(), "config": CONFIG} | options
    return audit(documents, out=out, source=source, **options)


@pytest.fixture(scope="module")
def audited(documents, tmp_path_factory):
    out = tmp_path_factory.mktemp("audited") / "here"
    run_audit(documents, out)
    return out


def test_an_audit_in_many_parts_is_the_same_to_the_last_bit(
    documents, audited, ray, tmp_path, small_batches
):
    run_audit(documents, tmp_path / "there", engine=of_one_worker(ray))
    agree(audited, tmp_path / "there", "audit")
    assert not (tmp_path / "there" / "ranks").exists()


def test_an_index_that_is_built_and_added_to(documents, local, tmp_path, small_batches):
    for name, where in (("here", None), ("there", local)):
        build_index(documents[:200], out=tmp_path / name, encoder=WordEncoder(), engine=where)
        more = documents[200:]
        add_documents(tmp_path / name, more, encoder=WordEncoder(), engine=where)
    here, there = (ViewIndex.open(tmp_path / name) for name in ("here", "there"))
    assert originals(here) == originals(there)
    queries = WordEncoder().encode_queries(TITLES)
    queries /= np.linalg.norm(queries, axis=1, keepdims=True)
    assert here.search(queries, 20) == there.search(queries, 20)
    for job in ("index", "index add"):
        assert settled(tmp_path / "here", job) == settled(tmp_path / "there", job)
        assert "engine" in sections(tmp_path / "there", job, "manifest.json")


def test_what_stopped_on_a_cluster_goes_on_on_this_machine(
    documents, audited, ray, tmp_path, small_batches
):
    trap, out = tmp_path / "trap", tmp_path / "there"
    trap.mkdir()
    stored = out / "embeddings" / "keys.bin"
    broken = WordEncoder(trap, until=stored)
    with pytest.raises(EncodingError, match="the encoder is out of order"):
        run_audit(documents, out, encoder=broken, engine=of_one_worker(ray))
    stored_bytes = stored.read_bytes()
    assert 0 < len(stored_bytes) <= 2 * 40 * 16
    run_audit(documents, out, engine=EngineConfig(workers=2))
    assert stored.read_bytes().startswith(stored_bytes)
    agree(audited, out, "audit")
