"""Redact secrets, key questions, and order them by risk."""

from __future__ import annotations

import time
import unicodedata
from itertools import groupby

import pytest

from argus.data.texts import JOINER, MAX_MARKS, stream_safe
from argus.errors import InputError
from argus.traffic.redaction import Redactor, normal, own_patterns


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("write to jane.doe+x@example.co.uk now", "write to <mail> now"),
        ("ask müller@beispiel.de", "ask <mail>"),
        ("call +49 30 1234567 or (555) 123-4567", "call <phone> or <phone>"),
        ("030/1234567 is busy", "<phone> is busy"),
        ("my card 4111 1111 1111 1111 fails", "my card <card> fails"),
        ("pay DE89 3704 0044 0532 0130 00 please", "pay <account> please"),
        ("gb82west12345698765432", "<account>"),
        ("account no. 12345678 is closed", "account no. <account> is closed"),
        ("key sk-ant-api03-abcdefghijklmnop1234 fails", "key <token> fails"),
        ("AKIAIOSFODNN7EXAMPLE leaked", "<token> leaked"),
        ("Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-def", "Bearer <token>"),
        ("password: hunter22 fails", "password: <token> fails"),
        ("what is aB3dE5fG7hI9jK1lM3nO5pQ7r", "what is <token>"),
    ],
)
def test_a_secret_is_replaced(text, cleaned):
    redactor = Redactor()
    assert redactor.clean(text) == cleaned
    assert sum(redactor.counts.values()) == cleaned.count("<")


@pytest.mark.parametrize(
    "text",
    [
        "card 4111 1111 1111 1112 has a wrong check digit",
        "DE88370400440532013000 has a wrong checksum",
        "from 2024-01-02 to 2025-03-04, 1990-2000, Python 3.11.7",
        "10.1145/3404835.3462812 and RFC 7231",
        "550e8400-e29b-41d4-a716-446655440000",
        "what is a password policy? my token is not accepted",
        "population of 1 234 567 890, error 0x80070005, 12345",
        "the @ sign in Python",
    ],
)
def test_what_is_no_secret_stays(text):
    assert Redactor().clean(text) == text


def test_own_patterns_come_from_options_and_files(tmp_path):
    (tmp_path / "own.txt").write_text("# of the help desk\ncase=CASE-[0-9]+\n\nname=(?i)jane doe\n")
    redactor = Redactor(own_patterns([str(tmp_path / "own.txt"), "room=R[0-9]{3}"]))
    assert redactor.clean("Jane Doe on CASE-77 in R101") == "<name> on <case> in <room>"
    assert redactor.counts == {"name": 1, "case": 1, "room": 1}


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("nothing.txt", "expected NAME=REGEX"), ("a=[", "no regular expression"),
     ("a=x*", "matches nothing at all"), ("a=x{99999999999999999999}", "no regular expression"),
     ("a=" + "(" * 10_000, "no regular expression"), ("x" * 300, "expected NAME=REGEX")],
)  # fmt: skip
def test_a_broken_pattern_is_told(pattern, problem):
    with pytest.raises(InputError, match=problem):
        own_patterns([pattern])


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000 + "1", "a@" * 100_000, "1 " * 100_000, "eyJ" * 50_000 + "1", "+1" * 50_000,
     "A1" * 100_000, "1@" + "a." * 100_000, "0 " * 100_000],
)  # fmt: skip
def test_a_hostile_text_takes_time_in_proportion(text):
    start = time.process_time()
    Redactor().clean(text)
    assert time.process_time() - start < 20  # quadratic would be hours


ACUTE, CEDILLA = "\u0301", "\u0327"


def longest_run(text: str) -> int:
    """Return how many characters of a text are sorted among each other."""
    runs = groupby(unicodedata.normalize("NFKD", text), lambda c: unicodedata.combining(c) > 0)
    return max(sum(1 for _ in run) for marks, run in runs if marks)


@pytest.mark.parametrize(
    "marks",
    [ACUTE * 900 + CEDILLA * 900, (ACUTE + CEDILLA) * 900, "\u0f73" * 900, "\uff9e\u0301" * 900,
     "\u0344" * 900, "\U0001e944" * 900],
)  # fmt: skip
def test_marks_are_not_sorted_past_all_others(marks):
    assert longest_run(f"a{marks}b") > 2 * MAX_MARKS
    assert longest_run(stream_safe(f"a{marks}b")) <= 2 * MAX_MARKS  # one may be made of two
    assert longest_run(normal(f"a{marks}b")) <= 2 * MAX_MARKS
    assert stream_safe(f"a{marks}b").replace(JOINER, "") == f"a{marks}b"


def test_every_mark_of_unicode_counts():
    characters = map(chr, range(0x110000))
    marks = [c for c in characters if unicodedata.combining(unicodedata.normalize("NFKD", c)[0])]
    assert len(marks) > 900
    for mark in marks:
        assert stream_safe(mark * 31) == mark * 30 + JOINER + mark
        assert stream_safe(mark * 30) == mark * 30
