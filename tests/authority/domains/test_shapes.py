from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from argus.authority.domains import load_domain
from argus.authority.records import Record
from argus.errors import InputError

RULES = "rules: [{superseding: a, superseded: b, scope: global}]\n"
TWO = """
records:
  - id: id
    type: a
    scope: {k: k}
  - when: {withdrawn: {exists: true}}
    id: '{id}#withdrawn'
    type: b
    time: withdrawn
    text: 'The record {id} was withdrawn on {withdrawn}.'
"""


def read(tmp_path: Path, records: str, *rows: dict[str, Any], **options: int) -> list[Record]:
    (tmp_path / "d.yaml").write_text(f"{records.strip()}\n{RULES}")
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_domain(tmp_path / "d.yaml").read(path, **options)


def one(tmp_path: Path, shape: str, row: dict[str, Any]) -> Record:
    lines = "\n".join(f"    {line}" for line in shape.strip().splitlines())
    other = "  - {when: {never: {exists: true}}, id: id, type: b}\n"
    text = f"records:\n  - id: id\n    type: a\n{lines}\n{other}"
    return read(tmp_path, text, {"id": "x", **row})[0]


def test_every_matching_shape_makes_a_record(tmp_path: Path) -> None:
    records = read(tmp_path, TWO, {"id": "x"}, {"id": "y", "withdrawn": "2024-03-01"})
    assert [r.id for r in records] == ["x", "y", "y#withdrawn"]
    assert records[2].text == "The record y was withdrawn on 2024-03-01."
    assert (records[1].time, str(records[2].time)) == (None, "2024-03-01")
    assert [r.id for r in read(tmp_path, TWO, {"id": "y", "withdrawn": "2024"}, limit=1)] == ["y"]


@pytest.mark.parametrize(
    ("test", "row", "matches"),
    [
        ("{exists: true}", {"p": "x"}, True),
        ("{exists: true}", {"p": 0}, True),
        ("{exists: true}", {"p": False}, True),
        ("{exists: true}", {"p": ""}, False),
        ("{exists: true}", {"p": []}, False),
        ("{exists: true}", {"p": {}}, False),
        ("{exists: true}", {"p": None}, False),
        ("{exists: false}", {}, True),
        ("{exists: false}", {"p": "x"}, False),
        ("{equals: x}", {"p": "x"}, True),
        ("{equals: x}", {"p": "y"}, False),
        ("{equals: true}", {"p": True}, True),
        ("{equals: true}", {"p": 1}, False),
        ("{equals: 'true'}", {"p": True}, False),
        ("{equals: 7}", {"p": 7}, True),
        ("{in: [x, y]}", {"p": "y"}, True),
        ("{in: [x, y]}", {}, False),
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


def test_one_value_of_a_list_is_enough_for_when(tmp_path: Path) -> None:
    text = "records: [{when: {'t[]': {equals: b}}, id: id, type: a}, {id: '{id}2', type: b}]"
    assert len(read(tmp_path, text, {"id": "x", "t": ["a", "b"]})) == 2
    assert len(read(tmp_path, text, {"id": "x", "t": ["a"]})) == 1


def test_an_object_that_no_shape_matches_is_told_or_skipped(tmp_path: Path) -> None:
    text = TWO.replace("  - id: id\n", "  - when: {k: {exists: true}}\n    id: id\n")
    rows = {"id": "x", "k": "v"}, {"id": "y", "other": 1}
    with pytest.raises(InputError) as error:
        read(tmp_path, text, *rows)
    assert str(error.value) == (
        f"{tmp_path / 'x.jsonl'}, line 2: no record shape of 'd' matches an object with 'id', "
        "'other'; expected what `when` asks for: 'k'; or 'withdrawn'. Give another domain or "
        "file, or write `unmatched: skip` in the domain file."
    )
    assert [r.id for r in read(tmp_path, f"unmatched: skip\n{text.strip()}", *rows)] == ["x"]


def test_the_first_id_and_time_that_are_there_are_taken(tmp_path: Path) -> None:
    text = """
records:
  - {id: [cluster, '{court}-{number}'], type: a, time: [decided, '{year}-{month}'], published: seen}
  - {when: {x: {exists: true}}, id: id, type: b}
"""
    rows = (
        {"cluster": 12, "decided": None, "year": "2024", "month": "03", "seen": ""},
        {"court": "ca9", "number": 7, "decided": "1896-05-18", "seen": "2000"},
    )
    first, second = read(tmp_path, text, *rows)
    assert (first.id, str(first.time), first.published) == ("12", "2024-03", None)
    assert (second.id, str(second.time), str(second.published)) == ("ca9-7", "1896-05-18", "2000")


def test_titles_are_joined_by_commas_and_texts_by_blank_lines(tmp_path: Path) -> None:
    shape = "title: [none, 'brands[]']\ntext: [summary, 'parts[]', none, 'By {who}.']"
    row = {"brands": ["A", "B"], "summary": "S", "parts": ["1", "", "2"], "who": "me"}
    record = one(tmp_path, shape, row)
    assert (record.title, record.text) == ("A, B", "S\n\n1\n\n2\n\nBy me.")
    empty = one(tmp_path, shape, {})
    assert (empty.title, empty.text) == ("", "")


SCOPE = r"""
scope:
  plain: v
  list: 'l[]'
  package: {path: 'affected[].package', template: '{.ecosystem}/{.name}'}
  whole: {path: t, pattern: 'CVE-\d+'}
  group: {path: t, pattern: 'NDC (\d+-\d+)'}
  made: {path: [t, 'l[]'], pattern: '(\d+) U\. ?S\. (\d+)', template: '{1} U.S. {2} of {id}'}
  both: [v, {path: 'l[]', case: upper}]
  constant: {template: 'US'}
  joined: {template: '{id}/{v}'}
  lower: {path: v, case: lower}
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
        "both": ("Val", "X", "Y", "1 U.S. 2"),
        "constant": "US",
        "joined": "x/Val",
        "lower": "val",
    }
    assert one(tmp_path, SCOPE, {"v": "", "l": [], "t": None}).scope == {"constant": "US"}


def test_metadata_is_as_it_is(tmp_path: Path) -> None:
    shape = "metadata: {n: n, tags: 'tags[]', raw: tags, none: none, ok: ok}"
    record = one(tmp_path, shape, {"n": 1.5, "tags": ["a"], "ok": True})
    assert record.metadata == {"n": 1.5, "tags": ["a"], "raw": ["a"], "ok": True}


@pytest.mark.parametrize(
    ("shape", "row", "words"),
    [
        ("", {"id": None}, "line 1, field 'id': an id is missing: no 'id' among 'id'; expected an "
         "id in every object of this shape"),
        ("", {"id": ["a", "b"]}, "field 'id': ['a', 'b'] is of type list; expected one text. Write "
         "the path as 'id[]'."),
        ("", {"id": 1.5}, "field 'id': 1.5 is of type float"),
        ("require: 'a.b'", {"a": {}}, "field 'a.b': a required field is missing: no 'a.b' among"),
        ("time: t", {"t": "soon"}, "line 1, field 't': 'soon' (Invalid"),
        ("time: t", {"t": 20240301}, "20240301 is a number"),
        ("time: t", {"t": ["2024"]}, "field 't': ['2024']"),
        ("title: t", {"t": ["x"]}, "Write the path as 't[]'"),
        ("text: t", {"t": {"x": 1}}, "field 't': {'x': 1} is of type dict; expected text"),
        ("scope: {k: t}", {"t": ["x"]}, "field 't': ['x'] is of type list; expected one text. "
         "Write the path as 't[]'."),
        ("scope: {k: t}", {"t": True}, "True is of type bool"),
        ("scope: {k: {path: t, pattern: x}}", {"t": 1.5}, "1.5 is of type float"),
        ("scope: {k: {path: 't[]', template: '{.n}'}}", {"t": ["x"]},
         "field 'n': 'x'; expected an object with 'n'. Check the path that the template looks in."),
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


def test_an_id_template_with_a_missing_path_names_it(tmp_path: Path) -> None:
    text = TWO.replace("'{id}#withdrawn'", "'{idd}#withdrawn'")
    with pytest.raises(InputError) as error:
        read(tmp_path, text, {"id": "x", "withdrawn": "2024"})
    assert str(error.value) == (
        f"{tmp_path / 'x.jsonl'}, line 1, field '{{idd}}#withdrawn': an id is missing: no "
        "'{idd}#withdrawn' among 'id', 'withdrawn'; expected an id in every object of this shape. "
        "Mend the object, the path in the domain file, or its `when`."
    )


def test_a_type_may_be_in_the_data_and_must_be_there(tmp_path: Path) -> None:
    text = "records: [{id: id, type: {path: kind.name}}]"
    assert read(tmp_path, text, {"id": "x", "kind": {"name": "a"}})[0].type == "a"
    with pytest.raises(InputError, match=r"a type is missing: no 'kind.name' among 'id', 'kind'"):
        read(tmp_path, text, {"id": "x", "kind": {}})


def test_two_ids_of_one_path_are_told(tmp_path: Path) -> None:
    text = "records: [{id: 'ids[]', type: {path: k}}]"
    with pytest.raises(InputError, match="2 values: a, b; expected one id"):
        read(tmp_path, text, {"ids": ["a", "b"], "k": "a"})
