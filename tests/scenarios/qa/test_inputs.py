import pytest

from argus.data.types import Query
from argus.errors import InputError
from argus.scenarios.qa.cases import read_questions
from tests.support.tasks import lines

QUERIES = [Query("1", "Why?"), Query("2", " "), Query("3", "How?")]


def test_answers_are_read_from_csv_with_commas_and_line_breaks(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text('query-id,reference_answer\n1,"Because, well,\nit is."\n3,So.\n')
    found = read_questions(QUERIES, path)
    assert [q.reference for q in found.sample] == ["Because, well,\nit is.", "So."]


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([{"query_id": "1", "answer": "a"}] * 2, r"a.jsonl, line 2.*query '1' comes twice"),
        ([{"query_id": "1", "answer": ["a"]}], r"is of type list; expected a string"),
    ],
)
def test_a_bad_file_of_answers_names_line_and_field(tmp_path, records, message):
    with pytest.raises(InputError, match=message):
        read_questions(QUERIES, lines(tmp_path / "a.jsonl", *records))
