import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.authority.config import Places
from argus.authority.lint import Removed, lint_queries
from argus.authority.records import Record
from argus.authority.relation import Authority
from argus.authority.resolution import resolve
from argus.authority.rules import Rule
from argus.data.types import State

RULES = [Rule("patch", "disclosure", "cve"), Rule("patch", "patch", "cve")]
RECORDS = [
    Record.of("flaw", "disclosure", {"cve": "1"}, time="2024-01"),
    Record.of("fix", "patch", {"cve": "1"}, time="2024-02"),
    Record.of("refix", "patch", {"cve": "1"}, time="2024-03"),
    Record.of("open", "disclosure", {"cve": "2"}, time="2024-01"),
]


@pytest.fixture
def authority():
    return Authority(RECORDS, RULES)


def one(run, authority, **options):
    scores = dict.fromkeys(run, 1.0) | {d: -i for i, d in enumerate(run)}
    (query,) = lint_queries({"q": scores}, authority, **({"k": 5} | options))
    return query


def test_a_superseded_document_alone_violates_both_conditions(authority):
    query = one(["flaw", "open"], authority)
    assert list(query.conditions.missing) == ["refix"]
    ((ignored, chain),) = query.conditions.ignored.items()
    assert ignored == "flaw" and chain[-1].superseder == "refix"
    assert query.stale_share == 0.5 and not query.holds


class TestFalseRetirement:
    def kept(self, before, after, authority, k=3):
        earlier = {"q": {d: -i for i, d in enumerate(before)}}
        return one(after, authority, before=earlier, k=k).removed.active

    def test_an_active_document_that_was_removed_is_one(self, authority):
        assert self.kept(["open", "flaw", "x"], ["refix", "x"], authority) == ("open",)

    def test_it_is_one_where_room_was_left_for_it(self, authority):
        before = {"q": {"open": 2.0, "flaw": 1.0}, "full": {"a": 2.0, "b": 1.0}}
        after = {"q": {"refix": 1.0}, "full": {"a": 2.0, "b": 1.0}}
        linted = lint_queries(after, authority, k=5, before=before)
        assert [q.removed.active for q in linted] == [("open",), ()]

    @given(st.permutations(["flaw", "fix", "refix", "open", "x", "y"]), st.integers(1, 6))
    def test_what_is_resolved_and_cut_loses_nothing_falsely(self, order, k):
        authority = Authority(RECORDS, RULES)
        before = {"q": {d: -i for i, d in enumerate(order)}}
        for places in Places:
            after = resolve(before, authority, k=k, places=places)
            (query,) = lint_queries(after, authority, k=k, before=before)
            assert query.removed == Removed((), ()) and query.holds

    def test_a_superseded_one_that_was_removed_is_none(self, authority):
        assert self.kept(["flaw", "refix"], ["refix"], authority) == ()

    def test_one_that_was_pushed_out_by_what_came_in_is_none(self, authority):
        assert self.kept(["flaw", "open"], ["refix", "flaw"], authority) == ()

    def test_what_stood_beyond_k_before_is_none(self, authority):
        assert self.kept(["refix", "open", "flaw"], ["refix", "flaw"], authority, k=1) == ()

    def test_a_superseded_one_with_nothing_in_its_place_is_lost(self, authority):
        earlier = {"q": {"flaw": 2.0, "open": 1.0}}
        query = one(["open"], authority, before=earlier)
        assert query.removed == Removed((), ("flaw",)) and not query.holds
        assert one(["refix", "open"], authority, before=earlier).removed == Removed((), ())

    def test_a_query_that_lost_all_its_results_is_still_one(self, authority):
        before = {"q": {"open": 2.0, "flaw": 1.0}, "kept": {"open": 1.0}}
        kept, lost = lint_queries({"kept": {"open": 1.0}}, authority, k=5, before=before)
        assert lost.query_id == "q" and lost.state is State.MEASURED
        assert lost.removed == Removed(("open",), ("flaw",)) and kept.removed == Removed((), ())

    def test_a_query_that_is_new_has_lost_nothing_that_could_be_told(self, authority):
        new, _ = lint_queries({"q": {"open": 1.0}}, authority, k=5, before={"other": {"open": 1.0}})
        assert new.removed is None
