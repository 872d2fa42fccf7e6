from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.resolution import resolve
from argus.authority.theory import ScopeTimes
from tests.support.authorities import LATER, chain, record, relations

RECORDS = [
    *chain("a1", "a2", "a3", scope="a"),
    *chain("b1", "b2", scope="b"),
    record("bare", "doc", 9),
    record("timeless", "doc", None, entity="a"),
]
SCOPES = ScopeTimes(RECORDS)


def test_of_a_record_without_time_the_keys_decide_and_it_follows_none_that_has_one():
    assert SCOPES.later("timeless") == ["a3", "a2", "a1"]
    assert "timeless" not in SCOPES.later("a1")


@settings(deadline=None)
@given(relations(), st.data())
def test_it_finds_what_a_look_at_every_record_finds(relation, data):
    scopes = ScopeTimes(relation.records)
    one = data.draw(st.sampled_from(relation.records))
    expected = {
        other.id
        for other in relation.records
        if other.id != one.id
        and (one.time is None or (other.time and one.time.before(other.time)))
        and one.entities & other.entities
        and all(
            set(one.values(key)) & set(other.values(key)) for key in one.scope if key in other.scope
        )
    }  # fmt: skip
    found = scopes.later(one.id)
    assert len(found) == len(expected) and set(found) == expected
    assert found == scopes.latest_first(reversed(found))


def test_the_latest_is_right_where_a_scope_holds_one_chain():
    records = [r for i in range(20) for r in chain(f"{i}a", f"{i}b", f"{i}c", scope=f"s{i}")]
    scopes, authority = ScopeTimes(records), Authority(records, [LATER])
    for i in range(20):
        anchor = f"{i}{'abc'[i % 3]}"
        assert scopes.latest([anchor], 1) == list(resolve({"q": {anchor: 1.0}}, authority)["q"])
