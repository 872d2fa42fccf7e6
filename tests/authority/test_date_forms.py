"""Forms of dates that a domain names, as strptime has them."""

from __future__ import annotations

import json

import pytest

from argus.authority.domains import load_domain
from argus.authority.times import parse_moment

RULES = "rules: [{superseding: a, superseded: a, scope: [k]}]\n"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("25-Sep-2000", "2000-09-25"), ("1.2.2021", "2021-02-01"), ("Sep 2000", "2000-09"),
        ("2000-09-25", "2000-09-25"), ("25.09.2000 14:30", "2000-09-25T14:30:00"),
    ],
)  # fmt: skip
def test_named_forms_are_read_beside_the_usual_ones(text, same):
    forms = ["%d-%b-%Y", "%d.%m.%Y", "%b %Y", "%d.%m.%Y %H:%M"]
    assert parse_moment(text, forms=forms) == parse_moment(same)


def write(folder, rules, *times):
    (folder / "rules.yaml").write_text(rules)
    rows = [
        {"_id": f"d{i}", "type": "a", "timestamp": time, "entities": {"k": "1"}}
        for i, time in enumerate(times)
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_domain(folder / "rules.yaml")


def test_shapes_read_the_dates_of_their_domain(tmp_path):
    shape = "records: [{id: _id, type: a, time: timestamp, scope: {k: entities.k}}]\n"
    domain = write(tmp_path, f"dates: '%d.%m.%Y'\n{shape}{RULES}", "25.12.2001")
    (record,) = domain.read(tmp_path / "docs.jsonl")
    assert record.time == parse_moment("2001-12-25")
