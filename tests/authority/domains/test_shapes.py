import json
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import load_domain
from argus.authority.rules import Record
from argus.errors import InputError

RULES = "rules: [{superseding: a, superseded: b, scope: global}]\n"


def read(tmp_path: Path, records: str, *rows: dict[str, Any]) -> list[Record]:
    (tmp_path / "d.yaml").write_text(f"{records.strip()}\n{RULES}")
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_domain(tmp_path / "d.yaml").read(path)


def one(tmp_path: Path, shape: str, row: dict[str, Any]) -> Record:
    lines = "\n".join(f"    {line}" for line in shape.strip().splitlines())
    other = "  - {when: {never: {exists: true}}, id: id, type: b}\n"
    text = f"records:\n  - id: id\n    type: a\n{lines}\n{other}"
    return read(tmp_path, text, {"id": "x", **row})[0]


@pytest.mark.parametrize(
    ("test", "row", "matches"),
    [
        ("{exists: true}", {"p": 0}, True),
        ("{exists: true}", {"p": ""}, False),
        ("{exists: true}", {"p": []}, False),
        ("{exists: true}", {"p": None}, False),
        ("{exists: false}", {}, True),
        ("{exists: false}", {"p": "x"}, False),
        ("{equals: x}", {"p": "x"}, True),
        ("{equals: true}", {"p": True}, True),
        ("{equals: true}", {"p": 1}, False),
        ("{equals: 'true'}", {"p": True}, False),
        ("{equals: 7}", {"p": 7}, True),
        ("{equals: [x, y]}", {"p": "y"}, True),
    ],
)
def test_the_tests_of_when(test: str, row: dict[str, Any], matches: bool, tmp_path: Path) -> None:
    text = f"""
records:
  - {{when: {{p: {test}}}, id: id, type: a}}
  - {{id: '{{id}}2', type: b, when: {{q: {{exists: true}}}}}}
unmatched: skip
"""
    rows = [{"id": "x", **row}, {"id": "z", "q": "so that there is a record"}]
    assert ("x" in [r.id for r in read(tmp_path, text, *rows)]) == matches


SCOPE = r"""
scope:
  plain: v
  list: 'l[]'
  package: {path: 'affected[].package', template: '{.ecosystem}/{.name}'}
  whole: {path: t, pattern: 'CVE-\d+'}
  group: {path: t, pattern: 'NDC (\d+-\d+)'}
  made: {path: [t, 'l[]'], pattern: '(\d+) U\. ?S\. (\d+)', template: '{1} U.S. {2} of {id}'}
  both: [v, 'l[]']
  constant: {template: 'US'}
  joined: {template: '{id}/{v}'}
"""


def test_scope_values_are_found_taken_out_and_put_together(tmp_path: Path) -> None:
    row = {
        "v": " Val ",
        "l": ["x", "y", "x", "1 U.S. 2"],
        "t": "CVE-1, CVE-2, NDC 12-34; 163 U. S. 537",
        "affected": [
            {"package": {"ecosystem": "npm", "name": "a"}},
            {"package": {"ecosystem": "npm"}},
            {"package": {"ecosystem": "PyPI", "name": "b"}},
            {},
        ],
    }
    assert one(tmp_path, SCOPE, row).scope == {
        "plain": "Val",
        "list": ("x", "y", "1 U.S. 2"),
        "package": ("npm/a", "PyPI/b"),
        "whole": ("CVE-1", "CVE-2"),
        "group": "12-34",
        "made": ("163 U.S. 537 of x", "1 U.S. 2 of x"),
        "both": ("Val", "x", "y", "1 U.S. 2"),
        "constant": "US",
        "joined": "x/Val",
    }
    assert one(tmp_path, SCOPE, {"v": "", "l": [], "t": None}).scope == {"constant": "US"}


@pytest.mark.parametrize(
    ("shape", "row", "words"),
    [
        ("", {"id": None}, "line 1, field 'id': 0 values at 'id', among 'id'; expected one id"),
        ("", {"id": ["a", "b"]}, "field 'id': ['a', 'b'] is of type list; expected one text. Write "
         "the path as 'id[]'."),
        ("time: t", {"t": "soon"}, "line 1, field 't': 'soon' (Invalid"),
        ("title: t", {"t": ["x"]}, "Write the path as 't[]'"),
        ("scope: {k: {path: 't[]', template: '{.n}'}}", {"t": ["x"]},
         "field 'n': 'x'; expected an object with 'n'. Check the template's path."),
        ("scope: {k: t.u}", {"t": [{"u": 1}]}, "Write the path as 't[].u'"),
        ("scope: {k: {template: '{t[]}'}}", {"t": ["x", "y"]}, "2 values; expected one"),
        ("metadata: {k: t.u}", {"t": "x"}, "field 't': 'x'; expected an object with 'u'"),
    ],
)  # fmt: skip
def test_what_is_missing_or_of_another_kind_is_told(
    shape: str, row: dict[str, Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError) as error:
        one(tmp_path, shape, row)
    assert words in str(error.value)
