"""Files that `argus research audit` cannot read: a message to act on, and exit code 2."""

import json

import pytest

from tests.cli.conftest import DOCUMENTS

LINES = [json.dumps(row) for row in DOCUMENTS]
UNKNOWN = (
    "line 2, field 'object': 'd99' is not the id of an entity; expected one of the 12 ids read. "
    "Add the entity, mend the id, or pass --skip-unknown.\n"
)
NOT_UTF8 = (
    "line 3: byte 0xe9 at position 8 is not UTF-8; expected a UTF-8 file. "
    "Convert it: iconv -f LATIN1 -t UTF-8 c.csv > fixed.csv"
)


@pytest.mark.parametrize(
    ("option", "name", "content", "said"),
    [
        ("--relations", "e.tsv", "d00\tr\td01\nd01\tr\td99\n", UNKNOWN),
        ("--relations", "e.csv", "left,right\nd00,d01\n", "line 2: no edge's end field among"),
        ("--relations", "e.tsv", "a\tr\tb\tc\n", "line 1: 4 columns; expected 3 (subject, rel"),
        ("--relations", "e.tsv", "d00\tr\td01\nd00\td01\n", "line 2: 2 columns; expected 3"),
        ("--relations", "e.jsonl", '{"a": "d00"}\n', "line 1: no edge's end field among 'a'"),
        ("--corpus", "c.csv", b"_id,title,text\na,A,fine\nb,B,caf\xe9\n", NOT_UTF8),
        ("--corpus", "c.csv", "_id,title,text\na,A,fine\nb,B,one, two\n",
         "line 3: cannot be split (4 fields, and 3 in the header); "),
        ("--corpus", "c.jsonl", "\n".join([*LINES[:5], '{"_id": "d05", "text" "no colon"}']),
         "line 6: broken JSON: "),
        ("--corpus", "c.jsonl", "\n".join([*LINES, '{"_id": "d03", "text": "again"}']),
         "line 13: id 'd03' was already given on line 4; "),
        ("--corpus", "c.jsonl", '{"_id": "a", "text": "Bern \\ud800"}\n',
         "line 1, field 'text': half a surrogate pair"),
    ],
)  # fmt: skip
def test_the_message_names_file_line_and_mend(
    argus, corpus, tmp_path, text, option, name, content, said
):
    file = text(tmp_path / name, content)
    given = {"--corpus": corpus} | {option: file}
    words = [word for pair in given.items() for word in pair]
    ran = argus("research", "audit", *words, "--out", "out")
    assert (ran.code, ran.out) == (2, "") and f"argus: {file}, {said}" in ran.err
    assert not (tmp_path / "out").exists()
