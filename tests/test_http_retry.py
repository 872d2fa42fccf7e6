from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.http_retry import (
    check_address,
    check_key,
    endpoint,
    retry_after_s,
    without_half_pairs,
    without_secrets,
)


@pytest.mark.parametrize(
    "address", ["", "nonsense", "ftp://host/v1", "http://", "http://a b/v1", "http://h:x/v1"]
)
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match=r"--base-url: .*expected an address such as http://"):
        check_address(address)


def test_an_address_that_is_refused_is_shown_without_its_password_and_query():
    with pytest.raises(InputError) as raised:
        check_address("ftp://me:hunter2@host/v1?key=abc")
    assert "hunter2" not in str(raised.value) and "abc" not in str(raised.value)
    assert "host/v1" in str(raised.value)


@pytest.mark.parametrize("key", ["sé", "two\nlines", "tab\there"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key):
    with pytest.raises(InputError, match="no HTTP header") as raised:
        check_key(key)
    assert key not in str(raised.value)


def test_an_endpoint_goes_below_the_path_and_before_the_query():
    assert endpoint("http://h/v1/", "embeddings") == "http://h/v1/embeddings"
    assert endpoint("http://h", "x") == "http://h/x"
    assert endpoint("https://h/d?api-version=1", "chat/x") == "https://h/d/chat/x?api-version=1"


def test_secrets_are_taken_out_of_addresses():
    assert without_secrets("http://me:pw@h:80/v1?key=abc") == "http://h/v1"


@pytest.mark.parametrize(
    ("value", "wait"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("0", 0),
        ("9999", 120),
        ("inf", 120),
        (None, None),
        ("-1", None),
        ("nan", None),
        ("soon", None),
        ("", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_up_to_two_minutes_or_nothing(value, wait):
    assert retry_after_s(value) == wait


def test_retry_after_may_be_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=30), usegmt=True)
    assert 28 <= retry_after_s(date) <= 30


@given(st.text())
def test_whole_text_stays_as_it_is(text):
    assert without_half_pairs(text) == text


def test_half_pairs_become_the_replacement_character_and_whole_ones_a_character():
    assert without_half_pairs("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert without_half_pairs("\ud83d\ude00") == "😀"
