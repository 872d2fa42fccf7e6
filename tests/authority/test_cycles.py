import itertools
import re

import pytest
from hypothesis import given, settings

from argus.authority.relation import Authority
from argus.authority.rules import Edge, Record, Rule
from argus.authority.times import Moment
from argus.errors import InputError
from tests.support.draws import examples
from tests.support.relations import Naive, relations

NAMED = re.compile(r"'(\w+)'")


def note(id_: str, time: int) -> Record:
    return Record(id_, "note", Moment(time, time + 1, str(time)), {"k": "x"})


BY_TIME = Rule("note", "note", "k", name="in force later")


@settings(max_examples=examples(300), deadline=None)
@given(relations(names=("supersedes", "overrides"), edges=4))
def test_a_relation_is_refused_just_when_a_chain_leads_back(relation):
    naive = Naive(*relation.parts)
    if not naive.has_cycle:
        Authority(*relation.parts)
        return
    with pytest.raises(InputError) as error:
        Authority(*relation.parts)
    message = str(error.value)
    chain = NAMED.findall(message.split(";")[0])
    pairs = set().union(*naive.direct.values())
    assert chain[0] == chain[-1] and len(chain) > 2
    assert all(pair in pairs for pair in itertools.pairwise(chain))
    assert message.startswith(f"a cycle of {len(chain) - 1}: ")


def test_an_insertion_that_closes_a_cycle_is_refused():
    authority = Authority([note("a", 0), note("b", 2)], [BY_TIME])
    with pytest.raises(InputError, match=r"a cycle of \d: 'c', superseded by 'b'"):
        authority.insert(note("c", 1), [Edge("c", "b")])
    assert authority.controlling(["a"]) == ["b"] and "c" not in authority
    authority.insert(note("c", 3), [Edge("c", "b")])
    assert authority.controlling(["a"]) == ["c"]
