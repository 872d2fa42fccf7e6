"""Judged questions of a folder, those that fare worst first."""

import pyarrow as pa
import pyarrow.parquet as pq

from argus.service.page.questions.reading import read_judged


def test_questions_that_were_not_met_come_first(tmp_path):
    ranks = [3, None, 11]
    pq.write_table(
        pa.table({"text": ["near", "lost", "far"], "rank before": [1, 1, 1], "rank after": ranks}),
        tmp_path / "per_query.parquet",
    )
    judged = read_judged(tmp_path)
    assert [(row["text"], row["rank"]) for row in judged.rows] == [
        ("lost", None), ("far", 11), ("near", 3)
    ]  # fmt: skip
    assert (judged.total, judged.met) == (3, 1)
    pq.write_table(
        pa.table({"question": ["far", "lost"], "wanted": ["b, c", "a"], "rank": [11, None]}),
        tmp_path / "questions.parquet",
    )
    assert [row["wanted"] for row in read_judged(tmp_path).rows] == ["a", "b, c"]


def test_questions_of_a_log_are_not_taken_for_judged_ones(tmp_path):
    table = {"question": ["q"], "text": ["words"], "asks": [2], "risk": [0.5]}
    pq.write_table(pa.table(table), tmp_path / "questions.parquet")
    assert read_judged(tmp_path) is None
