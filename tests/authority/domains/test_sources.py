from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.authority.domains.reading import read_sources
from argus.data.fields import FieldPath
from argus.errors import InputError

A, B = {"id": "a"}, {"id": "b"}


def ids(path: Path, results: str | None = None) -> list[str]:
    at = FieldPath.parse(results) if results else None
    return [source.values["id"] for source in read_sources(path, at)]


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
