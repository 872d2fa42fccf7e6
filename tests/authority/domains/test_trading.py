from argus.authority.domains import load_domain
from argus.authority.rules import Order

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


def test_the_rules_are_those_of_the_paper() -> None:
    rules = load_domain("trading").rules
    told = [line.split() for line in APPENDIX_A.split("\n") if line]
    assert [
        [r.name, *r.superseding, *r.superseded, ",".join(k.superseded for k in r.scope) or "global"]
        for r in rules
    ] == told
    assert all(rule.order is Order.EFFECTIVE and rule.confidence == 1 for rule in rules)
