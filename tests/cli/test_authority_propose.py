"""`argus authority propose`, `accept` and `gap` as a person types them."""

import json

from tests.authority.test_proposals import ROWS, decide
from tests.support.examples import write_rows


def test_from_records_to_edges_to_what_controls(argus, tmp_path):
    write_rows(tmp_path / "records.jsonl", ROWS)
    ran = argus("authority", "propose", "--records", "records.jsonl", "--to", "p.csv")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0] == "2 proposals over 3 records"
    assert ran.out.splitlines()[-1] == "proposals: p.csv"
    ran = argus("authority", "accept", "p.csv", "--to", "edges.jsonl")
    assert ran.code == 2 and "none of 2 proposals is accepted" in ran.err
    pairs = {("OPS-9", "OPS-7"): "accept", ("OPS-11", "OPS-9"): "reject"}
    decide(tmp_path / "p.csv", pairs)
    ran = argus("authority", "accept", "p.csv", "--to", "edges.jsonl")
    assert ran.out.splitlines()[0] == "1 accepted, 1 rejected, 0 undecided"
    edge = json.loads((tmp_path / "edges.jsonl").read_text())
    assert edge["evidence"].endswith("This policy supersedes OPS-7 from May on.")
    ran = argus("authority", "search", "backups of the vault", "--records", "records.jsonl",
                "--edges", "edges.jsonl", "--k", "1")  # fmt: skip
    assert "OPS-7 superseded by OPS-9 (stated, accepted" in ran.out


def test_the_gap_of_a_made_benchmark(argus):
    ran = argus("authority", "gap", "--benchmark", "cvepatchqa")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == (
        "cvepatchqa: 250 questions about something superseded, 250 not"
    )
    assert [line.split("  ")[0] for line in ran.out.splitlines()[2:]] == [
        "Jaccard", "Jaccard (no stop words)", "BM25"
    ]  # fmt: skip
