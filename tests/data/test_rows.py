from __future__ import annotations

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data.rows import Row, file_format, id_value, pick_field, read_rows, text_value
from argus.data.text_files import read_ids
from argus.errors import InputError

TWO = [{"_id": "a", "text": "one"}, {"_id": "b", "text": "zwölf"}]


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


def values(path: Path) -> list[dict[str, object]]:
    return [dict(row.values) for row in read_rows(path)]


def lines(path: Path) -> list[int]:
    return [row.line for row in read_rows(path)]


def error_of(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        list(read_rows(path))
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        ("c.jsonl", '{"_id": "a", "text": "one"}\n{"_id": "b", "text": "zwölf"}\n', [1, 2]),
        ("c.ndjson", '{"_id": "a", "text": "one"}\n{"_id": "b", "text": "zwölf"}', [1, 2]),
        ("c.JSONL", '{"_id": "a", "text": "one"}\r\n{"_id": "b", "text": "zwölf"}\r\n', [1, 2]),
        ("c.csv", "_id,text\na,one\nb,zwölf\n", [2, 3]),
        ("c.tsv", "_id\ttext\na\tone\nb\tzwölf\n", [2, 3]),
    ],
)
def test_text_formats_give_the_same_rows_plain_and_gzipped(
    tmp_path: Path, name: str, text: str, numbers: list[int]
) -> None:
    plain = written(tmp_path / name, text)
    zipped = tmp_path / f"{name}.gz"
    zipped.write_bytes(gzip.compress(text.encode()))
    for path in (plain, zipped):
        assert values(path) == TWO
        assert lines(path) == numbers
        assert {row.file for row in read_rows(path)} == {path}


def test_parquet_gives_the_same_rows_and_counts_rows_from_one(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    pq.write_table(pa.Table.from_pylist(TWO), path, row_group_size=1)
    assert values(path) == TWO
    assert lines(path) == [1, 2]


def test_a_byte_order_mark_is_no_part_of_the_first_field(tmp_path: Path) -> None:
    assert values(written(tmp_path / "c.csv", "\ufeff_id,text\na,one\n")) == TWO[:1]
    assert values(written(tmp_path / "c.jsonl", '\ufeff{"_id": "a", "text": "one"}\n')) == TWO[:1]


def test_csv_fields_may_hold_quoted_commas_quotes_and_newlines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.csv", '_id,text\na,"one, two"\nb,"first\nsecond ""quoted"""\nc,last\n'
    )
    assert [v["text"] for v in values(path)] == ["one, two", 'first\nsecond "quoted"', "last"]
    assert lines(path)[0] == 2
    assert lines(path)[2] == 5, "the row after a quoted newline knows its own line"


def test_tsv_takes_quotes_as_they_are(tmp_path: Path) -> None:
    path = written(tmp_path / "c.tsv", '_id\ttext\na\t"Quiet" is a film\nb\tan open " quote\n')
    assert [v["text"] for v in values(path)] == ['"Quiet" is a film', 'an open " quote']


def test_fields_longer_than_the_csv_default_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", f"_id,text\na,{'x' * 200_000}\n")
    assert values(path) == [{"_id": "a", "text": "x" * 200_000}]


def test_blank_lines_are_skipped_but_counted(tmp_path: Path) -> None:
    assert lines(written(tmp_path / "c.jsonl", '\n{"_id": "a"}\n  \n{"_id": "b"}\n')) == [2, 4]
    assert lines(written(tmp_path / "c.csv", "_id,text\n\na,one\n\nb,two\n")) == [3, 5]


def test_files_without_rows_give_no_rows(tmp_path: Path) -> None:
    assert values(written(tmp_path / "c.jsonl", "")) == []
    assert values(written(tmp_path / "c.csv", "")) == []
    assert values(written(tmp_path / "d.csv", "_id,text\n")) == []


def test_broken_json_names_file_line_and_column(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", '{"_id": "a"}\n{"_id": }\n{"_id": "c"}\n')
    message = error_of(path)
    assert message.startswith(f"{path}, line 2: broken JSON at column 9 (Expecting value)")
    assert '{"_id": }' in message
    assert "Mend or remove the line." in message


def test_a_long_broken_line_is_cut_in_the_message(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", '{"text": "' + "x" * 1000 + "\n")
    message = error_of(path)
    assert '{"text": "' + "x" * 50 + "...;" in message


def test_a_json_array_line_is_refused_by_line(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", '{"_id": "a"}\n["b", "two"]\n')
    assert error_of(path).startswith(f'{path}, line 2: a JSON list: ["b", "two"]; expected')


@pytest.mark.parametrize(
    ("name", "text", "number"),
    [
        ("c.csv", "_id,text\na,one\nb,two,three\n", 3),
        ("c.csv", '_id,text\na,"x\ny"\nb\n', 4),
        ("c.tsv", "_id\ttext\na\n", 2),
    ],
)
def test_a_row_of_another_width_names_its_line_and_the_header(
    tmp_path: Path, name: str, text: str, number: int
) -> None:
    path = written(tmp_path / name, text)
    message = error_of(path)
    assert message.startswith(f"{path}, line {number}: ")
    assert "expected 2 as in the header (_id, text)" in message


def test_bytes_that_are_not_utf8_name_line_byte_and_position(tmp_path: Path) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes(b"_id,text\na,one\nb,caf\xe9\n")
    message = error_of(path)
    assert message.startswith(f"{path}, line 3: byte 0xe9 at position 6 is not UTF-8")
    assert "iconv -f LATIN1 -t UTF-8 c.csv" in message


def test_a_missing_file_and_a_folder_are_told_apart(tmp_path: Path) -> None:
    assert error_of(tmp_path / "none.jsonl").startswith(f"{tmp_path / 'none.jsonl'}: no such file")
    assert error_of(tmp_path).startswith(f"{tmp_path}: is a folder")


def test_an_unknown_ending_lists_the_known_ones(tmp_path: Path) -> None:
    assert ".doc is not known" in error_of(written(tmp_path / "c.doc", "x"))
    assert "(none) is not known" in error_of(written(tmp_path / "corpus", "x"))
    for ending in (".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"):
        assert ending in error_of(tmp_path / "c.doc")


def test_what_is_no_parquet_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "c.parquet", "_id,text\na,one\n")
    message = error_of(path)
    assert message.startswith(f"{path}: cannot be read as Parquet")
    assert "true ending" in message


def test_the_format_is_the_last_suffix_before_gz() -> None:
    assert file_format(Path("a.b.CSV.gz")) == ".csv"
    assert file_format(Path("a.csv.jsonl")) == ".jsonl"
    with pytest.raises(InputError, match=r"\(none\) is not known"):
        file_format(Path("archive.gz"))


def test_the_first_known_name_is_picked_in_order() -> None:
    row = Row({"id": "1", "_id": "2"}, Path("c.csv"), 2)
    assert pick_field(row, ["_id", "id"], what="id", option="--id-field") == "_id"
    with pytest.raises(InputError) as caught:
        pick_field(row, ["docno"], what="id", option="--id-field")
    assert str(caught.value) == (
        "c.csv, line 2: no id field among 'id', '_id'; expected one of 'docno'. "
        "Rename the column, or name yours with --id-field."
    )
    with pytest.raises(InputError, match=r"Rename the column\.$"):
        pick_field(row, ["docno"], what="id")


def test_text_is_a_string_or_nothing() -> None:
    row = Row({"a": "x", "b": None, "c": 7}, Path("c.jsonl"), 4)
    assert [text_value(row, name) for name in "abz"] == ["x", "", ""]
    with pytest.raises(InputError) as caught:
        text_value(row, "c")
    assert str(caught.value).startswith(
        "c.jsonl, line 4, field 'c': 7 is of type int; expected a string"
    )


@pytest.mark.parametrize("value", [7, 7.0, True, None, "", ["a"]])
def test_only_non_empty_strings_are_ids(value: object) -> None:
    with pytest.raises(InputError) as caught:
        id_value(Row({"_id": value}, Path("c.jsonl"), 3), "_id")
    assert str(caught.value).startswith(f"c.jsonl, line 3, field '_id': {value!r} is ")


def test_a_number_as_id_says_how_to_pass_it() -> None:
    with pytest.raises(InputError, match=r'7 is a number.*Write "7" in quotes, or pass --coerce'):
        id_value(Row({"_id": 7}, Path("c.jsonl"), 3), "_id")


def test_coercion_turns_whole_numbers_into_text_and_nothing_else() -> None:
    def coerced(value: object) -> str:
        return id_value(Row({"_id": value}, Path("c.jsonl"), 1), "_id", coerce=True)

    assert [coerced(7), coerced(-1), coerced("07")] == ["7", "-1", "07"]
    for refused in (True, False, 7.0, None, ""):
        with pytest.raises(InputError):
            coerced(refused)


def test_a_gzip_file_that_breaks_off_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"_id": "a"}\n' * 100)[:-12])
    assert error_of(path).startswith(f"{path}")


def test_a_file_that_is_no_gzip_is_bad_input(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl.gz", '{"_id": "a"}\n')
    assert error_of(path).startswith(f"{path}")


def test_a_carriage_return_in_a_tsv_field_is_read_or_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "c.tsv", "_id\ttext\na\tone\rtwo\n")
    try:
        assert values(path) == [{"_id": "a", "text": "one\rtwo"}]
    except InputError as error:
        assert str(error).startswith(f"{path}, line 2")


def test_a_quote_that_is_never_closed_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", '_id,text\na,"never closed\nb,two\nc,three\n')
    assert str(path) in error_of(path)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "c.csv", "_id,text,text\na,one,two\n")
    assert str(path) in error_of(path)


def test_a_line_without_an_end_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argus.data.text_files.MAX_LINE", 100)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' + b" " * 10_000))
    assert "line 2: a line of more than 100 bytes" in error_of(tmp_path / "a.jsonl.gz")


def test_ids_keep_all_that_a_line_holds(tmp_path: Path) -> None:
    path = tmp_path / "ids.txt"
    path.write_bytes("\ufeffa\u2028b\r\n\n c\nd \x0b\x85e".encode())
    assert read_ids(path) == [(1, "a\u2028b"), (3, " c"), (4, "d \x0b\x85e")]


def test_ids_are_read_from_a_file_alone(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(InputError, match=r"is a pipe or a device; .* Save what it gives"):
            read_ids(path)


def test_a_pipe_is_no_missing_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "c.jsonl")
    message = error_of(tmp_path / "c.jsonl")
    assert "is a pipe or a device; expected a .jsonl" in message and "to a file first" in message


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_another_encoding_is_told_by_its_mark(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "c.csv"
    path.write_bytes("\ufeff_id,text\na,caf\xe9\n".encode(encoding))
    assert f"iconv -f {encoding[:6].upper()} -t UTF-8 c.csv" in error_of(path)
