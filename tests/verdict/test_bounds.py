import pytest

from argus.verdict import bounds
from argus.verdict.summary import CountBounds, VerdictLevel

ALL = [value for value in vars(bounds).values() if isinstance(value, CountBounds)]


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.words)
def test_every_bound_says_why_and_is_ordered(one):
    assert len(one.why) > 40
    assert one.good > one.bad


def test_a_level_needs_the_whole_interval():
    high = CountBounds(good=0.9, bad=0.7, why="")
    assert high.level(0.9, 0.95) is VerdictLevel.GOOD
    assert high.level(0.89, 0.99) is VerdictLevel.DOUBTFUL
    assert high.level(0.5, 0.7) is VerdictLevel.BAD
    assert high.level(0.5, 0.71) is VerdictLevel.DOUBTFUL
