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


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
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


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("c.csv", '_id,text\na,"x\ny"\nb\n', ", line 4: .* fields, and 2 in the header"),
        ("c.tsv", "_id\ttext\na\n", ", line 2: .* fields, and 2 in the header"),
        ("c.jsonl", '{"_id": "a"}\n{"_id": }\n', ', line 2: broken JSON: .*{"_id": }.*Mend or rem'),
        ("c.jsonl.gz", gzip.compress(b'{"_id": "a"}\n' * 100, mtime=0)[:-12], ""),
    ],
)
def test_a_broken_row_is_refused_with_its_line(
    tmp_path: Path, name: str, text: str | bytes, says: str
) -> None:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=f"^{path}{says}"):
        list(read_rows(path))


def test_coercion_turns_whole_numbers_into_text_and_nothing_else() -> None:
    def coerced(value: object) -> str:
        return id_value(Row({"_id": value}, Path("c.jsonl"), 1), "_id", coerce=True)

    assert [coerced(7), coerced(-1), coerced("07")] == ["7", "-1", "07"]
    for refused in (True, False, 7.0, None, ""):
        with pytest.raises(InputError):
            coerced(refused)


def test_a_line_without_an_end_is_refused_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("argus.data.reading.MAX_LINE", 100)
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(b'{"a": 1}\n' + b" " * 10_000))
    with pytest.raises(InputError, match="a line of more than 100 bytes"):
        list(read_rows(tmp_path / "a.jsonl.gz"))
