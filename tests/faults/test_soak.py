"""What is looked at while `argus serve` runs for hours, and a quick draw of it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from benchmarks.curves import Curve, drawn
from benchmarks.faults import asking, soak, watching
from benchmarks.faults.serving import marker

SLEEP = (sys.executable, "-c", "import time; print(1, flush=True); time.sleep(60)")


def test_a_process_and_what_it_starts_are_seen(tmp_path):
    (tmp_path / "served").mkdir()
    (tmp_path / "tmp").mkdir()
    (tmp_path / "served" / "table.parquet.partial").write_bytes(b"x" * 2**20)
    (tmp_path / "tmp" / "left").touch()
    places = (tmp_path / "served", tmp_path / "tmp")
    before = watching.sampled(os.getpid(), *places, 0, 0)
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with (
        subprocess.Popen(SLEEP, stdout=subprocess.PIPE, env=environment) as child,
        (tmp_path / "held").open("w"),
    ):
        child.stdout.readline()
        now = watching.sampled(os.getpid(), *places, 1, 7)
        assert child.pid in watching.below(os.getpid())
        assert watching.started_with("TMPDIR", str(tmp_path)) == [child.pid]
        child.kill()
    assert now.files >= before.files + 2 and now.processes == before.processes + 1
    assert (now.partial, now.temporary, now.served_files, now.served_mb) == (1, 1, 1, 1.0)
    assert now.resident_mb > now.anonymous_mb > 1 and now.threads >= 1
    assert watching.started_with("TMPDIR", str(tmp_path)) == []


def test_curves_are_drawn_to_scale():
    text = drawn([Curve("a", [0, 5, 10], [0, 50, 100])], 10, "minutes; megabytes")
    assert 'points="60.0,255.0 370.0,157.2 680.0,59.3"' in text and ">minutes; megabytes<" in text


def test_each_record_that_comes_goes_again_once():
    rows = [row for n in range(400) for row in asking.stream(n)]
    gone = [row["_id"] for row in rows if row.get("op") == "delete"]
    assert len(set(gone)) == len(gone)
    assert {marker(n) for n in range(400 - asking.KEPT)} <= set(gone)


@pytest.mark.campaign
def test_a_soak_of_seconds_loses_nothing_and_leaves_nothing(tmp_path, shared, monkeypatch):
    shared("fb15k237")
    quick = {"EVERY_S": 3.0, "IDLE_S": 2.0, "DOCUMENTS": 100, "PRECISION": "float32"}
    for name, value in quick.items():
        monkeypatch.setattr(soak, name, value)
    told = soak.soak(tmp_path, 0.15, 1)
    assert (told["lost"], told["escaped"], told["left"]) == (0, 0, 0), told
    assert {name for name, _, _ in asking.KINDS} >= told["requests"].keys() >= {"search", "page"}
    assert told["samples"] and sum(told["jobs"].values()) >= 1
    assert soak.plot(told).count("<polyline") == 2
