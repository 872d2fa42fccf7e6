import pytest

from argus.verdict import CountBounds, VerdictLevel


@pytest.mark.parametrize(
    ("low", "high", "level"),
    [
        (0.9, 0.95, VerdictLevel.GOOD),
        (0.89, 0.99, VerdictLevel.DOUBTFUL),
        (0.5, 0.7, VerdictLevel.BAD),
        (0.5, 0.71, VerdictLevel.DOUBTFUL),
    ],
)
def test_a_level_needs_the_whole_interval(low, high, level):
    assert CountBounds(good=0.9, bad=0.7, why="").level(low, high) is level
