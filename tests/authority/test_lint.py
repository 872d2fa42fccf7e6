import pytest

from argus.authority.lint import lint_queries
from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule

RULES = [Rule("patch", "disclosure", "cve"), Rule("patch", "patch", "cve")]
RECORDS = [
    Record.of("flaw", "disclosure", {"cve": "1"}, time="2024-01"),
    Record.of("fix", "patch", {"cve": "1"}, time="2024-02"),
    Record.of("refix", "patch", {"cve": "1"}, time="2024-03"),
    Record.of("open", "disclosure", {"cve": "2"}, time="2024-01"),
]


@pytest.fixture
def authority():
    return Authority(RECORDS, RULES)


def one(run, authority, **options):
    scores = dict.fromkeys(run, 1.0) | {d: -i for i, d in enumerate(run)}
    (query,) = lint_queries({"q": scores}, authority, **({"k": 5} | options))
    return query


def test_a_superseded_document_alone_violates_both_conditions(authority):
    query = one(["flaw", "open"], authority)
    assert list(query.conditions.missing) == ["refix"]
    ((ignored, chain),) = query.conditions.ignored.items()
    assert ignored == "flaw" and chain[-1].superseder == "refix"
    assert query.stale_share == 0.5 and not query.holds
