"""`argus check` on a real store: what it prints, and what a wrong name is told."""

from __future__ import annotations

import pytest

from tests.support.stores import sqlite_vec


@pytest.fixture
def store(tmp_path):
    return sqlite_vec(tmp_path / "store").spec


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--store", "redis:here/docs"), "'redis:here/docs' names no store"),
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
    ran = argus("check", *(store if a == "STORE" else a for a in arguments), "--out", "out")
    assert ran.code == 2 and problem in ran.err
    assert not (tmp_path / "out").exists()
