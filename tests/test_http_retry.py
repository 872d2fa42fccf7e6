import asyncio

import pytest

from argus.errors import InputError
from argus.http_retry import (
    Refusal,
    Tries,
    Trouble,
    check_address,
    check_key,
    persist,
    retry_after_s,
    without_secrets,
)


@pytest.mark.parametrize(
    "address",
    ["", "nonsense", "ftp://host/v1", "http://", "http://a b/v1", "http://h:x/v1",
     "http://h:99999/v1", "http://[::1/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address):
    with pytest.raises(InputError, match=r"--base-url: .*expected an address such as http://"):
        check_address(address)


def test_an_address_is_shown_without_password_and_query():
    with pytest.raises(InputError, match="host/v1") as raised:
        check_address("ftp://me:hunter2@host/v1?key=abc")
    assert "hunter2" not in str(raised.value) and "abc" not in str(raised.value)
    assert without_secrets("http://me:pw@h:80/v1?key=abc") == "http://h/v1"


@pytest.mark.parametrize("key", ["sé", "two\nlines", "end "])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key):
    with pytest.raises(InputError, match="no HTTP header") as raised:
        check_key(key)
    assert raised.value.where == "--api-key-env"
    assert key not in str(raised.value)


@pytest.mark.parametrize(
    ("value", "wait"),
    [("0.5", 0.5), ("0", 0), ("9999", 120), ("inf", 120), (None, None), ("-1", None), ("nan", None),
     ("", None), ("Mon, 01 Jan 99999999999 00:00:00 GMT", None),
     ("Mon, 01 Jan 2024 00:00:00 +99999999999999999999", None),
     ("Wed, 21 Oct 2015 07:28:00 GMT", None)],
)  # fmt: skip
def test_retry_after_is_seconds_up_to_two_minutes_or_nothing(value, wait):
    assert retry_after_s(value) == wait


def test_waits_double_unless_the_server_asks_for_another_and_a_refusal_ends_them(monkeypatch):
    waits = []
    refusal = Refusal(401, "no", for_all=True)
    answers = [*[Trouble("busy")] * 2, Trouble("full", wait_s=0.02), refusal, "answer"]

    async def sleep(seconds):
        waits.append(seconds)

    async def send():
        return answers.pop(0)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    assert asyncio.run(persist(send, Tries(9, backoff_s=0.2))) is refusal
    assert waits == [0.2, 0.4, 0.02]
    assert asyncio.run(persist(send, Tries(1, 0.2))) == "answer"
