"""What questions are compared by, however many marks stand behind one letter."""

from __future__ import annotations

import json
import unicodedata
from itertools import groupby

import pytest

import argus
from argus.data.texts import JOINER, MAX_MARKS, stream_safe
from argus.traffic.exchange import Exchange
from argus.traffic.redaction import normal

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


def test_a_question_of_a_log_takes_little_time_to_normalise(tmp_path):
    row = {"query": "a" + ACUTE * 40_000 + CEDILLA * 40_000}
    (tmp_path / "log.jsonl").write_text(json.dumps(row))
    (one,) = argus.read_traffic(tmp_path / "log.jsonl")
    assert isinstance(one, Exchange) and longest_run(one.query) == MAX_MARKS


def test_every_mark_of_unicode_counts():
    characters = map(chr, range(0x110000))
    marks = [c for c in characters if unicodedata.combining(unicodedata.normalize("NFKD", c)[0])]
    assert len(marks) > 900
    for mark in marks:
        assert stream_safe(mark * 31) == mark * 30 + JOINER + mark
        assert stream_safe(mark * 30) == mark * 30


@pytest.mark.parametrize(
    "text",
    ["plain", "naïve?" * 20, unicodedata.normalize("NFD", "Tiếng Việt rất đẹp. " * 20),
     "בְּרֵאשִׁית בָּרָא אֱלֹהִים " * 20, "हिन्दी में क्षत्रिय " * 20, "。" * 100, "🙂" * 100, "—" * 100,
     ("a" + ACUTE * 30) * 3],
)  # fmt: skip
def test_any_other_text_stays_as_it_is(text):
    assert stream_safe(text) == text
    assert normal(text) == normal(unicodedata.normalize("NFD", text))
