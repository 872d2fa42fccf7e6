"""Redact secrets, key questions, and order them by risk."""

import time

import pytest

from argus.errors import InputError
from argus.traffic.reading import Redactor, own_patterns


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


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [("nothing.txt", "expected NAME=REGEX"), ("a=[", "no regular expression"),
     ("a=x*", "matches nothing at all"), ("a=x{99999999999999999999}", "no regular expression"),
     ("a=" + "(" * 10_000, "no regular expression")],
)  # fmt: skip
def test_a_broken_pattern_is_told(pattern, problem):
    with pytest.raises(InputError, match=problem):
        own_patterns([pattern])


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000 + "1", "a@" * 100_000, "1 " * 100_000, "eyJ" * 50_000 + "1", "+1" * 50_000,
     "A1" * 100_000, "1@" + "a." * 100_000],
)  # fmt: skip
def test_a_hostile_text_takes_time_in_proportion(text):
    start = time.process_time()
    Redactor().clean(text)
    assert time.process_time() - start < 20  # quadratic would be hours
