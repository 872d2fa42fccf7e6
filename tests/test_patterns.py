"""Every regular expression of Argus on text that is made to keep it busy: time grows as text does.

Texts repeat what the expression's own tree repeats, behind what leads there
(`tests.support.pumps`), and units that many expressions name; each ends with a character that
nothing matches, so that every way is tried. Expressions are asked as the package asks them. What is
judged is growth, of processor time above a floor: any machine says the same.
"""

import re
import signal
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.expressions import Expression, expressions
from tests.support.pumps import texts

CHARACTERS = 7_000
# Less is not judged; more is stopped. From one to the other is more than STEP times.
FLOOR_S, CAP_S = 0.01, 0.25
# A text is so many times as long as the next shorter.
STEP = 4
# A text is asked so often, or for so long, that a tick of the clock, of up to 4 ms, does not count.
TIMES, LONG_S = 8, 0.05
# Between STEP, of what grows as the text does, and its square.
SQUARE = 8.0
SHARDS = 8
# What is stopped late may be a callback of the collector, which reports and goes on.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
# Expressions that take the square of a text, and why none is long where they are asked.
BOUNDED: dict[str, str] = {
    "argus.drift.sources._NUMBERED": "searched in the last 40 characters of an id",
    "argus.knowledge.gazetteer._ENDED": "searched in eight characters",
    "argus.knowledge.wikitext._LANGUAGE": "searched in the first 64 KiB of a dump, once",
    "argus.knowledge.wikitext._SITEINFO": "searched in the first 64 KiB of a dump, once",
    "argus.stores.spec._USER": "searched in the place of a store, which its owner writes",
    "argus.traffic.reading._KEY_BLOCK": "a block ends at 10,000 characters",
    "argus.traffic.reading._TOKENS[0]": "parts of a token end at 8,000 characters",
}


@pytest.fixture(autouse=True)
def _stopped_late() -> Iterator[None]:
    """Stop what takes longer than its timer."""

    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    yield
    signal.signal(signal.SIGVTALRM, before)


def seconds(pattern: re.Pattern[Any], way: str, text: str, times: int = 1) -> float:
    """Processor time of asking, the mean of up to some times; CAP_S where it was stopped."""
    subject: Any = text if isinstance(pattern.pattern, str) else text.encode()
    start, spent, asked = time.process_time(), 0.0, 0
    signal.setitimer(signal.ITIMER_VIRTUAL, CAP_S)
    try:
        while asked < times and spent < LONG_S:
            answer = getattr(pattern, way)(subject)
            list(answer if way == "finditer" else ())
            spent, asked = time.process_time() - start, asked + 1
    except TimeoutError:
        return CAP_S
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return min(CAP_S, spent / asked)


def grows(pattern: re.Pattern[Any], way: str, text: str) -> bool:
    """Whether time grows with the square of the text, or faster."""

    def took(n: int) -> float:
        shorter = text if len(text) <= n else text[: n - 8] + text[-8:]  # it begins and ends alike
        return seconds(pattern, way, shorter, TIMES)

    first = seconds(pattern, way, text)
    if first < FLOOR_S:
        return False
    n = CHARACTERS
    if first >= CAP_S:  # stopped: what it takes is that or more
        n //= STEP
        quarter = took(n)
        if SQUARE * quarter < CAP_S or quarter >= CAP_S:
            return True
    longest = took(n)
    return longest > FLOOR_S and SQUARE * took(n // STEP) < longest


def busy(expression: Expression) -> str:
    """How a text keeps an expression busy, twice in a row; "" for none."""
    for way in expression.ways:
        for text in texts(expression.pattern, CHARACTERS):
            if all(grows(expression.pattern, way, text) for _ in range(2)):
                return f"{way} of {text[:40]!r}"
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_time_grows_as_the_text_does(shard: int) -> None:
    left = [one for one in expressions()[shard::SHARDS] if one.where not in BOUNDED]
    assert {one.where: text for one in left if (text := busy(one))} == {}


def test_all_expressions_are_seen_and_those_left_are_there() -> None:
    seen = {one.where for one in expressions()}
    assert len(seen) > 200 and set(BOUNDED) <= seen


@pytest.mark.parametrize(
    "evil",
    [r"(a+)+\x01", r"a*a*a*b", r"\s+$", r"<a[^>]*>", r"(?<=b)c\d*[0-9]*z", r"(?s)<!--.*?-->"],
)
def test_it_sees_one_that_is_kept_busy(evil: str) -> None:
    assert busy(Expression("", re.compile(evil), frozenset(("finditer",))))
