"""A build that is killed goes on where it was."""

import json
import os
import signal
import subprocess
import sys

import pytest

from argus.corpora.opening import read_corpus
from argus.engine import EngineConfig
from argus.errors import InputError
from argus.kb.build import build_kb
from argus.kb.reading import DumpParts, Dumps, KbConfig
from tests.support.dumps import pages_dump

PAGES = {
    f"Town {i}": f"'''Town {i}''' is a town near [[Town {i + 1}]] in the hills. {i * 7919:x} "
    + " ".join(f"{(i * 31 + j) ** 5:x}" for j in range(600))
    for i in range(80)
}
SPLIT = 45_000
STALLING = """
from argus.kb.build import build_kb
from argus.kb.reading import DumpParts
from argus.kb.reading import Dumps, KbConfig
import sys, time
add = DumpParts.add

def stall_at_the_third(self, part):
    add(self, part)
    if len(self.numbers()) == 3:  # and its tables are there, but not its note
        (self._notes / f"{part.number:06d}.json").unlink()
        print("stalled", flush=True)
        time.sleep(3600)

if __name__ == "__main__":
    DumpParts.add = stall_at_the_third
    config = KbConfig(split_mib=int(sys.argv[3]) / 2**20, words=False)
    build_kb(Dumps(wikipedia=sys.argv[1]), out=sys.argv[2], config=config)
"""


@pytest.mark.slow
def test_a_killed_build_reads_the_rest_and_gives_equal_shards(tmp_path, monkeypatch):
    dump = pages_dump(tmp_path / "enwiki.xml.bz2", PAGES)
    out, script = tmp_path / "kb", tmp_path / "build.py"
    script.write_text(STALLING)
    command = [sys.executable, str(script), str(dump), str(out), str(SPLIT)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True)
    said = process.stdout.read(len("stalled"))
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    assert said == b"stalled"
    read = {int(path.stem) for path in out.glob("work/*/wikipedia-parts/*.json")}
    assert len(read) == 2
    with pytest.raises(InputError, match="kb build"):
        read_corpus(out)

    again, add = set(), DumpParts.add
    counted = lambda self, part: (again.add(part.number), add(self, part))  # noqa: E731
    monkeypatch.setattr(DumpParts, "add", counted)
    config = KbConfig(split_mib=SPLIT / 2**20, words=False)
    result = build_kb(Dumps(wikipedia=str(dump)), out=out, config=config)
    assert again and not again & read
    assert again | read == set(range(len(again | read))) and len(again) > 5
    assert not (out / "work").exists()
    one = EngineConfig(workers=1)
    whole = build_kb(Dumps(wikipedia=str(dump)), out=tmp_path / "w", config=config, engine=one)
    assert result.summary["counts"] == whole.summary["counts"]
    tables = [json.loads((f / "kb.json").read_text())["tables"] for f in (out, tmp_path / "w")]
    assert tables[0] == tables[1]
