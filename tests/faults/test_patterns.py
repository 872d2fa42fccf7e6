"""Every regular expression of Argus on text that is made to keep it busy: time stays bounded.

Texts repeat what the expression itself names, and what backtracks; each ends with a character that
nothing matches, so that every way is tried.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import signal
import time
import warnings
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import pytest

import argus

CHARACTERS = 1_000
LONGEST_S = 1.0
"""Of one expression on one text, in processor time; more where it grows with the square at most."""
UNITS = (
    *("a", "A", "0", " ", "\t", "\n", ".", ",", "-", "_", "/", "\\", '"', "'", "<", ">", "[", "]"),
    *(
        "{",
        "}",
        "(",
        ")",
        "=",
        "@",
        "#",
        "*",
        "|",
        ":",
        "&",
        ";",
        "é",
        "a ",
        "a.",
        "a-",
        "1.",
        "0 ",
    ),
    *("{{", "[[", "<!--", "<ref", "\n\n", "&amp;", "http://a", "a@a", "$a"),
)
Named = tuple[str, "re.Pattern[Any]"]


@cache
def patterns() -> list[Named]:
    """All expressions that modules and their classes hold, by where they stand."""
    found: dict[tuple[Any, int], Named] = {}

    def take(value: object, where: str, depth: int = 0) -> None:
        if isinstance(value, re.Pattern):
            found.setdefault((value.pattern, value.flags), (where, value))
        elif depth > 2:
            return
        elif isinstance(value, list | tuple | set | frozenset):
            for one in list(value)[:200]:
                take(one, where, depth + 1)
        elif isinstance(value, dict):
            take([*value.items()], where, depth + 1)
        elif is_dataclass(value) and not isinstance(value, type):
            for field in fields(value):
                take(getattr(value, field.name, None), where, depth + 1)

    for module in pkgutil.walk_packages(argus.__path__, "argus."):
        if module.name.endswith("__main__"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                loaded = importlib.import_module(module.name)
            except ImportError:  # of an extra
                continue
        for name, value in list(vars(loaded).items()):
            take(value, f"{module.name}.{name}")
            if isinstance(value, type) and value.__module__ == module.name:
                take(list(vars(value).values()), f"{module.name}.{name}")
    return list(found.values())


def texts(pattern: re.Pattern[Any], n: int) -> Iterator[str]:
    """Texts of n characters that keep an expression busy."""
    source = (
        pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin1")
    )
    own = re.findall(r"[A-Za-z]{2,}|[^\w\s\\]", source)[:12]
    for unit in dict.fromkeys((*UNITS, *own)):
        yield unit * (n // len(unit)) + "\x00"


def seconds(pattern: re.Pattern[Any], text: str) -> float:
    """Processor time of finding all matches; LONGEST_S and more where it was stopped."""
    subject: Any = text if isinstance(pattern.pattern, str) else text.encode()
    start = time.process_time()
    signal.setitimer(signal.ITIMER_VIRTUAL, 4 * LONGEST_S)
    try:
        for _ in pattern.finditer(subject):
            pass
    except TimeoutError:
        return 4 * LONGEST_S
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return time.process_time() - start


def is_slow(pattern: re.Pattern[Any], text: str) -> bool:
    """Whether time grows with the cube of the length, or takes very long: any machine says so."""
    took = seconds(pattern, text)
    if not LONGEST_S < took < 4 * LONGEST_S:
        return took > LONGEST_S
    return took > 6 * seconds(pattern, text[: len(text) // 2] + "\x00")


def test_no_expression_is_kept_busy() -> None:
    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    try:
        slow = {
            where: text[:12]
            for where, pattern in patterns()
            for text in texts(pattern, CHARACTERS)
            if is_slow(pattern, text)
        }
    finally:
        signal.signal(signal.SIGVTALRM, before)
    assert len(patterns()) > 150
    assert slow == {}


@pytest.mark.parametrize("evil", [r"(a+)+\x01", r"a*a*a*b"])
def test_it_would_see_one_that_is(evil: str) -> None:
    def late(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, late)
    try:
        assert is_slow(re.compile(evil), "a" * 2 * CHARACTERS + "\x00")
    finally:
        signal.signal(signal.SIGVTALRM, before)
