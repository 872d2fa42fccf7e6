"""`argus authority propose`, `accept`, `learn` and `gap` as a person types them."""

import json

from tests.authority.learning.test_job import ROWS, decide
from tests.support.examples import write_rows


def test_from_records_to_edges_to_what_controls(argus, tmp_path):
    write_rows(tmp_path / "records.jsonl", ROWS)
    ran = argus("authority", "propose", "--records", "records.jsonl", "--to", "p.csv",
                "--at-least", "0")  # fmt: skip
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[0] == (
        "2 proposals of 2 candidate pairs over 3 records (confidence from 0)"
    )
    assert ran.out.splitlines()[-1] == "proposals: p.csv"
    ran = argus("authority", "accept", "p.csv", "--to", "edges.jsonl")
    assert ran.code == 2 and "none of 2 proposals is accepted" in ran.err
    pairs = {("OPS-9", "OPS-7"): "accept", ("OPS-11", "OPS-9"): "reject"}
    decide(tmp_path / "p.csv", pairs)
    ran = argus("authority", "accept", "p.csv", "--to", "edges.jsonl")
    assert ran.out.splitlines()[0] == "1 edges: 1 accepted; 1 rejected, 0 undecided"
    edge = json.loads((tmp_path / "edges.jsonl").read_text())
    assert edge["evidence"].endswith("This policy supersedes OPS-7 from May on.")
    ran = argus("authority", "search", "backups of the vault", "--records", "records.jsonl",
                "--edges", "edges.jsonl", "--k", "1")  # fmt: skip
    assert "OPS-7 superseded by OPS-9 (stated, accepted" in ran.out


def test_decisions_teach_a_model_that_proposes(argus, tmp_path):
    write_rows(tmp_path / "records.jsonl", ROWS)
    argus("authority", "propose", "--records", "records.jsonl", "--to", "p.csv", "--at-least", "0")
    ran = argus("authority", "learn", "p.csv", "--to", "m.json")
    assert ran.code == 2 and "0 accepted pairs of 0" in ran.err
    pairs = {("OPS-9", "OPS-7"): "accept", ("OPS-11", "OPS-9"): "reject"}
    decide(tmp_path / "p.csv", pairs)
    ran = argus("authority", "learn", "p.csv", "--to", "m.json")
    assert ran.out.startswith("learnt of 2 decided pairs, 1 of them accepted; 0 undecided")
    assert "in no pair: a guess" in ran.out
    ran = argus("authority", "propose", "--records", "records.jsonl", "--to", "p.csv",
                "--clue-weights", "m.json", "--json")  # fmt: skip
    summary = json.loads(ran.out)
    assert summary["model"] == "m.json" and "similar" in summary["untold"]


def test_the_gap_of_a_made_benchmark(argus):
    ran = argus("authority", "gap", "--benchmark", "cvepatchqa")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == (
        "cvepatchqa: 250 questions about something superseded, 250 not"
    )
    assert [line.split("  ")[0] for line in ran.out.splitlines()[2:]] == [
        "Jaccard", "Jaccard (no stop words)", "BM25"
    ]  # fmt: skip
