from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.authority.domains.reading import read_sources, source_files
from argus.data.fields import FieldPath
from argus.errors import InputError

A, B = {"id": "a"}, {"id": "b"}


def ids(path: Path, results: str | None = None) -> list[str]:
    at = FieldPath.parse(results) if results else None
    return [source.values["id"] for source in read_sources(path, at)]


@pytest.mark.parametrize(
    ("value", "results"),
    [
        ([A, B], None),
        ({"meta": {}, "results": [A, B]}, None),
        ({"data": {"items": [A, B]}}, "data.items"),
        ({"data": [{"item": A}, {"item": B}]}, "data[].item"),
    ],
)
def test_a_json_file_holds_a_list_of_objects(
    value: object, results: str | None, tmp_path: Path
) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(value))
    assert ids(path, results) == ["a", "b"]


def test_a_json_file_may_be_one_object_and_gzipped(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"id": "a", "results": "none"}, indent=2))
    assert ids(tmp_path / "x.json") == ["a"]
    (tmp_path / "y.json.gz").write_bytes(gzip.compress(json.dumps([A, B]).encode()))
    assert ids(tmp_path / "y.json.gz") == ["a", "b"]


def test_row_formats_are_read_as_everywhere(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n\n{"id": "b"}\n')
    (tmp_path / "b.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "c.tsv").write_text("id\tx\na\t1\nb\t2\n")
    pq.write_table(pa.Table.from_pylist([A, B]), tmp_path / "d.parquet")
    for name in ("a.jsonl", "b.csv", "c.tsv", "d.parquet"):
        assert ids(tmp_path / name) == ["a", "b"]
    assert [s.at("id").line for s in read_sources(tmp_path / "a.jsonl")] == [1, 3]


def test_a_folder_is_read_in_the_order_of_paths(tmp_path: Path) -> None:
    for name in ("2/b.json", "10/a.json", "c.jsonl"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps({"id": name}))
    (tmp_path / "README.md").write_text("about")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "x.json").write_text("{}")
    assert ids(tmp_path) == ["10/a.json", "2/b.json", "c.jsonl"]


def test_a_beir_folder_stands_for_its_corpus(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text('{"id": "a"}\n')
    (tmp_path / "queries.jsonl").write_text('{"id": "q"}\n')
    assert source_files(tmp_path) == [tmp_path / "corpus.jsonl"]


def test_a_place_in_a_json_file_is_told_as_a_field(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({"results": [A, B]}))
    second = list(read_sources(path))[1]
    assert str(second.at("openfda")) == f"{path}, field 'results[1].openfda'"
    assert str(second.at()) == f"{path}, field 'results[1]'"


@pytest.mark.parametrize(
    ("text", "results", "words"),
    [
        ('{"a": \n 1,}', None, "x.json, line 2: broken JSON at column"),
        ("", None, "x.json, line 1: broken JSON at column 1 (Expecting value); expected one JSON "
         "value. Mend the file; one object per line is .jsonl."),
        ("7", None, "x.json: a JSON int; expected an object, a list of objects"),
        ('[{"id": "a"}, 7]', None, "x.json, field '[1]': a JSON int"),
        ('{"results": [[]]}', None, "x.json, field 'results[0]': a JSON list"),
        ('{"result": []}', "results", "x.json: no 'results' among 'result'; expected the list of "
         "objects there. Change `results` in the domain file."),
        ("[]", "results", "x.json: a JSON list"),
        ('{"a": [{"b": 1}]}', "a.b", "x.json, field 'a': a list; expected an object with 'b'"),
        ("[" * 100_000, None, "broken JSON"),
        ("1" * 5000, None, "broken JSON"),
    ],
)  # fmt: skip
def test_broken_files_and_what_is_no_object_are_told(
    text: str, results: str | None, words: str, tmp_path: Path
) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError) as error:
        ids(tmp_path / "x.json", results)
    assert words in str(error.value)


def test_what_is_no_data_file_or_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file or folder"):
        ids(tmp_path / "none.json")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="the folder holds no data file"):
        ids(tmp_path / "empty")
    (tmp_path / "x.xml").write_text("<a/>")
    with pytest.raises(InputError, match=r"file type \.xml is not known"):
        ids(tmp_path / "x.xml")
    (tmp_path / "x.json").write_bytes(b'{"id": "\xe9"}')
    with pytest.raises(InputError, match=r"line 1: byte 0xe9 .* is not UTF-8"):
        ids(tmp_path / "x.json")
    (tmp_path / "y.json.gz").write_bytes(gzip.compress(b"[]")[:-4])
    with pytest.raises(InputError, match="damaged or cut off"):
        ids(tmp_path / "y.json.gz")
