"""The vocabulary gap (CAR Table 4): by hand, and on the collections."""

import pytest

from argus.authority.benchmarks.collection import Benchmark, Question
from argus.authority.benchmarks.job import vocabulary_gap
from argus.authority.rules import Edge, Record

RECORDS = [
    Record("flaw", "d", text="a flaw in the archive reader"),
    Record("fix", "p", text="members are checked in release two"),
    Record("third", "d", text="about leave"),
]


def made(*questions):
    return Benchmark("made", RECORDS, questions, [Edge("fix", "flaw")])


def question(id_, text, anchor, gold):
    return Question(id_, text, (gold,), (anchor,), (anchor, gold))


def test_jaccard_by_hand():
    asked = made(question("q", "is the flaw fixed", "flaw", "fix"))
    plain, content, bm25, shares = vocabulary_gap(asked, words=("Check, remov",))["measures"]
    assert (shares["superseded"], shares["controlling"]) == (0, 1)
    # {is, the, flaw, fixed} and {a, flaw, in, the, archive, reader}: 2 of 8
    assert plain["superseded"] == pytest.approx(2 / 8)
    assert plain["controlling"] == 0
    # without stop words {flaw, fixed} and {flaw, archive, reader}: 1 of 4
    assert content["superseded"] == pytest.approx(1 / 4)
    assert bm25["gap"] > 0 and bm25["positive"]["value"] == 1
