"""Tables in Parquet, and cells of CSV that no spreadsheet computes."""

from __future__ import annotations

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from argus.data import ArtifactFolder
from argus.data.rows import read_rows
from argus.data.tables import (
    FORMULA,
    as_written,
    harmless,
    raw_csv,
    read_batches,
    read_names,
    read_records,
    read_table,
    read_where,
    write_table,
)
from argus.errors import InputError
from tests.support.damage import mutations


class Person(TypedDict):
    id: str
    score: float | None


def table(n: int = 300) -> pa.Table:
    return pa.table(
        {
            "id": [f"d{i}" for i in range(n)],
            "score": [i / 7 for i in range(n)],
            "text": [f"text {i} " * 5 for i in range(n)],
            "when": pa.array([i * 86_400_000_000 for i in range(n)], pa.timestamp("us")),
            "tags": [[str(i), "x"] for i in range(n)],
        }
    )


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
@pytest.mark.parametrize("checksums", [True, False])
def test_no_damage_escapes_and_a_checksum_lets_none_pass(tmp_path, compression, checksums):
    path = tmp_path / "c.parquet"
    options = {"compression": compression, "row_group_size": 100, "write_page_checksum": checksums}
    pq.write_table(table(), path, **options)
    whole = [row.values for row in read_rows(path)]
    refused = 0
    for data in mutations(path.read_bytes(), 150):
        path.write_bytes(data)
        try:
            rows = [row.values for row in read_rows(path)]
        except InputError as error:
            assert str(path) in str(error)
            refused += 1
            continue
        if checksums and [set(row) for row in rows] == [set(row) for row in whole]:
            for row, wanted in zip(rows, whole, strict=True):
                assert {n: row[n] for n in ("id", "text")} == {n: wanted[n] for n in ("id", "text")}
    assert refused > 75


def test_few_rows_are_read_at_once_where_few_bytes_stand_for_many(tmp_path):
    path, n = tmp_path / "c.parquet", 20_000
    long = pa.DictionaryArray.from_arrays(pa.array([0] * n, pa.int32()), ["word " * 200_000])
    for columns in ({"text": long}, {"text": pa.ListArray.from_arrays(range(n + 1), long)}):
        pq.write_table(pa.table({"n": range(n), **columns}), path)
        assert path.stat().st_size < 1 << 18
        first = next(iter(read_batches(path)))
        assert 100 < first.num_rows < 140 and first["n"].to_pylist() == list(range(first.num_rows))
        assert next(iter(read_batches(path, ["n"]))).num_rows == n


def test_rows_of_every_type_are_read(tmp_path):
    path, texts = tmp_path / "c.parquet", ["a", None, "b"]
    columns = {
        "large": pa.array(texts, pa.large_string()),
        "view": pa.array(texts, pa.string_view()),
        "binary": pa.array([b"a", None, b"b"]),
        "listed": pa.array(texts).dictionary_encode(),
        "map": pa.array([[("a", "b")], None, []], pa.map_(pa.string(), pa.string())),
        "structs": [[{"a.b": "c", "d": ["e"]}], None, []],
        "nested": [{"a": {"b": [["c"]]}}, None, {}],
        "dots.in": texts,
        "none": pa.nulls(3),
    }
    written = pa.table(columns)
    pq.write_table(written, path)
    assert pa.Table.from_batches(read_batches(path)).to_pylist() == written.to_pylist()
    assert next(iter(read_batches(path, ["dots.in"])))["dots.in"].to_pylist() == texts


def test_the_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "c.parquet"
    pq.write_table(table(), path, row_group_size=100, write_page_checksum=True)
    column = pq.ParquetFile(path).metadata.row_group(1).column(2)
    data = bytearray(path.read_bytes())
    data[column.data_page_offset + column.total_compressed_size - 9] ^= 255
    path.write_bytes(data)
    rows = read_rows(path)
    assert [next(rows).values["id"] for _ in range(100)][-1] == "d99", "what precedes it is read"
    for read in (lambda: list(rows), lambda: read_table(path), lambda: list(read_batches(path))):
        with pytest.raises(InputError, match="in row group 2 ") as error:
            read()
        assert str(path) in str(error.value)


def test_a_table_of_argus_lacks_no_column_and_holds_the_types_it_should(tmp_path):
    path = tmp_path / "c.parquet"
    write_table(table(3), path)
    assert read_records(Person, path)[2] == {"id": "d2", "score": 2 / 7}
    write_table(table(3).drop(["score"]), path)
    with pytest.raises(InputError, match="no column 'score' among id, text"):
        read_records(Person, path)
    write_table(table(3).set_column(0, "id", pa.array([1, 2, 3])), path)
    with pytest.raises(InputError, match="column 'id' holds int64"):
        read_records(Person, path)
    write_table(table(3).append_column("id", pa.array(["a", "b", "c"])), path)
    with pytest.raises(InputError, match="two columns are called 'id'"):
        read_table(path)
    with pytest.raises(InputError, match=r"nowhere.parquet: cannot be read"):
        read_table(Path(tmp_path / "nowhere.parquet"))


def test_rows_for_which_something_holds_are_read_block_by_block(tmp_path):
    path = tmp_path / "c.parquet"
    pq.write_table(table(), path, row_group_size=7)
    for where in ([("score", ">", 41.5)], [("id", "=", "d7")], [("id", "in", ["d1", "d299"])], []):
        columns = ["id", "text"]
        theirs = pq.read_table(path, columns=columns, filters=where or None)
        assert read_where(path, where, columns).equals(theirs.combine_chunks())
    assert read_where(path, [("id", "=", "none")]).column_names == table(0).column_names
    write_table(table(0), path)
    assert read_where(path, [("id", "=", "d7")], ["text"]).column_names == ["text"]
    assert read_names(path) == set(table(0).column_names)
    with pytest.raises(InputError, match="no column 'other'"):
        read_where(path, [("other", "=", 1)])


EVIL = ['=HYPERLINK("http://x")', "+1", "-1+2", "@SUM(A1)", "\tx", "\rx", "plain", "", "'=quoted"]


def cells(folder: Path, table: pa.Table) -> list[dict[str, str]]:
    home = ArtifactFolder(folder)
    home.open()
    home.write_table("rows", table, csv=True)
    assert pq.read_table(folder / "rows.parquet").equals(table), "the table keeps what there is"
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay(tmp_path):
    table = pa.table({"text": EVIL, "n": [-1.5] * len(EVIL), "gone": pa.nulls(len(EVIL))})
    rows = cells(tmp_path, table)
    assert [row["text"] for row in rows] == [*(f"'{t}" for t in EVIL[:6]), "plain", "", "''=quoted"]
    assert {row["n"] for row in rows} == {"-1.5"}


def test_dictionaries_and_large_strings_are_texts_too(tmp_path):
    texts = pa.array(EVIL)
    table = pa.table({"d": texts.dictionary_encode(), "l": texts.cast(pa.large_string())})
    home = ArtifactFolder(tmp_path)
    home.open()
    home.write_table("rows", table, csv=True)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert not row["d"].startswith(FORMULA) and not row["l"].startswith(FORMULA)


def test_on_request_cells_are_as_they_are(tmp_path):
    with raw_csv():
        assert [row["text"] for row in cells(tmp_path, pa.table({"text": EVIL}))] == EVIL
    assert harmless("=1") == "'=1"


@given(st.text() | st.text("'=a"))
def test_a_cell_is_never_a_formula_and_reads_back(text):
    assert not harmless(text).startswith(FORMULA)
    assert as_written(harmless(text)) == text
