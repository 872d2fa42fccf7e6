"""Records stream in, and the process is killed at any moment: what was acknowledged is there."""

import subprocess
import sys

import pytest

KILLS = 50
SCRIPT = """
import os, random, signal, sys, time
from pathlib import Path
from argus.authority.jobs.config import AuthoritySource
from argus.service.searching.authority import ServedAuthority

folder, kills = Path(sys.argv[1]), int(sys.argv[2])
source = AuthoritySource(records=folder / "records.jsonl", rules=str(folder / "rules.yaml"))

def opened():
    return ServedAuthority(source, folder / "state" / "records.jsonl")

def rows(number):
    new = {"_id": f"new-{number}", "type": "note", "text": "x" * random.choice([10, 5000, 50000])}
    gone = [{"op": "delete", "_id": f"new-{number - 3}"}] if number >= 3 else []
    return [new, *gone]

random.seed(7)
acknowledged = 0
for kill in range(kills):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        authority, number = opened(), acknowledged
        (last,) = authority.resolve([f"new-{number}"])
        number += last["known"]  # made, though nobody was told
        while True:
            authority.take(rows(number))
            number += 1
            os.write(writing, number.to_bytes(4, "big"))
    os.close(writing)
    told = b""
    while len(told) < 4 and (part := os.read(reading, 4 - len(told))):
        told += part
    time.sleep(random.random() * 0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while part := os.read(reading, 65536):
        told += part
    os.close(reading)
    acknowledged = int.from_bytes(told[-4:], "big")
    n = acknowledged
    ids = [f"new-{number}" for number in range(n - 3, n + 1)]
    oldest, *kept, further = [one["known"] for one in opened().resolve(ids)]
    assert kept[-1] and kept[0] == (n >= 2), (kill, n)
    assert further != oldest or n < 3, (kill, n)  # a request counts whole, or not at all
print(acknowledged)
"""


@pytest.mark.slow
def test_what_was_acknowledged_is_there_after_any_kill(story, tmp_path):
    (tmp_path / "records.jsonl").write_bytes((story / "records.jsonl").read_bytes())
    (tmp_path / "rules.yaml").write_bytes((story / "rules.yaml").read_bytes())
    run = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(KILLS)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) >= KILLS
