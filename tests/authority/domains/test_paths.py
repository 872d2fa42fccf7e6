import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.authority.domains.spec import Template
from argus.data.fields import FieldPath
from argus.errors import Location


def at(field: str) -> Location:
    return Location(Path("data.json"), 3, field)


NAMES = st.text(alphabet="abcxyz_ ", min_size=1, max_size=4).filter(lambda s: s == s.strip())


@given(st.lists(st.tuples(NAMES, st.integers(0, 3)), min_size=1, max_size=4), st.data())
def test_a_path_finds_what_nested_loops_find(steps: list[tuple[str, int]], data: Any) -> None:
    counter = iter(range(1000))

    def build(rest: list[tuple[str, int]]) -> tuple[Any, list[Any]]:
        """Return a value and the leaves that a path through it should find; count 0: no list."""
        if not rest:
            leaf = data.draw(st.one_of(st.none(), st.just(f"leaf{next(counter)}")))
            return leaf, [] if leaf is None else [leaf]
        (name, count), inner = rest[0], rest[1:]
        if count == 0:
            value, leaves = build(inner)
            return {name: value}, leaves
        built = [build(inner) for _ in range(count)]
        return {name: [value for value, _ in built]}, [x for _, leaves in built for x in leaves]

    values, leaves = build(steps)
    path = ".".join(name + ("[]" if count else "") for name, count in steps)
    assert FieldPath.parse(path).find(values, at) == leaves


def test_a_template_is_filled_with_paths_braces_and_groups() -> None:
    assert Template.parse("{id}#{{x}}").fill({"id": "A"}, at) == "A#{x}"
    item = {"ecosystem": "npm", "name": "a"}
    assert Template.parse("{id}:{.ecosystem}/{.name}").fill({"id": "A"}, at, item=item) == "A:npm/a"
    match = re.search(r"(\d+) U\. ?S\. (\d+)(x)?", "163 U. S. 537")
    assert Template.parse("{1} U.S. {2}{3}").fill({}, at, match=match) == "163 U.S. 537"
    assert Template.parse("{7}").groups == [7]


def test_what_is_no_path_or_template_is_refused() -> None:
    for path in ("", ".", "a..b", "a[0]", "a[]b", "[]", "a.", "{a}", "a[][]"):
        with pytest.raises(ValueError, match="is no path"):
            FieldPath.parse(path)
    for text in ("{", "{id!r}", "{id:>3}", "{}", "{a..b}", "}"):
        with pytest.raises(ValueError, match=r"is no (template|path)"):
            Template.parse(text)
