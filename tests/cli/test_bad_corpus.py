"""Corpora that `argus research audit` cannot read: a message to act on, and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path


def test_a_duplicate_id_names_both_lines(jsonl, documents, refused, tmp_path: Path) -> None:
    path = jsonl(tmp_path / "c.jsonl", [*documents, {"_id": "d03", "text": "again"}])
    message = refused(corpus=path)
    assert message.startswith(f"argus: {path}, line 13: id 'd03' was already given on line 4; ")


def test_what_is_not_utf8_names_line_and_byte_and_how_to_convert(
    text, refused, tmp_path: Path
) -> None:
    path = text(tmp_path / "c.csv", b"_id,title,text\na,A,fine\nb,B,caf\xe9\n")
    message = refused(corpus=path)
    assert message == (
        f"argus: {path}, line 3: byte 0xe9 at position 8 is not UTF-8; expected a UTF-8 file. "
        "Convert it: iconv -f LATIN1 -t UTF-8 c.csv > fixed.csv"
    )


def test_broken_json_in_the_middle_names_its_line_and_column(
    text, documents, refused, tmp_path: Path
) -> None:
    lines = [json.dumps(d) for d in documents]
    lines[5] = '{"_id": "d05", "text" "missing colon"}'
    path = text(tmp_path / "c.jsonl", "\n".join(lines))
    message = refused(corpus=path)
    assert message.startswith(f"argus: {path}, line 6: broken JSON: ")
    assert "Expecting ':' delimiter: line 1 column 23" in message


def test_a_csv_row_of_another_width_names_line_and_header(text, refused, tmp_path: Path) -> None:
    path = text(tmp_path / "c.csv", "_id,title,text\na,A,fine\nb,B,one, two\n")
    message = refused(corpus=path)
    place = f"argus: {path}, line 3: cannot be split (4 fields, and 3 in the header); "
    assert message.startswith(place)
