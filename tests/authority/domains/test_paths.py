from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.authority.domains.spec import Expression, MissingPath, Template, scalar_text
from argus.data.fields import FieldPath
from argus.errors import InputError, Location


def at(field: str) -> Location:
    return Location(Path("data.json"), 3, field)


def find(path: str, values: dict[str, Any]) -> list[Any]:
    return FieldPath.parse(path).find(values, at)


ADVISORY = {
    "id": "A",
    "aliases": ["CVE-1", None, "CVE-2"],
    "summary": None,
    "affected": [
        {"package": {"ecosystem": "npm", "name": "a"}, "versions": ["1", "2"]},
        {"package": {"ecosystem": "PyPI", "name": "b"}},
    ],
}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("id", ["A"]),
        ("aliases[]", ["CVE-1", "CVE-2"]),
        ("aliases", [["CVE-1", None, "CVE-2"]]),
        ("affected[].package.name", ["a", "b"]),
        ("affected[].versions[]", ["1", "2"]),
        ("summary", []),
        ("nothing.at.all", []),
        ("nothing[].at[]", []),
        ("id[]", ["A"]),
    ],
)
def test_a_path_finds_what_is_there_in_order(path: str, expected: list[Any]) -> None:
    assert find(path, ADVISORY) == expected


def test_a_column_called_like_the_whole_path_comes_first() -> None:
    assert find("openfda.ndc", {"openfda.ndc": "0093-7180", "openfda": {"ndc": "x"}}) == [
        "0093-7180"
    ]
    assert find("a.b", {"a.b": None, "a": {"b": "x"}}) == []


def test_a_list_in_the_middle_says_how_to_write_the_path() -> None:
    with pytest.raises(InputError) as error:
        find("affected.package", ADVISORY)
    assert str(error.value) == (
        "data.json, line 3, field 'affected': a list; expected an object with 'package'. "
        "Write the path as 'affected[].package'."
    )


def test_a_plain_value_in_the_middle_is_refused() -> None:
    with pytest.raises(InputError, match=r"field 'id': 'A'; expected an object with 'x'"):
        find("id.x", ADVISORY)


@pytest.mark.parametrize("path", ["", ".", "a..b", "a[0]", "a[]b", "[]", "a.", "{a}", "a[][]"])
def test_what_is_no_path_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match="is no path"):
        FieldPath.parse(path)


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
    assert Template.parse("{id}#{{x}}").fill(ADVISORY, at) == "A#{x}"
    package = ADVISORY["affected"][0]["package"]  # type: ignore[index]
    assert Template.parse("{id}:{.ecosystem}/{.name}").fill(ADVISORY, at, item=package) == "A:npm/a"
    match = re.search(r"(\d+) U\. ?S\. (\d+)(x)?", "163 U. S. 537")
    assert Template.parse("{1} U.S. {2}{3}").fill({}, at, match=match) == "163 U.S. 537"
    assert Template.parse("{7}").groups == [7]


def test_a_template_wants_one_value_per_path() -> None:
    with pytest.raises(MissingPath, match="summary"):
        Template.parse("{id} {summary}").fill(ADVISORY, at)
    with pytest.raises(InputError, match=r"2 values; expected one, to put into a template"):
        Template.parse("{aliases[]}").fill(ADVISORY, at)
    with pytest.raises(InputError, match="expected an object with 'name'"):
        Template.parse("{.name}").fill(ADVISORY, at, item="text")


@pytest.mark.parametrize("text", ["{", "{id!r}", "{id:>3}", "{}", "{a..b}", "}"])
def test_what_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is no (template|path)"):
        Template.parse(text)


def test_an_expression_is_a_path_or_with_braces_a_template() -> None:
    assert Expression.parse("aliases[]").values(ADVISORY, at) == ["CVE-1", "CVE-2"]
    assert Expression.parse("{id}#x").values(ADVISORY, at) == ["A#x"]
    assert Expression.parse("{summary}#x").values(ADVISORY, at) == []
    with pytest.raises(ValueError, match="scope values only"):
        Expression.parse("{1}")


@pytest.mark.parametrize(
    ("value", "text"), [(" a ", "a"), (7, "7"), (date(2024, 3, 1), "2024-03-01"), ("", "")]
)
def test_text_whole_numbers_and_days_are_text(value: object, text: str) -> None:
    assert scalar_text(value, "f", at) == text


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (["a"], r"\['a'\] is of type list; expected one text. Write the path as 'f\[\]'"),
        ({"a": 1}, "is of type dict; expected text, or a whole number"),
        (True, "True is of type bool"),
        (1.5, "1.5 is of type float"),
        ("\ud800", "half a surrogate pair"),
    ],
)
def test_other_values_are_no_text(value: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        scalar_text(value, "f", at)
