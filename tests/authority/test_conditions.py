from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import scopes
from argus.authority.relation import Authority
from argus.authority.theory import check_conditions
from tests.support.draws import examples
from tests.support.relations import Naive, relations, times


@settings(max_examples=examples(150), deadline=None)
@given(relations(), st.sampled_from([0, 1, 64]), st.none() | times, st.data())
def test_they_agree_with_both_conditions_read_off_all_pairs(relation, crowded, effective, data):
    assume(not Naive(*relation.parts).has_cycle)
    naive = Naive(*relation.parts, effective=effective)
    some = st.sets(st.sampled_from([record.id for record in relation.records]))
    r, gold = data.draw(some), data.draw(st.none() | some)
    anchors = None if gold is None else sorted(gold)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        found = check_conditions(sorted(r), Authority(*relation.parts).as_of(effective), anchors)
    wanted = naive.controlling(r if gold is None else gold)
    r &= set(naive.records)
    assert set(found.missing) == wanted - r
    assert set(found.superseded) == {d for d in r if naive.joint[d]}
    assert set(found.ignored) == {d for d in r if naive.joint[d] and not naive.joint[d] & r}
    for missing, (anchor, chain) in found.missing.items():
        assert bool(chain) == (missing != anchor)
    for ignored, chain in found.ignored.items():
        assert chain[0].superseded == ignored
    for chain in (*(chain for _, chain in found.missing.values()), *found.ignored.values()):
        ends = [link.superseded for link in chain[:1]] + [link.superseder for link in chain]
        assert all(new in naive.joint[old] for old, new in pairwise(ends))
        assert not ends or naive.is_active(ends[-1])
