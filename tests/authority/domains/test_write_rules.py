import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from argus.authority.domains import load_domain, write_rules
from argus.authority.rules import Order, Rule, ScopeKey
from tests.support.draws import examples

TEXT = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=8)
TRICKY = st.sampled_from(["NO", "on", "2024-03-01", "010", "1.5", "null", "~", "a: b", "# c", "é"])
NAME = st.one_of(TRICKY, TEXT)
NAMES = st.lists(NAME, min_size=1, max_size=3, unique=True).map(tuple)
KEYS = st.one_of(NAME, st.builds(ScopeKey, NAME, NAME))


@st.composite
def rules(draw: Any) -> Rule:
    superseding, superseded = draw(NAMES), draw(NAMES)
    apart = not set(superseding) & set(superseded)
    fields = st.sampled_from(["superseding.status", "superseded.NO", "superseding.a b"])
    return Rule(
        superseding=superseding,
        superseded=superseded,
        scope=tuple(draw(st.lists(KEYS, max_size=3))),
        name=draw(st.one_of(st.just(""), NAME)),
        order=draw(st.sampled_from(list(Order) if apart else [Order.EFFECTIVE, Order.PUBLISHED])),
        condition=draw(st.dictionaries(fields, NAMES, max_size=2)),
        relation=draw(st.one_of(st.just("supersedes"), NAME)),
        confidence=draw(st.floats(0.001, 1)),
    )


@settings(max_examples=examples(50))
@given(st.lists(rules(), min_size=1, max_size=4), NAME)
def test_rules_are_read_back_as_they_were_written(given: list[Rule], name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rules.yaml"
        write_rules(path, given, name=name)
        domain = load_domain(path)
    assert domain.rules == tuple(given)
    assert domain.name == name
    assert domain.shapes is None
