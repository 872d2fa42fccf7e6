"""Forms of dates that a domain names, by one date or as strptime has it."""

from __future__ import annotations

import json

import pytest

from argus.authority.domains import load_domain
from argus.authority.times import date_form, parse_moment
from argus.errors import InputError

RULES = "rules: [{superseding: a, superseded: a, scope: [k]}]\n"


@pytest.mark.parametrize(
    ("example", "form"),
    [
        ("25-Sep-2000", "%d-%b-%Y"),
        ("15.03.2021", "%d.%m.%Y"),
        ("2021/15/03", "%Y/%d/%m"),
        ("September 25, 2000", "%B %d, %Y"),
        ("Sep 2000", "%b %Y"),
        ("%d/%m/%y", "%d/%m/%y"),
    ],
)
def test_a_date_stands_for_its_like(example, form):
    assert date_form(example) == form


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("03.04.2021", "two ways"), ("05.05.2021", "two ways"), ("25-Sep", "no year"),
        ("15.03.21", "year of four digits"), ("25-Sept-2000", "'Sept' is no month"),
        ("May 2000", "another month"), ("%d.%Q.%Y", "unknown part '%Q'"), ("%d.%m", "no year"),
        ("31.02.2021", "day is out of range"), ("%H:%M %Y", "no day"), ("20210315", "no day"),
        ("%Y %Y", "a part twice"),
    ],
)  # fmt: skip
def test_forms_that_tell_no_date_are_refused(example, message):
    with pytest.raises(ValueError, match=message):
        date_form(example)


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


def test_a_date_that_two_forms_read_differently_is_refused():
    forms = ["%d/%m/%Y", "%m/%d/%Y"]
    assert parse_moment("25/09/2000", forms=forms) == parse_moment("2000-09-25")
    with pytest.raises(InputError, match=r"2021-04-03 by %d/%m/%Y or 2021-03-04 by %m/%d/%Y"):
        parse_moment("03/04/2021", forms=forms)


def write(folder, rules, *times):
    (folder / "rules.yaml").write_text(rules)
    rows = [
        {"_id": f"d{i}", "type": "a", "timestamp": time, "entities": {"k": "1"}}
        for i, time in enumerate(times)
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_domain(folder / "rules.yaml")


def test_a_domain_says_its_dates(tmp_path):
    rules = "dates: [25-Sep-2000, 15.03.2021]\n" + RULES
    domain = write(tmp_path, rules, "01-Feb-2001", "02.03.2001", "2002")
    records = domain.read(tmp_path / "docs.jsonl")
    assert [str(r.time) for r in records] == ["01-Feb-2001", "02.03.2001", "2002"]
    assert records[0].time.before(records[1].time)


def test_shapes_read_the_dates_of_their_domain(tmp_path):
    shape = "records: [{id: _id, type: a, time: timestamp, scope: {k: entities.k}}]\n"
    domain = write(tmp_path, f"dates: '%d.%m.%Y'\n{shape}{RULES}", "25.12.2001")
    (record,) = domain.read(tmp_path / "docs.jsonl")
    assert record.time == parse_moment("2001-12-25")


def test_a_date_of_no_form_names_both_ways_out(tmp_path):
    domain = write(tmp_path, RULES, "25-Sep-2000")
    with pytest.raises(
        InputError, match=r"or name its form in the domain file \(`dates`\)"
    ) as told:
        domain.read(tmp_path / "docs.jsonl")
    assert (told.value.where.line, told.value.where.field) == (1, "timestamp")
    domain = write(tmp_path, "dates: 25-Sep-2000\n" + RULES, "25. September")
    with pytest.raises(InputError, match="or as %d-%b-%Y"):
        domain.read(tmp_path / "docs.jsonl")


def test_a_broken_form_is_told_with_its_line(tmp_path):
    with pytest.raises(InputError, match="can be read in two ways") as error:
        write(tmp_path, RULES + "dates:\n  - 15.03.2021\n  - 03.04.2021\n", "2001")
    assert (error.value.where.line, error.value.where.field) == (4, "dates[1]")
