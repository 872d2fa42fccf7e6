from __future__ import annotations

import json
from itertools import product
from pathlib import Path

from argus.authority.domains import load_domain
from argus.authority.relation import Authority
from argus.authority.rules import Order, Record

# Appendix A of the paper: rule, trigger, target, scope.
APPENDIX_A = """
R1 BlackoutAnnounced PreClearanceApproved ticker
R2 BlackoutLifted BlackoutAnnounced ticker
R3 EmergencyException BlackoutAnnounced employee,ticker
R4 ExceptionRevoked EmergencyException employee,ticker
R5 WatchlistAdded PreClearanceApproved ticker
R6 WatchlistRemoved WatchlistAdded ticker
R7 ConflictAmended ConflictDisclosed employee
R8 ConflictCleared ConflictAmended employee
R9 ConflictCleared ConflictDisclosed employee
R10 PolicyUpdate PolicyAcknowledged global
"""
EVENTS = [
    ("ok", "PreClearanceApproved", "2024-03-01T10:00:00", {"employee": "E1", "ticker": "ACME"}),
    ("other", "PreClearanceApproved", "2024-03-01T10:00:00", {"employee": "E1", "ticker": "ZZZ"}),
    ("blackout", "BlackoutAnnounced", "2024-03-02", {"ticker": "ACME", "employee": ["E1", "E3"]}),
    ("hush", "BlackoutAnnounced", "2024-03-02", {"ticker": "ZZZ"}),
    ("unexcepted", "EmergencyException", "2024-03-03", {"employee": "E1", "ticker": "ZZZ"}),
    ("exception", "EmergencyException", "2024-03-03", {"employee": "E1", "ticker": "ACME"}),
    ("revoked", "ExceptionRevoked", "2024-03-04", {"employee": "E1", "ticker": "ACME"}),
    ("signed", "PolicyAcknowledged", "2024-01-01", {"employee": "E2"}),
    ("policy", "PolicyUpdate", "2024-02-01", {}),
]


def read(tmp_path: Path) -> list[Record]:
    path = tmp_path / "events.jsonl"
    with path.open("w") as out:
        for id_, type_, time, entities in EVENTS:
            row = {"doc_id": id_, "type": type_, "timestamp": time, "entities": entities}
            out.write(json.dumps({**row, "text": f"{type_} of {id_}"}) + "\n")
    return load_domain("trading").read(path)


def test_the_rules_are_those_of_the_paper() -> None:
    rules = load_domain("trading").rules
    told = [line.split() for line in APPENDIX_A.split("\n") if line]
    assert [
        [r.name, *r.superseding, *r.superseded, ",".join(k.superseded for k in r.scope) or "global"]
        for r in rules
    ] == told
    assert all(rule.order is Order.EFFECTIVE and rule.confidence == 1 for rule in rules)


def test_records_read_are_ordered_by_the_rules_as_one_by_one(tmp_path: Path) -> None:
    records, rules = read(tmp_path), load_domain("trading").rules
    authority = Authority(records, rules)
    direct = {
        (a.id, b.id) for a, b in product(records, records) if any(r.holds(a, b) for r in rules)
    }
    assert direct == {(a.id, link.superseder) for a in records for link in authority.links(a.id)}
