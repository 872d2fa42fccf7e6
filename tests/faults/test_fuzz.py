"""A quick draw of the fuzzing that `make faults` does: nothing but an ArgusError comes out."""

from __future__ import annotations

from pathlib import Path

import pytest

from argus.errors import ArgusError
from benchmarks.faults.fuzz import Reader, bounds, consume, fuzz, fuzzed_apart, outcome
from benchmarks.faults.mutate import mutation
from benchmarks.faults.readers import READERS

QUICK = 25
BY_NAME = {reader.name: reader for reader in READERS}
FOUND = [
    ("rows arrow", 47), ("ngram.json", 164), ("correction", 1), ("correction", 26),
    ("suite toml", 1338), ("endpoint yaml", 14), ("kept answers", 17), ("kept answers", 94),
    ("kept answer", 0), ("jobs.sqlite", 262), ("vectors npy", 12), ("vectors npy", 299),
    ("trial manifest", 258), ("trial questions", 1286), ("trial questions", 1792),
]  # fmt: skip
"""Mutations that once came through: a crash, raw errors, a file that took minutes."""


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.name)
def test_no_damage_escapes_a_reader(reader: Reader) -> None:
    told = fuzz(reader, 0, QUICK)
    assert (told.tries, told.escaped, told.slow) == (QUICK, 0, 0), told.by


@pytest.mark.parametrize(("name", "number"), FOUND)
def test_what_once_escaped_does_not(name: str, number: int, tmp_path: Path) -> None:
    reader = BY_NAME[name]
    path = tmp_path / f"seed{reader.suffix}"
    path.write_bytes(mutation(reader.seeds(), f"{name}:{number}"))
    with bounds():
        # a second try, as `fuzz` does: the machine may have been slow
        assert any(outcome(reader, path) in ("", "refused") for _ in range(2))


def test_the_fuzzer_sees_what_escapes_is_slow_or_ends_the_process(monkeypatch) -> None:
    import os
    import time

    from benchmarks.faults import fuzz as module

    def read(path: Path) -> object:
        data = path.read_bytes()
        if data == b"seed":
            return None
        if len(data) % 5 == 4:
            raise KeyError("raw")
        if len(data) % 5 == 1:
            raise ArgusError("refused")
        if len(data) % 5 == 2:
            time.sleep(60)
        if len(data) == 5 or len(data) > 100:
            os._exit(9)
        return iter(())

    monkeypatch.setattr(module, "LONGEST_S", 0.05)
    reader = Reader("strange", ".x", lambda: [b"seed"], read)
    told = fuzzed_apart(reader, 0, 60)
    assert told.tries == 60
    assert told.refused > 0 and told.slow > 0 and told.escaped > 0
    assert any(kind.startswith("KeyError at") for kind in told.by)
    assert "ended with 9" in told.by
    consume(iter([1]))
