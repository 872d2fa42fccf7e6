from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.data.yaml_file import YamlFile
from argus.errors import InputError
from tests.support.draws import examples

FILE = Path("rules.yaml")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: 1\nb:\n  c: 1\n  c: 2\n",
         "rules.yaml, line 4, field 'b.c': key 'c' is given twice, first on line 3; "
         "expected each key once."),
        ("type: NO\n", "line 1, field 'type': NO is a boolean to YAML; expected a value that is "
         'what it looks like. Quote it: "NO".'),
        ("a: [x, on]\n", "field 'a[1]': on is a boolean to YAML"),
        ("a: 010\n", "010 is a whole number to YAML"),
        ("a: 12:30:00\n", "12:30:00 is a whole number to YAML"),
        ("a: 1_000\n", "1_000 is a whole number to YAML"),
        ("a: 1:30.5\n", "1:30.5 is a number to YAML"),
        ("a: !!float x\n", "x is a number to YAML"),
        ("a: !!int x\n", "x is a whole number to YAML"),
        ("a: !!bool x\n", "x is a boolean to YAML"),
        ("on: x\n", 'key on is a boolean to YAML; expected text as key. Quote it: "on".'),
        ("2024: x\n", "key 2024 is a whole number to YAML"),
        ("? [a]\n: b\n", "is no text to YAML"),
        ("a:\n\t- b\n", "line 2: broken YAML (found character '\\t' that cannot start any token); "
         "expected YAML. Indent by spaces: YAML takes no tabs."),
        ("a: b: c\n", "line 1: broken YAML (mapping values are not allowed here)"),
        ("a: [b\n", "broken YAML"),
        (f"a: {'7' * 5000}\n", "is a whole number to YAML"),
        ('a: "\\UFFFFFFFF"\n', "broken YAML"),
        ('a: "\\U00110000"\n', "broken YAML"),
        ("a: !!python/object/apply:os.system ['true']\n",
         "tag 'tag:yaml.org,2002:python/object/apply:os.system'; expected plain values without"),
        ("a: !mine x\n", "tag '!mine'"),
        ("a: !!set {x}\n", "tag 'tag:yaml.org,2002:set'"),
        ("a: !!binary aGk=\n", "tag 'tag:yaml.org,2002:binary'"),
        ("a: &x [1]\nb: *x\n", "line 2, field 'b': an anchor is used a second time"),
        ("a: &x [*x]\n", "an anchor is used a second time"),
        ("a: 1\n---\nb: 2\n", "broken YAML (but found another document)"),
        ("a: \x00\n", "broken YAML"),
    ],
)  # fmt: skip
def test_traps_and_broken_files_are_refused_where_they_stand(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        YamlFile(FILE, text)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [x, x]\n" + "".join(f"b{i}: [*a, *a]\n" for i in range(9)),
        "a: &a {x: 1}\nb: {<<: [*a, *a]}\n",
        "a: &a [*a]\n",
        "&a\n? *a\n: 1\n",
        "? [a, b]\n: 1\n",
        "? {a: 1}\n: 1\n",
        "a: !!python/object/apply:os.system [x]\n",
        "a: !!binary SGVsbG8=\n",
        "a: !!set {x, y}\n",
        "a: 1" + ":59" * 10_000 + "\n",
        "a: 0x" + "f" * 10_000 + "\n",
        "- " * 10_000 + "\n",
        "? " * 10_000 + "\n",
        "a: " + "{a: " * 10_000 + "\n",
    ],
)
def test_what_grows_when_it_is_read_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        YamlFile(FILE, text)


VALUES = st.recursive(
    st.one_of(st.text(), st.integers(), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=6,
)


@settings(max_examples=examples(50))
@given(st.dictionaries(st.text(), VALUES))
def test_what_yaml_writes_is_read_back(value: dict[str, Any]) -> None:
    text = yaml.dump(value, Dumper=Plain)
    assert YamlFile(FILE, text).value == (value or {})


class Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True
