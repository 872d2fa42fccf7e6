"""Damaged files: each is told with its path, by every command that reads it."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

from tests.support.damage import mutations

READ_EACH = """
import random, sys
from pathlib import Path
from argus.data.tables import read_batches, read_table
from argus.errors import InputError
path = Path(sys.argv[1])
whole, draw = path.read_bytes(), random.Random(0)
footer = len(whole) - 8 - int.from_bytes(whole[-8:-4], "little")
told = 0
for _ in range(1_000):
    damaged = bytearray(whole)
    damaged[draw.randrange(footer, len(whole) - 8)] ^= 1 << draw.randrange(8)
    path.write_bytes(damaged)
    for read in (lambda: list(read_batches(path)), lambda: read_table(path)):
        try:
            read()
        except InputError as error:
            assert str(path) in str(error)
            told += 1
print(told)
"""


def test_no_damage_to_what_a_parquet_file_says_of_itself_ends_the_process(tmp_path):
    path = tmp_path / "c.parquet"
    columns = {"_id": ["a", "b", "a"], "text": ["x y", "z w", "x y"], "n": [1, 2, 3]}
    pq.write_table(pa.table(columns), path)
    assert path.stat().st_size < 1_400
    done = subprocess.run(
        [sys.executable, "-c", READ_EACH, path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 300


def test_a_damaged_index_is_told_with_its_path(argus, tmp_path):
    rows = [{"_id": str(n), "text": f"Bear {n} sleeps in the winter."} for n in range(4)]
    (tmp_path / "c.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    built = argus("index", "build", "--corpus", "c.jsonl", "--out", "ix")
    assert built.code == 0, built.err
    file = tmp_path / "ix/views.db"
    told = 0
    for damaged in [b"", b"\0" * 64, *mutations(file.read_bytes(), 15)]:
        file.write_bytes(damaged)
        ran = argus("explain", "bear", "--index", "ix")
        assert ran.code in (0, 1, 2)
        assert ran.code == 0 or "ix" in ran.err
        told += ran.code != 0
    assert told > 4
