import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority.relation import Authority
from argus.authority.rules import Record, Rule
from argus.authority.theory import ScopeNames
from argus.authority.variants import expectation, map_frontier, scope_posterior
from tests.support.draws import examples
from tests.support.relations import Naive, relations

NOTE = Rule("note", "advisory", ("package",), order="type")


PACKAGES = {"lib": "mercury", "http": "mercury http", "parser": "mercury-parser"}


def test_an_ambiguous_query_keeps_the_right_document():
    """ "mercury" is a package and the beginning of two others; the bug is one of the parser."""
    records = [
        Record(f"{kind[:3] if kind == 'advisory' else kind}-{id_}", kind, None, {"package": name})
        for id_, name in PACKAGES.items()
        for kind in ("advisory", "note")
    ]
    authority, names = Authority(records, [NOTE]), ScopeNames(records)
    anchors = {"adv-lib": 5.0, "adv-parser": 4.9, "adv-http": 2.0}
    text = "does mercury still choke on nested comments?"
    posterior = scope_posterior(text, anchors, authority, names)
    assert next(iter(posterior)) == ("package", "mercury")
    assert list(map_frontier(authority, posterior, anchors)) == ["note-lib"]
    run = expectation(authority, posterior, anchors)
    assert list(run) == ["note-lib", "note-parser", "note-http"]
    assert sum(run.values()) == pytest.approx(1)
    assert run["note-parser"] > 0.2


@settings(max_examples=examples(100), deadline=None)
@given(relations(edges=1), st.data())
def test_expectation_is_the_sum_over_scopes_by_rule_checks(relation, data):
    naive = Naive(*relation.parts)
    assume(not naive.has_cycle)
    authority, names = Authority(*relation.parts), ScopeNames(relation.records)
    scores = st.floats(-3, 3, allow_subnormal=False)
    anchors = data.draw(st.dictionaries(st.sampled_from(sorted(naive.records)), scores))
    text = " ".join(data.draw(st.lists(st.sampled_from(["x", "Y", "z", "what", "is"]))))
    posterior = scope_posterior(text, anchors, authority, names)
    assert not posterior or sum(posterior.values()) == pytest.approx(1)
    expected = dict.fromkeys(naive.records, 0.0)
    for (key, value), probability in posterior.items():
        inside = [id_ for id_ in anchors if value in naive.records[id_].values(key)]
        for id_ in naive.controlling(inside):
            expected[id_] += probability
    run = expectation(authority, posterior, anchors)
    assert run == pytest.approx({id_: p for id_, p in expected.items() if p})
    assert list(run) == sorted(run, key=lambda id_: (-run[id_], id_))
