from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data import content_hash
from tests.support.draws import examples


@settings(max_examples=examples(40))
@given(
    st.lists(st.text("ab", max_size=3), max_size=4), st.lists(st.text("ab", max_size=3), max_size=4)
)
def test_parts_never_run_together(a: list[str], b: list[str]) -> None:
    assert (content_hash(*a) == content_hash(*b)) == (a == b)
