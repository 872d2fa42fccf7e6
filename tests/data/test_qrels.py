import gzip
import re
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

from argus.data import read_qrels
from argus.data.runs import grade_of
from argus.errors import InputError


def test_judgements_are_read_with_and_without_a_score(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\ta\t1\n")
    assert read_qrels(path) == {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}}
    path.write_text("query-id\tcorpus-id\nq1\ta\n")
    assert read_qrels(path) == {"q1": {"a": 1}}


@pytest.mark.parametrize("name", ["test.qrels", "qrels", "judged.tsv", "q.trec.gz"])
def test_trec_judgements_are_read_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "wt") as file:
        file.write("q1 0 a 2\nq1\t0\tb\t0\n\n  q2 Q0 a -1  \n")
    assert read_qrels(path) == {"q1": {"a": 2, "b": 0}, "q2": {"a": -1}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.txt", "q 0 a 1\nq 0 b\n", "line 2: 3 columns; expected 4, split at white space: que"),
        ("q.txt", "q 0 a 1\n\nq 0 b high\n", "line 3, field 'grade': 'high'; expected a whole"),
        ("q.txt", "q 0 a 1_0\n", "field 'grade': '1_0'; expected a whole number"),
        ("q.txt", "q 0 a ١\n", "field 'grade': '١'; expected a whole number"),
        ("q.tsv", "q 0 a 1\nq 0 b 1.5\n", "line 2, field 'grade': '1.5'; expected a whole number"),
        ("q.tsv", "q\ta\t1\nq\tb\t1\n", "line 2: no query id field among 'q', 'a', '1'"),
        ("q.txt", "\n", "no judgement in it"),
        ("q.jsonl", '{"query-id": "q", "corpus-id": "a", "score": 1e999}\n', "inf; expected a"),
    ],
)
def test_broken_judgements_name_file_line_and_field(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(InputError, match=f"^{tmp_path / name}.*{re.escape(message)}"):
        read_qrels(tmp_path / name)


@pytest.mark.parametrize(
    "grade", [True, np.True_, b"2", 0.5, Decimal("1.5"), Decimal("sNaN"), "2.0", None]
)
def test_what_python_alone_takes_for_a_whole_number_is_no_grade(grade: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        grade_of(grade)
