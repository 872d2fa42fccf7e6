import itertools
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.authority.times import Moment, date_form, parse_moment
from argus.errors import InputError

NEW_YORK = ZoneInfo("America/New_York")
moments = st.tuples(st.integers(-20, 20), st.integers(1, 9)).map(
    lambda drawn: Moment(drawn[0], sum(drawn), "")
)


def micros(*parts: int, zone=UTC) -> int:
    return (datetime(*parts, tzinfo=zone) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(
        microseconds=1
    )


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2024", (2024, 1, 1), (2025, 1, 1)),
        ("2024-02", (2024, 2, 1), (2024, 3, 1)),
        ("2024-03-01", (2024, 3, 1), (2024, 3, 2)),
        ("2024-3-1", (2024, 3, 1), (2024, 3, 2)),
        ("20240301", (2024, 3, 1), (2024, 3, 2)),
        (" 2024-02-29 ", (2024, 2, 29), (2024, 3, 1)),
        ("March 2024", (2024, 3, 1), (2024, 4, 1)),
        ("March 1, 2024", (2024, 3, 1), (2024, 3, 2)),
        ("Dec 31, 1896", (1896, 12, 31), (1897, 1, 1)),
        ("0001", (1, 1, 1), (2, 1, 1)),
    ],
)
def test_what_is_known_coarsely_is_the_whole_of_it(text, start, end):
    moment = parse_moment(text)
    assert (moment.start, moment.end) == (micros(*start), micros(*end))
    assert str(moment) == text


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("2024-03-01T09:30:00Z", (2024, 3, 1, 9, 30)),
        ("2024-03-01 09:30", (2024, 3, 1, 9, 30)),
        ("2024-03-01T09:30:00.25+02:00", (2024, 3, 1, 7, 30, 0, 250_000)),
        ("2024-03-01T23:30:00-05:00", (2024, 3, 2, 4, 30)),
    ],
)
def test_a_time_is_a_microsecond_in_its_own_zone(text, point):
    moment = parse_moment(text)
    assert (moment.start, moment.end) == (micros(*point), micros(*point) + 1)


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


@pytest.mark.parametrize("form", ["%d.%m.", "%Y-%m %H:%M"])
def test_a_form_without_year_or_with_hours_of_no_day_is_refused(form):
    with pytest.raises(ValueError, match="has"):
        date_form(form)


def test_days_and_months_of_a_zone_follow_each_other_without_gap():
    for zone in (NEW_YORK, ZoneInfo("America/Havana"), ZoneInfo("America/Sao_Paulo")):
        for year in (2017, 2018):
            days = [date(year, 1, 1) + timedelta(days=i) for i in range(365)]
            moments = [parse_moment(day, zone=zone) for day in days]
            for before, after in itertools.pairwise(moments):
                assert before.end == after.start and before.before(after)
            assert parse_moment(str(year), zone=zone).start == moments[0].start
            assert parse_moment(str(year), zone=zone).end == moments[-1].end


def test_a_day_that_a_zone_left_out_is_still_not_before_itself():
    """Samoa went from 29 to 31 December 2011 at midnight."""
    apia = ZoneInfo("Pacific/Apia")
    missing, after = (parse_moment(f"2011-12-{day}", zone=apia) for day in (30, 31))
    assert missing.end - missing.start == 1
    assert not missing.before(missing) and not after.before(missing)


@pytest.mark.parametrize(
    ("value", "fix"),
    [
        (20240301, 'as text, such as "20240301"'),
        (2024, 'as text, such as "2024"'),
        (1577836800, "Write the date that it stands for"),
    ],
)
def test_numbers_are_refused_since_they_may_be_days_or_seconds(value, fix):
    with pytest.raises(InputError, match=rf"{value} is a number.*{fix}"):
        parse_moment(value)


@pytest.mark.parametrize(
    "value",
    [
        "soon", "2024-13", "2024-02-30", "20241301", "0000", "12024", "24-03-01", "2024-", " ",
        "Smarch 2024", "32 March 2024", "2024-03-01T25:00", "2024-W05", "2024-W05-1", "2024W051",
        "01/03/2024", "1.3.2024", True, ["2024"], b"2024",
    ],
)  # fmt: skip
def test_what_is_no_date_is_refused_with_what_would_be_one(value):
    with pytest.raises(InputError, match=r'expected a date or time such as "2024-03-01T09:30') as e:
        parse_moment(value, where="records.jsonl, line 3")
    assert str(e.value).startswith("records.jsonl, line 3: ")
    assert repr(value) in str(e.value)


@given(moments, moments, moments, moments)
def test_intervals_are_a_strict_interval_order(a, b, c, d):
    assert not a.before(a)
    assert not (a.before(b) and b.before(a))
    if a.before(b) and b.before(c):
        assert a.before(c)
    if a.before(b) and c.before(d):
        assert a.before(d) or c.before(b)  # no two chains side by side (Fishburn 1970)
