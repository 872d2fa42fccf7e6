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
        ("a: !!int x\n", "broken YAML (invalid literal for int()"),
        ("a: !!bool x\n", "broken YAML ('x')"),
        ("? [a]\n: b\n", "a list or a mapping as key; expected text as key"),
        ("a:\n\t- b\n", "line 2: broken YAML (found character '\\t' that cannot start any token); "
         "expected YAML. Mend the line: indent by spaces"),
        ("a: b: c\n", "line 1: broken YAML (mapping values are not allowed here)"),
        ('a: "\\U00110000"\n', "broken YAML"),
        ("a: !!python/object/apply:os.system ['true']\n",
         "tag 'tag:yaml.org,2002:python/object/apply:os.system'; expected plain values without"),
        ("a: !mine x\n", "tag '!mine'"),
        ("a: !!binary aGk=\n", "tag 'tag:yaml.org,2002:binary'"),
        ("a: &x [1]\nb: *x\n", "line 2, field 'b': an anchor is used a second time"),
        ("a: &x [*x]\n", "an anchor is used a second time"),
        ("a: 1\n---\nb: 2\n", "broken YAML (but found another document)"),
    ],
)  # fmt: skip
def test_traps_and_broken_files_are_refused_where_they_stand(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        YamlFile(FILE, text)
    assert words in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {x: 1}\nb: {<<: [*a, *a]}\n", "&a\n? *a\n: 1\n", "? {a: 1}\n: 1\n",
        "a: !!int " + "7" * 10_000 + "\n", "- " * 10_000 + "\n", "? " * 10_000 + "\n",
        "a: " + "{a: " * 10_000 + "\n",
    ],
)  # fmt: skip
def test_what_grows_when_it_is_read_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        YamlFile(FILE, text)


def test_values_are_what_they_look_like() -> None:
    texts = ["NO", "on", "010", "0x1f", "12:30:00", "1_000", "2024-03-01", "1e5", "<<", "7" * 5000]
    listed = "".join(f"- {text}\n" for text in texts)
    assert YamlFile(FILE, listed).value == texts
    assert YamlFile(FILE, "{on: -3, 2024: 0.5, null: ~, a: TRUE}").value == {
        "on": -3, "2024": 0.5, "null": None, "a": True,
    }  # fmt: skip


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
