"""`argus reach` on a real store: what it prints, and what a wrong name is told."""

from __future__ import annotations

import json

import pytest

from tests.support.stores import N, sqlite_vec


@pytest.fixture
def store(tmp_path):
    return sqlite_vec(tmp_path / "store").spec


def test_a_store_is_measured_in_place(argus, store, tmp_path):
    ran = argus("reach", store, "--out", "out", "--where", "tenant=1")
    assert ran.code == 0
    assert f"asked for by their own vectors: {N // 3} of {N // 3} come back" in ran.out
    assert f"hidden by the filter: {2 * N // 3}" in ran.out
    assert "report: out/report.html" in ran.out.splitlines()
    assert "verdict: " in ran.out.partition("report: ")[2]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())["reach"]
    assert summary["matching"] == {"tenant": 1} and summary["read"] == N
    ran = argus("reach", store, "--out", "out", "--json", "--by", "tenant")
    summary = json.loads(ran.out)
    assert summary["reached"]["asked"] == N
    shares = {row["slice"]: (row["n"], row["share"]) for row in summary["slices"]["worst"]}
    assert shares == dict.fromkeys("012", (N // 3, 1.0))


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("redis:here/docs",), "'redis:here/docs' names no store"),
        (("qdrant:nowhere/docs",), "nowhere: no such file or folder"),
        (("STORE", "--where", "tenant"), "--where: 'tenant'; expected FIELD=VALUE"),
        (
            ("STORE", "--vector-field", "other"),
            "no vector field 'other'",
        ),
        (("STORE", "--k", "0"), "greater than or equal to 1"),
        (("STORE", "--queries", "none.jsonl"), "none.jsonl"),
    ],
)
def test_bad_input_is_told_and_writes_nothing(argus, store, tmp_path, arguments, problem):
    ran = argus("reach", *(store if a == "STORE" else a for a in arguments), "--out", "out")
    assert ran.code == 2 and problem in ran.err
    assert not (tmp_path / "out").exists()
