"""The real command, killed as a process and run again."""

import json
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from argus.cli.main import main

pytestmark = pytest.mark.slow

ARGUS = Path(sys.executable).parent / "argus"
N = 300
FIRST = ["Alder", "Birch", "Cedar", "Dogwood", "Elm"]
SECOND = ["Court", "Gate", "Hall", "House", "Inn", "Lodge"]
THIRD = ["Ash", "Bay", "Cliff", "Dale", "End", "Ford", "Green", "Hill", "Isle", "Lake"]
TITLES = [f"{a} {b} {c}" for a in FIRST for b in SECOND for c in THIRD]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """300 documents; each names two others by their titles."""
    rows = []
    for i, title in enumerate(TITLES):
        near, far = TITLES[(i + 1) % N], TITLES[(7 * i + 3) % N]
        text = f"{title} lies {i} miles from {near}. Its road number {i % 17} leads on to {far}."
        rows.append({"_id": f"d{i:03}", "title": title, "text": text})
    path = tmp_path_factory.mktemp("corpus") / "corpus.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def command(corpus, out, *options):
    options = options or ("--precision", "float32")
    return [ARGUS, "audit", "--corpus", corpus, "--out", out, "--k", "5", "--pool", "50", *options]


@pytest.fixture
def run(corpus, monkeypatch, capsys):
    """Run the command to its end, in this process: (exit code, what it wrote to stderr)."""

    def ran(out, *options):
        monkeypatch.setattr(sys, "argv", list(map(str, command(corpus, out, *options))))
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        return stopped.value.code or 0, capsys.readouterr().err

    return ran


@pytest.fixture(scope="module")
def killed(corpus, tmp_path_factory):
    """The folder of an audit that was killed as soon as a batch of vectors was stored."""
    out = tmp_path_factory.mktemp("killed") / "out"
    child = subprocess.Popen(
        list(map(str, command(corpus, out))), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    keys, deadline = out / "embeddings" / "keys.bin", time.monotonic() + 300
    while not keys.exists():
        assert child.poll() is None and time.monotonic() < deadline
        time.sleep(0.002)
    child.kill()
    assert child.wait() == -signal.SIGKILL
    assert keys.stat().st_size < N * 16
    assert not (out / "manifest.json").exists()
    return out


def files(out):
    return {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}


def manifest(out):
    return json.loads((out / "manifest.json").read_text())["audit"]


def results(out):
    table = pq.read_table(out / "retrievability.parquet", columns=["id", "rps", "state"])
    return table.to_pylist()


def test_a_killed_audit_goes_on_and_ends_with_the_same_result(run, killed, tmp_path):
    whole, out = tmp_path / "whole", shutil.copytree(killed, tmp_path / "out")
    stored = json.loads((out / "embeddings" / "store.json").read_text())["fingerprint"]
    vectors = (out / "embeddings" / "vectors.f32").read_bytes()
    stored_bytes = (out / "embeddings" / "keys.bin").stat().st_size // 16 * 384 * 4

    # Another encoder into the same folder is refused, and no vector is touched.
    before = files(out / "embeddings")
    code, err = run(out, "--precision", "bfloat16")
    assert code == 2
    assert f"stored: {stored}" in err
    assert f"given:  {stored.replace('=float32', '=bfloat16')}" in err
    assert files(out / "embeddings") == before

    for folder in (whole, out):
        code, err = run(folder)
        assert code == 0, err
    assert results(out) == results(whole)
    assert [row["id"] for row in results(out)] == [f"d{i:03}" for i in range(N)]
    assert {row["state"] for row in results(out)} == {"measured"}
    assert manifest(out)["finished"] >= manifest(out)["started"]
    assert manifest(out)["counts"]["measured"] == N
    assert manifest(out)["encoder"]["fingerprint"] == stored
    assert (out / "report.html").is_file()
    assert (out / "embeddings" / "vectors.f32").read_bytes()[:stored_bytes] == vectors[
        :stored_bytes
    ]
    assert (out / "embeddings" / "keys.bin").stat().st_size == N * 16
