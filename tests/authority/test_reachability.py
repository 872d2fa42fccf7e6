import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from argus.authority import relation as relations_module
from argus.authority import scopes
from argus.authority.audit import rank_targets, supersessions
from argus.authority.relation import Authority
from argus.authority.rules import Edge, Order, Record, Rule
from argus.authority.times import Moment
from argus.errors import InputError, NothingMeasured
from tests.support.draws import examples
from tests.support.relations import relations


@settings(max_examples=examples(200), deadline=None)
@given(
    relations(tuple(Order), ("supersedes", "overrides")),
    st.sampled_from([0, 1, 64]),
    st.sampled_from([(0, 0), (0, 2), (1, 0), (100, 2_000)]),
)
def test_what_chains_share_is_what_each_of_them_finds(relation, crowded, most):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scopes, "CROWDED", crowded)
        patch.setattr(relations_module, "LINKS_PER_RECORD", most[0])
        patch.setattr(relations_module, "LINKS_ANYWAY", most[1])
        try:
            authority = Authority(relation.records, relation.rules, relation.edges)
            pairs = supersessions(authority)
        except (InputError, NothingMeasured):
            assume(False)
        found = {(id_, end.id): (end.chain, end.hops) for id_, end in pairs}
        plain = {
            (id_, end): (chain, len(chain))
            for id_ in sorted(authority.records)
            for end, chain in authority.controlling_chains([id_]).items()
            if chain
        }
        assert list(found.items()) == list(plain.items())


@pytest.mark.parametrize("kind", ["known by", "two orders", "edges"])
def test_one_document_of_a_crowded_scope_costs_no_square(kind):
    count = 1_000
    times = [Moment(n, n + 1, str(n)) for n in range(count)]
    records = [
        Record(f"d{n}", "a", time, {"s": "x", "pair": str(n // 2)}, published=time)
        for n, time in enumerate(times)
    ]
    rules, edges = [Rule("a", "a", "s")], list[Edge]()
    if kind == "two orders":
        rules.append(Rule("a", "a", "pair", order=Order.PUBLISHED))
    if kind == "edges":
        edges = [Edge(f"d{n + 1}", f"d{n}") for n in range(count - 1)]
    authority = Authority(records, rules, edges)
    view = authority.as_of(None, times[-1]) if kind == "known by" else authority
    before = view.calls.edges
    (end,) = relations_module.Endings(view, 16, 20).of("d0")
    assert view.calls.edges - before < 110 * count
    chain = view.controlling_chains(["d0"])[f"d{count - 1}"]
    assert (end.id, end.hops, end.chain) == (f"d{count - 1}", len(chain), chain[:20])


def test_ranks_and_divergence_are_those_of_a_plain_computation():
    rng = np.random.default_rng(0)
    documents = rng.normal(size=(300, 16)).astype(np.float32)
    documents /= np.linalg.norm(documents, axis=1, keepdims=True)
    documents[7] = documents[5]  # a tie
    queries, targets = documents[rng.integers(0, 300, 500)], rng.integers(0, 300, 500)
    targets[0] = 7
    rank, outranking, divergence = rank_targets(queries, documents, targets)
    scores = queries.astype(np.float64) @ documents.astype(np.float64).T
    own = scores[np.arange(500), targets]
    above = (scores > own[:, None] + 1e-9).sum(axis=1)
    equal = (np.abs(scores - own[:, None]) <= 1e-9) & (np.arange(300) < targets[:, None])
    assert rank.tolist() == (1 + above + equal.sum(axis=1)).tolist()
    assert divergence == pytest.approx(scores.max(axis=1) - own, abs=1e-6)
    assert outranking.tolist() == above.tolist()
    assert (outranking < rank - 1).any(), "a tie that the rank counts and N+ does not"
