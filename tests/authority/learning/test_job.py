"""From records to proposals, a person's decisions, edges, and what is learnt of them."""

import csv

import pytest

from argus.authority.edges import read_edges
from argus.authority.jobs.config import AuthoritySource, VariantConfig
from argus.authority.jobs.search import search_authority
from argus.authority.learning.config import AcceptConfig, ProposeConfig
from argus.authority.learning.files import Decision, read_proposals, write_proposals
from argus.authority.learning.job import (
    accept_proposals,
    learn_supersessions,
    propose_supersessions,
)
from argus.errors import InputError
from tests.support.examples import write_rows

ROWS = [
    {"_id": "OPS-7", "timestamp": "2019-01-01", "text": "Backups of the vault run every night."},
    {"_id": "OPS-9", "timestamp": "2021-01-01",
     "text": "Copies are made hourly. This policy supersedes OPS-7 from May on."},
    {"_id": "OPS-11", "timestamp": "2022-01-01",
     "text": "Some argued that the board should replace OPS-9; it stays as it is."},
]  # fmt: skip


@pytest.fixture
def records(tmp_path):
    write_rows(tmp_path / "records.jsonl", ROWS)
    return tmp_path / "records.jsonl"


def decide(file, decisions):
    """Write a person's decisions into the file, as a spreadsheet would."""
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    for row in rows:
        row["decision"] = decisions.get((row["superseder"], row["superseded"]), "")
    with file.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)


def test_the_surest_first_and_the_unlikely_not_at_all(records, tmp_path):
    result = propose_supersessions(records, out=tmp_path / "p.csv", config=ProposeConfig(least=0))
    assert [p.pair for p in result.proposals] == [("OPS-9", "OPS-7"), ("OPS-11", "OPS-9")]
    assert result.proposals[0].confidence > 0.5 > result.proposals[1].confidence
    assert "supersedes OPS-7" in result.proposals[0].evidence
    assert result.summary["candidates"] == 2
    sure = propose_supersessions(records, out=tmp_path / "p.csv", config=ProposeConfig(least=0.5))
    assert [p.pair for p in sure.proposals] == [("OPS-9", "OPS-7")]
    assert sure.summary["kinds"] == {"stated": 1}


def test_what_is_known_is_not_proposed_again(records, tmp_path):
    write_rows(tmp_path / "known.jsonl", [{"superseder": "OPS-9", "superseded": "OPS-7"}])
    result = propose_supersessions(
        records, out=tmp_path / "p.csv", known=tmp_path / "known.jsonl",
        config=ProposeConfig(least=0),
    )  # fmt: skip
    assert [p.pair for p in result.proposals] == [("OPS-11", "OPS-9")]
    assert result.summary["known"] == 1


def test_labels_decide_and_measure(records, tmp_path):
    write_rows(tmp_path / "labels.jsonl", [{"superseder": "OPS-9", "superseded": "OPS-7"}])
    result = propose_supersessions(
        records, out=tmp_path / "p.csv", labels=tmp_path / "labels.jsonl"
    )
    assert [p.decision for p in read_proposals(tmp_path / "p.csv")] == ["accept", "reject"]
    assert result.summary["quality"]["reachable"]["value"] == 1
    write_rows(tmp_path / "labels.jsonl", [{"superseder": "OPS-9", "superseded": "nothing"}])
    with pytest.raises(InputError, match="'OPS-9' over 'nothing'"):
        propose_supersessions(records, out=tmp_path / "p.csv", labels=tmp_path / "labels.jsonl")


def test_accepted_ones_are_certain_and_undecided_ones_keep_their_confidence(records, tmp_path):
    file, edges = tmp_path / "p.csv", tmp_path / "edges.jsonl"
    result = propose_supersessions(records, out=file, config=ProposeConfig(least=0))
    confidence = {p.pair: p.confidence for p in result.proposals}
    with pytest.raises(InputError, match="none of 2 proposals is accepted"):
        accept_proposals(file, out=edges)
    accepted = accept_proposals(file, out=edges, config=AcceptConfig(undecided_from=0.5))
    assert accepted.summary == {"accepted": 0, "rejected": 0, "undecided": 2, "edges": 1}
    (edge,) = read_edges(edges)
    assert edge.confidence == pytest.approx(confidence["OPS-9", "OPS-7"], abs=1e-4)
    everything = accept_proposals(file, out=edges, config=AcceptConfig(undecided_from=0))
    assert everything.summary["edges"] == 2
    decide(file, {("OPS-9", "OPS-7"): "accept", ("OPS-11", "OPS-9"): "reject"})
    accept_proposals(file, out=edges, config=AcceptConfig(undecided_from=0.0001))
    (edge,) = read_edges(edges)
    assert (edge.superseder, edge.confidence, edge.rule) == ("OPS-9", 1.0, "stated, accepted")


def test_safe_frontiers_go_by_the_confidence(records, tmp_path):
    file, edges = tmp_path / "p.csv", tmp_path / "edges.jsonl"
    result = propose_supersessions(records, out=file)
    stays = 1 - result.proposals[0].confidence
    accept_proposals(file, out=edges, config=AcceptConfig(undecided_from=0.5))
    source = AuthoritySource(records=records, edges=edges)

    def served(alpha):
        variant = VariantConfig(alpha=alpha)
        answer = search_authority("backups of the vault", source, variant=variant)
        return [hit["id"] for hit in answer["results"]]

    assert "OPS-7" in served(stays / 2)
    assert "OPS-7" not in served((1 + stays) / 2)


def test_a_cycle_is_refused_with_its_chain(tmp_path):
    file = tmp_path / "p.csv"
    file.write_text(
        "decision,superseder,superseded,confidence\naccept,a,b,1\naccept,b,c,1\naccept,c,a,1\n"
    )
    with pytest.raises(InputError, match="Reject one of the chain"):
        accept_proposals(file, out=tmp_path / "edges.jsonl")
    assert not (tmp_path / "edges.jsonl").exists()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("perhaps,a,b,1", "decision 'perhaps'"),
        ("accept,a,b,2", "confidence '2'"),
        ("accept,a,b,1\naccept,a,b,1", "'a' over 'b' comes twice"),
        ("", "no proposal in it"),
    ],
)
def test_a_broken_review_is_refused(tmp_path, row, message):
    file = tmp_path / "p.csv"
    file.write_text(f"decision,superseder,superseded,confidence\n{row}\n")
    with pytest.raises(InputError, match=message):
        read_proposals(file)


def test_proposals_are_read_as_they_were_written(records, tmp_path):
    result = propose_supersessions(records, out=tmp_path / "p.csv")
    (one,) = read_proposals(tmp_path / "p.csv")
    write_proposals(tmp_path / "again.csv", [one])
    assert (tmp_path / "again.csv").read_text() == (tmp_path / "p.csv").read_text()
    assert (one.pair, one.decision) == (result.proposals[0].pair, Decision.UNDECIDED)


def test_the_court_is_proposed_and_reviewed_decisions_teach(shared, tmp_path):
    """Of 41 listed overrulings 19 are named in the summaries at all; half of them teach."""
    folder = shared("authority/scotus")
    file = tmp_path / "court.csv"
    labels = folder / "supersedes.jsonl"
    result = propose_supersessions(folder / "corpus.jsonl", out=file, labels=labels)
    quality = result.summary["quality"]
    assert quality["reachable"]["value"] >= 0.45
    assert quality["brier"] < quality["constant"]
    at = {bound["confidence"]: bound for bound in quality["bounds"]}
    assert at[0.5]["precision"]["value"] >= 0.35  # of the list, which lacks some overrulings
    model = learn_supersessions([file], out=tmp_path / "court.json")
    assert model.summary["model"]["accepted"] == 19
    stated = [p for p in result.proposals if "overruled Bowers" in p.evidence]
    assert stated[0].superseder == "oyez:2002.02-102" and stated[0].confidence > 0.5
