"""Judged questions of a folder, those that fare worst first."""

import pyarrow as pa
import pyarrow.parquet as pq

from argus.service.page.questions import read_judged


def write(folder, name, **columns):
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def test_questions_that_were_not_met_come_first_as_they_were_asked_last(tmp_path):
    ids = ["q1", "q2", "q3"]
    write(
        tmp_path, "questions", query_id=ids, question=["near", "lost", "far"],
        wanted=["b", "a", "c, d"], rank=[3, None, 4],
    )  # fmt: skip
    first = read_judged(tmp_path)
    assert (first.rows[0]["text"], first.rows[0]["rank"]) == ("lost", None)
    assert (first.total, first.met) == (3, 2)
    write(
        tmp_path, "per_query", query_id=ids, text=["near", "lost", "far"], state=["measured"] * 3,
        **{"rank before": [3, None, 4], "rank after": [3, None, 11]},
    )  # fmt: skip
    assert [(row["text"], row["wanted"], row["rank"]) for row in read_judged(tmp_path).rows] == [
        ("lost", "a", None), ("far", "c, d", 11), ("near", "b", 3)
    ]  # fmt: skip
    assert read_judged(tmp_path).met == 1


def test_questions_of_a_log_are_not_taken_for_judged_ones(tmp_path):
    write(tmp_path, "questions", question=["q"], text=["words"], asks=[2], risk=[0.5])
    assert read_judged(tmp_path) is None
