"""`research diagnose`: a corpus becomes a table and a report, a mistake a message."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from tests.support.full_disk import full_disk_under

FLOAT32 = ("--precision", "float32")


def rows(folder):
    return pq.read_table(Path(folder) / "diagnosis.parquet").to_pylist()


def test_a_full_disk_leaves_the_earlier_results_and_says_so(argus, corpus, tmp_path):
    """/dev/full answers every write as a disk does that has no space left."""
    run = ("research", "diagnose", "--corpus", corpus, "--kb", corpus, "--out", "out", *FLOAT32)
    assert argus(*run).code == 0
    out = tmp_path / "out"
    names = ("diagnosis.parquet", "summary.json", "manifest.json", "report.html")
    for name in names:
        earlier = {n: (out / n).read_bytes() for n in names}
        with full_disk_under(name):
            ran = argus(*run, "--tau", 0.9)
        assert ran.code == 2 and "No space left on device" in ran.err, name
        assert f"out/{name}: " in ran.err
        assert "mend that, and run the same command again." in ran.err.casefold()
        assert (out / name).read_bytes() == earlier[name]
        assert len(rows(out)) > 0 and json.loads((out / "summary.json").read_text())
    ran = argus(*run, "--tau", 0.9, "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["flagged"] == sum(row["flagged"] for row in rows(out))
