"""Tables in Parquet, and cells of CSV that no spreadsheet computes."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.data.rows import read_rows
from argus.data.tables import FORMULA, as_written, harmless, read_batches, read_table
from argus.errors import InputError
from tests.support.damage import mutations

TABLE = pa.table(
    {
        "id": [f"d{i}" for i in range(300)],
        "score": [i / 7 for i in range(300)],
        "text": [f"text {i} " * 5 for i in range(300)],
        "when": pa.array([i * 86_400_000_000 for i in range(300)], pa.timestamp("us")),
        "tags": [[str(i), "x"] for i in range(300)],
    }
)


@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("checksums", [True, False])
def test_no_damage_escapes_and_a_checksum_lets_none_pass(tmp_path, compression, checksums):
    path = tmp_path / "c.parquet"
    options = {"compression": compression, "row_group_size": 100, "write_page_checksum": checksums}
    pq.write_table(TABLE, path, **options)
    whole = [row.values for row in read_rows(path)]
    refused = 0
    for data in mutations(path.read_bytes(), 70):
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
    assert refused > 30


def test_rows_of_every_type_are_read(tmp_path):
    path, texts = tmp_path / "c.parquet", ["a", None, "b"]
    columns = {
        "view": pa.array(texts, pa.string_view()),
        "binary": pa.array([b"a", None, b"b"]),
        "listed": pa.array(texts).dictionary_encode(),
        "map": pa.array([[("a", "b")], None, []], pa.map_(pa.string(), pa.string())),
        "structs": [[{"a.b": "c", "d": ["e"]}], None, []],
        "nested": [{"a": {"b": [["c"]]}}, None, {}],
        "dots.in": texts,
    }
    written = pa.table(columns)
    pq.write_table(written, path)
    assert pa.Table.from_batches(read_batches(path)).to_pylist() == written.to_pylist()
    assert next(iter(read_batches(path, ["dots.in"])))["dots.in"].to_pylist() == texts


def test_the_damaged_row_group_is_named(tmp_path):
    path = tmp_path / "c.parquet"
    pq.write_table(TABLE, path, row_group_size=100, write_page_checksum=True)
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


@given(st.text() | st.text("'=a"))
def test_a_cell_is_never_a_formula_and_reads_back(text):
    assert not harmless(text).startswith(FORMULA)
    assert as_written(harmless(text)) == text
