import gzip
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.data import read_qrels
from argus.data.qrels import grade_of
from argus.errors import InputError


def test_judgements_are_read_with_and_without_a_score(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\ta\t1\n")
    assert read_qrels(path) == {"q1": {"a": 2, "b": 0}, "q2": {"a": 1}}
    path.write_text("query-id\tcorpus-id\nq1\ta\n")
    assert read_qrels(path) == {"q1": {"a": 1}}


@pytest.mark.parametrize("name", ["qrels.txt", "test.qrels", "qrels", "judged.tsv", "q.trec.gz"])
def test_trec_judgements_are_read_whatever_the_file_is_called(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    opener = gzip.open if name.endswith(".gz") else open
    with opener(path, "wt") as file:
        file.write("q1 0 a 2\nq1\t0\tb\t0\n\n  q2 Q0 a -1  \n")
    assert read_qrels(path) == {"q1": {"a": 2, "b": 0}, "q2": {"a": -1}}


def test_a_header_decides_over_the_number_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    path.write_text("query-id\tcorpus-id\tscore\tnote\nq1\ta\t2\t7\n")
    assert read_qrels(path) == {"q1": {"a": 2}}


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "q.txt",
            "q 0 a 1\nq 0 b\n",
            "line 2: 3 columns; expected 4, split at white space: que",
        ),
        (
            "q.txt",
            "q 0 a 1\n\nq 0 b high\n",
            "line 3, field 'grade': 'high'; expected a whole numb",
        ),
        ("q.txt", "q 0 a 1_0\n", "field 'grade': '1_0'; expected a whole number"),
        ("q.txt", "q 0 a ١\n", "field 'grade': '١'; expected a whole number"),
        ("q.tsv", "q 0 a 1\nq 0 b 1.5\n", "line 2, field 'grade': '1.5'; expected a whole number"),
        ("q.txt", "query-id\tcorpus-id\tscore\nq\ta\t1\n", "line 1: 3 columns; expected 4, "),
        ("q.tsv", "q\ta\t1\nq\tb\t1\n", "line 2: no query id field among 'q', 'a', '1'"),
        ("q.txt", "\n", "no judgement in it"),
        (
            "q.jsonl",
            '{"query-id": "q", "corpus-id": "a", "score": 1e999}\n',
            "inf; expected a whole",
        ),
    ],
)
def test_broken_judgements_name_file_line_and_field(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value).startswith(str(path)) and message in str(caught.value)


@pytest.mark.parametrize(
    ("name", "head", "form"),
    [("q.tsv", "query-id\tcorpus-id\tscore\n", "{}\t{}\t{}\n"), ("q.txt", "\n", "{} 0 {} {}\n")],
)
def test_a_judgement_given_twice_must_say_the_same_twice(
    tmp_path: Path, name: str, head: str, form: str
) -> None:
    path = tmp_path / name
    equal = head + form.format("q", "a", 1) + form.format("q", "b", 0) + form.format("q", "a", 1)
    path.write_text(equal)
    assert read_qrels(path) == {"q": {"a": 1, "b": 0}}
    path.write_text(equal + form.format("q", "b", 2))
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value) == (
        f"{path}, line 5: document 'b' is graded 2 for query 'q', and 0 before; expected one grade "
        "per document and query. Remove the judgement that is wrong."
    )


@pytest.mark.parametrize("column", ["score", "rel", "relevance", "label", "grade"])
def test_a_grade_is_read_whatever_its_column_is_called(tmp_path: Path, column: str) -> None:
    path = tmp_path / "q.tsv"
    path.write_text(f"qid\titer\tdocid\t{column}\nq1\t0\ta\t0\nq1\t0\tb\t2\n")
    assert read_qrels(path) == {"q1": {"a": 0, "b": 2}}


def test_only_a_file_of_query_and_document_alone_is_all_relevant(tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    path.write_text("qid\titer\tdocno\nq1\t0\ta\n")
    assert read_qrels(path) == {"q1": {"a": 1}}
    path.write_text("qid\tdocid\tRel\nq1\ta\t0\n")
    with pytest.raises(InputError) as caught:
        read_qrels(path)
    assert str(caught.value).startswith(
        f"{path}, line 2: the grade may be in any of 'Rel'; expected one column of grades, called "
        "score, rel, relevance, label, grade"
    )
    path.write_text("qid\tdocid\trel\tscore\nq1\ta\t0\t1\n")
    with pytest.raises(InputError, match="the grade may be in any of 'score', 'rel'"):
        read_qrels(path)


def test_a_row_without_a_grade_among_graded_ones_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"qid": "q", "docid": "a", "rel": 0}\n{"qid": "q", "docid": "b"}\n')
    with pytest.raises(InputError, match="line 2: no grade; expected a grade in every row"):
        read_qrels(path)


WHOLE = [2, 2.0, Decimal("2.00"), np.int64(2), np.float32(2), " 2 ", "+2"]
NO_GRADES = [
    True,
    np.True_,
    b"2",
    0.5,
    Decimal("1.5"),
    Decimal("NaN"),
    Decimal("sNaN"),
    "2.0",
    None,
]


@pytest.mark.parametrize("grade", WHOLE)
def test_a_grade_is_whole_however_it_is_held(grade: object) -> None:
    assert grade_of(grade) == 2


@pytest.mark.parametrize("grade", NO_GRADES)
def test_what_python_alone_takes_for_a_whole_number_is_no_grade(grade: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        grade_of(grade)


@pytest.mark.parametrize(
    "grades", [pa.array([Decimal("0.5")]), pa.array([b"1_0"]), pa.array([True])]
)
def test_a_parquet_column_of_no_whole_grades_is_refused(tmp_path: Path, grades: pa.Array) -> None:
    pq.write_table(
        pa.table({"qid": ["q"], "docid": ["d"], "score": grades}), tmp_path / "q.parquet"
    )
    with pytest.raises(InputError, match=r"field 'score'.*a whole number"):
        read_qrels(tmp_path / "q.parquet")


@pytest.mark.parametrize("grade", ["4294967296", "-9999999999", "9" * 20, "9" * 5000])
def test_a_grade_that_no_gain_can_hold_is_refused(tmp_path, grade):
    path = tmp_path / "qrels.tsv"
    path.write_text(f"query-id\tcorpus-id\tscore\nq1\td1\t{grade}\n")
    with pytest.raises(InputError, match=r"line 2, field 'score'.*at most 1,000,000"):
        read_qrels(path)
