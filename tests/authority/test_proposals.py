"""From records to proposals with evidence, a person's decisions, and edges."""

import csv

import pytest

from argus.authority.config import AuthoritySource
from argus.authority.opening import read_edges
from argus.authority.proposals import (
    accept_proposals,
    find_evidence,
    find_namings,
    find_statements,
    propose_supersessions,
)
from argus.authority.rules import Record
from argus.authority.search import search_authority
from argus.errors import InputError
from tests.support.examples import write_rows

ROWS = [
    {"_id": "OPS-7", "timestamp": "2019-01-01", "text": "Backups of the vault run every night."},
    {"_id": "OPS-9", "timestamp": "2021-01-01",
     "text": "Copies are made hourly. This policy supersedes OPS-7 from May on."},
    {"_id": "OPS-11", "timestamp": "2022-01-01",
     "text": "Some argued that the board should replace OPS-9; it stays as it is."},
]  # fmt: skip
CASES = [
    Record("RFC-2616", "rfc", title="Hypertext Transfer Protocol 1.1"),
    Record("RFC-7230", "rfc", title="Message Syntax and Routing"),
    Record("roe", "case", title="Roe v. Wade"),
    Record("pals", "case", title="Palko v. Connecticut"),
    Record("ohio", "case", title="Ohio v. Roberts"),
    Record("other", "case", title="Roberts v. Jaycees"),
    Record("pkg.old", "code", title="pkg.old"),
    Record("pkg.read_all", "code", title="pkg.read_all"),
    Record("pkg.load", "code", title="pkg.load"),
    Record("pep-0008", "pep", scope={"pep": "8"}),
]


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


def test_proposals_become_edges_that_a_search_follows(records, tmp_path):
    file, edges = tmp_path / "p.csv", tmp_path / "edges.jsonl"
    result = propose_supersessions(records, out=file)
    assert [p[:3] for p in result.proposals] == [
        ("OPS-9", "OPS-7", "stated"), ("OPS-11", "OPS-9", "stated with doubt"),
    ]  # fmt: skip
    assert "supersedes OPS-7" in result.proposals[0].evidence
    assert result.summary["kinds"] == {"stated": 1, "stated with doubt": 1}
    with pytest.raises(InputError, match="none of 2 proposals is accepted"):
        accept_proposals(file, out=edges)
    decide(file, {("OPS-9", "OPS-7"): "accept", ("OPS-11", "OPS-9"): "reject"})
    accepted = accept_proposals(file, out=edges)
    assert accepted.summary == {"accepted": 1, "rejected": 1, "undecided": 0}
    (edge,) = read_edges(edges)
    assert (edge.superseder, edge.confidence, edge.rule) == ("OPS-9", 1.0, "stated, accepted")
    answer = search_authority("backups", AuthoritySource(records=records, edges=edges))
    assert answer["results"][0]["id"] == "OPS-9"
    again = propose_supersessions(records, out=file, known=edges)
    assert [p.superseder for p in again.proposals] == ["OPS-11"]
    assert again.summary["known"] == 1


def test_of_a_series_only_the_next_one_is_proposed():
    series = [Record(f"v{n}", "note", title=f"Travel policy v{n}") for n in (1, 2, 3)]
    assert list(find_evidence(series)) == [("v2", "v1"), ("v3", "v2")]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("accept,a,b\naccept,b,c\naccept,c,a", "a cycle of 3"),
        ("perhaps,a,b", "decision 'perhaps'"),
        ("accept,a,b\naccept,a,b", "'a' over 'b' comes twice"),
        ("", "none of 0 proposals is accepted"),
    ],
)
def test_a_broken_review_is_refused_and_nothing_written(tmp_path, rows, message):
    file = tmp_path / "p.csv"
    file.write_text(f"decision,superseder,superseded\n{rows}\n")
    with pytest.raises(InputError, match=message):
        accept_proposals(file, out=tmp_path / "edges.jsonl")
    assert not (tmp_path / "edges.jsonl").exists()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("This document obsoletes RFC-2616.", [("RFC-2616", True, False)]),
        ("It has been superseded in its entirety by RFC-7230.", [("RFC-7230", False, False)]),
        ("RFC-2616 is hereby withdrawn.", [("RFC-2616", True, False)]),
        ("The Court overruled its decision in Roe v. Wade.", [("roe", True, False)]),
        ("Roe v. Wade, 410 U.S. 113, is no longer good law.", [("roe", True, False)]),
        ("In a 7-2 decision it overruled Palko, holding otherwise.", [("pals", True, False)]),
        ("This document supersedes PEP 8 and all before.", [("pep-0008", True, False)]),
        ("Use this in place of RFC-2616.", [("RFC-2616", True, False)]),
        ("For new work use RFC-7230 instead.", [("RFC-7230", False, False)]),
        ("He argued that the Court should overrule Roe v. Wade.", [("roe", True, True)]),
        ("Hearsay was allowed by Ohio v. Roberts. The Court overruled Roberts.",
         [("ohio", True, False)]),  # a short name is that of the case named in full
        ("Roe v. Wade overruled much of what was thought before.", []),
        ("It returns nothing instead of raising RFC-2616.", []),
        ("The Court overruled the objection. Roe v. Wade stands.", []),  # two sentences
        ("A patent was invalidated, and " + "so on " * 30 + "Roe v. Wade was cited.", []),
        ("The Court of Roberts replaced the judge.", []),  # a short name of two
        ("Deprecated, use read_all() instead.", []),  # a name inside pkg alone
    ],
)  # fmt: skip
def test_statements_of_a_text(text, found):
    (namings,) = find_namings(CASES, [(Record("speaker", "any"), text)])
    assert [statement[:3] for statement in find_statements(text, namings)] == found
