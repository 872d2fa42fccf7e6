from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import scopes
from argus.authority.relation import Authority
from argus.authority.theory import check_conditions
from tests.support.authorities import relations
from tests.support.draws import examples
from tests.support.relations import Naive, times
from tests.support.relations import relations as crossed


@settings(deadline=None)
@given(relations(), st.data())
def test_they_agree_with_both_conditions_read_off_all_pairs(relation, data):
    authority, above = relation.authority, relation.above()
    r = data.draw(st.sets(st.sampled_from(relation.ids)))
    gold = data.draw(st.none() | st.sets(st.sampled_from(relation.ids)))
    found = check_conditions(sorted(r), authority, None if gold is None else sorted(gold))
    closure = {new for a in (r if gold is None else gold) for new in {a} | above[a]}
    assert set(found.missing) == {d for d in closure - r if not above[d]}
    assert set(found.superseded) == {d for d in r if above[d]}
    assert set(found.ignored) == {d for d in r if above[d] and not above[d] & r}
    for ignored, chain in found.ignored.items():
        assert chain[0].superseded == ignored
    for missing, (anchor, chain) in found.missing.items():
        assert bool(chain) == (missing != anchor)
    for chain in (*(chain for _, chain in found.missing.values()), *found.ignored.values()):
        if not chain:
            continue
        ends = [chain[0].superseded] + [k.superseder for k in chain]
        assert not above[ends[-1]]
        assert all(new in above[old] for old, new in pairwise(ends))


@settings(max_examples=examples(150), deadline=None)
@given(crossed(), st.sampled_from([0, 1, 64]), st.none() | times, st.data())
def test_they_agree_in_crowded_scopes_and_at_earlier_times(relation, crowded, effective, data):
    assume(not Naive(*relation.parts).has_cycle)
    naive = Naive(*relation.parts, effective=effective)
    ids = [record.id for record in relation.records]
    r = data.draw(st.sets(st.sampled_from(ids)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        found = check_conditions(sorted(r), Authority(*relation.parts).as_of(effective))
    r &= set(naive.records)
    assert set(found.missing) == naive.controlling(r) - r
    assert set(found.superseded) == {d for d in r if naive.joint[d]}
    assert set(found.ignored) == {d for d in r if naive.joint[d] and not naive.joint[d] & r}
    for chain in found.ignored.values():
        assert naive.is_active(chain[-1].superseder)
