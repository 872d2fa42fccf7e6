from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from argus.data.rows import Row, id_value, read_rows
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


def test_csv_fields_may_hold_quoted_commas_quotes_and_newlines(tmp_path: Path) -> None:
    path = written(
        tmp_path / "c.csv", '_id,text\na,"one, two"\nb,"first\nsecond ""quoted"""\nc,last\n'
    )
    assert [v["text"] for v in values(path)] == ["one, two", 'first\nsecond "quoted"', "last"]
    assert lines(path)[0] == 2
    assert lines(path)[2] == 5, "the row after a quoted newline knows its own line"


def test_broken_json_names_file_line_and_column(tmp_path: Path) -> None:
    path = written(tmp_path / "c.jsonl", '{"_id": "a"}\n{"_id": }\n{"_id": "c"}\n')
    message = error_of(path)
    assert message.startswith(f"{path}, line 2: broken JSON: ")
    assert '{"_id": }' in message
    assert "Mend or remove the line." in message


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
    assert "fields, and 2 in the header" in message


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


def test_a_line_without_an_end_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argus.data.reading.MAX_LINE", 100)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' + b" " * 10_000))
    assert "(a line of more than 100 bytes)" in error_of(tmp_path / "a.jsonl.gz")
