import pytest

from argus.authority.config import LintBounds
from argus.authority.lint import lint
from argus.authority.opening import open_authority
from argus.authority.resolution import resolve
from argus.errors import InputError
from argus.measures import wilson
from tests.support.superseding import RUN, story_source, write_story


@pytest.fixture
def story(tmp_path):
    return write_story(tmp_path / "story")


def test_violations_rates_and_intervals_of_a_run(story):
    result = lint(story / "run.json", story_source(story), k=2)
    counts = result.summary["queries"]
    assert counts == {"total": 4, "measured": 3, "failed": 0, "not applicable": 1}
    rates = result.summary["rates"]
    low, high = wilson(1 / 3, 3)
    expected = {"share": 1 / 3, "low": float(low), "high": float(high), "queries": 3}
    assert rates["violations"] == rates["frontier_missing"] == expected
    assert rates["superseder_ignored"]["share"] == 1 / 3
    assert rates["stale_queries"]["share"] == 2 / 3  # tokens: flaw-3, with fix-3 beside it
    assert rates["stale_hits"]["share"] == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert result.exit_code == 1 and result.report is None
    (row,) = result.summary["violations"]
    assert row["instead"] == "fix-1b" and row["query_id"] == "archive"
    assert row["chain"] == "'flaw-1', superseded by 'fix-1b' (fix)"


def test_a_resolved_run_has_no_violation(story):
    resolved = resolve(RUN, open_authority(story_source(story)).authority)
    assert list(resolved["archive"]) == ["fix-1b", "flaw-2", "fix-3"]
    result = lint(resolved, story_source(story))
    assert result.exit_code == 0 and result.summary["verdict"] == "pass"
    assert result.summary["rates"]["stale_queries"]["share"] == 0


def test_bounds_decide(story):
    for violations, stale_hits, code in ((0.4, None, 0), (0.3, None, 1), (0.4, 0.3, 1)):
        bounds = LintBounds(violations=violations, stale_hits=stale_hits)
        assert lint(RUN, story_source(story), k=2, bounds=bounds).exit_code == code
    with pytest.raises(InputError, match="--max-stale-hits: 10"):
        LintBounds(stale_hits=10)


def test_as_of_asks_what_was_in_force_then(story):
    before_the_fix = story_source(story, as_of="2024-01-31")
    result = lint({"archive": RUN["archive"]}, before_the_fix)
    assert [row["kind"] for row in result.summary["violations"]] == ["not yet in force"]
    assert result.exit_code == 1
    then = lint({"q": {"flaw-1": 1.0}}, before_the_fix)
    assert then.summary["rates"]["violations"]["share"] == 0
