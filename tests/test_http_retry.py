import asyncio
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.errors import InputError
from argus.http_retry import (
    RETRIED,
    Refusal,
    Tries,
    Trouble,
    check_address,
    check_key,
    endpoint,
    meaning,
    persist,
    retry_after_s,
    without_half_pairs,
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


def test_a_refused_address_is_shown_without_password_and_query():
    with pytest.raises(InputError) as raised:
        check_address("ftp://me:hunter2@host/v1?key=abc")
    assert "hunter2" not in str(raised.value) and "abc" not in str(raised.value)
    assert "host/v1" in str(raised.value)


@pytest.mark.parametrize("key", ["sé", "two\nlines", "tab\there", "end ", " begin"])
def test_a_key_that_no_header_can_carry_is_refused_and_not_shown(key):
    with pytest.raises(InputError, match="no HTTP header") as raised:
        check_key(key)
    assert raised.value.where == "--api-key-env"
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
        ("Mon, 01 Jan 99999999999 00:00:00 GMT", None),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999999999", None),
        ("Wed, 21 Oct 2015 07:28:00 GMT", None),
    ],
)
def test_retry_after_is_seconds_up_to_two_minutes_or_nothing(value, wait):
    assert retry_after_s(value) == wait


def test_retry_after_may_be_a_date():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    assert 40 <= retry_after_s(date) <= 100


@given(st.text())
def test_whole_text_stays_as_it_is(text):
    assert without_half_pairs(text) == text


def test_half_pairs_become_the_replacement_character():
    assert without_half_pairs("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert without_half_pairs("\ud83d\ude00") == "😀"


def test_a_status_may_pass_or_holds_for_all_or_for_this_request():
    statuses = {s: meaning(s, "why") for s in range(300, 600)}
    passing = {s for s, m in statuses.items() if isinstance(m, Trouble)}
    for_all = {s for s, m in statuses.items() if isinstance(m, Refusal) and m.for_all}
    assert passing == {408, 409, 425, 429, 500, 502, 503, 504}
    assert for_all == {401, 402, 403, 404, 405, *range(300, 400)}
    assert str(statuses[400]) == "HTTP 400: why"
    assert statuses[503].problem == "HTTP 503: why"


def test_a_wait_is_what_the_server_asks_for_up_to_its_bound():
    assert meaning(429, "", "7").wait_s == 7
    assert meaning(503, "", "86400").wait_s == 120
    assert meaning(503, "").wait_s is None


def test_what_is_busy_may_have_worked_and_what_is_full_has_not():
    charged = {s for s in RETRIED if meaning(s, "").may_charge}
    assert charged == {408, 500, 502, 504}


def sending(*results):
    """Return what gives these one after the other, and the times at which it was called."""
    left, times = iter(results), []

    async def send():
        times.append(time.monotonic())
        return next(left)

    return send, times


def test_waits_double_unless_the_server_asks_for_another(monkeypatch):
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    send, _ = sending(*[Trouble("busy")] * 2, Trouble("full", wait_s=0.02), "answer")
    assert asyncio.run(persist(send, Tries(attempts=5, backoff_s=0.2))) == "answer"
    assert waits == [0.2, 0.4, 0.02]


def test_a_refusal_is_not_tried_again():
    send, times = sending(Refusal(401, "no", for_all=True))
    assert isinstance(asyncio.run(persist(send, Tries(5, 1.0))), Refusal)
    assert len(times) == 1


def test_the_last_attempt_is_not_waited_after():
    send, times = sending(Trouble("one", wait_s=0.01), Trouble("two", wait_s=60))
    tries = Tries(attempts=2, backoff_s=60)
    start = time.monotonic()
    assert asyncio.run(persist(send, tries)) is None
    assert time.monotonic() - start < 50
    assert (len(times), str(tries)) == (2, "no answer in 2 attempts; last: two")
