import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.authority.domains.reading import read_sources
from argus.errors import InputError

A, B = {"id": "a"}, {"id": "b"}


def ids(path: Path) -> list[str]:
    return [source.values["id"] for source in read_sources(path)]


def test_json_and_row_formats_are_read_also_gzipped(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(json.dumps({"id": "a", "results": "none"}, indent=2))
    assert ids(tmp_path / "x.json") == ["a"]
    (tmp_path / "y.json.gz").write_bytes(gzip.compress(json.dumps([A, B]).encode()))
    (tmp_path / "a.jsonl").write_text('{"id": "a"}\n\n{"id": "b"}\n')
    (tmp_path / "b.csv").write_text("id,x\na,1\nb,2\n")
    (tmp_path / "c.tsv").write_text("id\tx\na\t1\nb\t2\n")
    pq.write_table(pa.Table.from_pylist([A, B]), tmp_path / "d.parquet")
    for name in ("a.jsonl", "b.csv", "c.tsv", "d.parquet", "y.json.gz"):
        assert ids(tmp_path / name) == ["a", "b"]
    assert [s.at("id").line for s in read_sources(tmp_path / "a.jsonl")] == [1, 3]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"a": \n 1,}', "x.json: broken JSON (Expecting property name"),
        ("7", "x.json, line 1: a JSON int; expected an object, a list of objects"),
        ('[{"id": "a"}, 7]', "x.json, line 2: a JSON int"),
        ('{"results": [[]]}', "x.json, line 1: a JSON list"),
        ("[" * 100_000, "broken JSON"),
        ("1" * 5000, "broken JSON"),
    ],
)  # fmt: skip
def test_broken_files_and_what_is_no_object_are_told(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(InputError) as error:
        ids(tmp_path / "x.json")
    assert words in str(error.value)
