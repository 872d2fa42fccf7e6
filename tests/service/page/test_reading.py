"""Results of a folder as the pages read them: judged questions, receipts, marked texts."""

import pyarrow as pa
import pyarrow.parquet as pq

from argus.service.page.questions import read_judged
from argus.service.page.repairs import Changes, made_already


def write(folder, name, **columns):
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def test_questions_that_were_not_met_come_first_as_they_were_asked_last(tmp_path):
    ids = ["q1", "q2", "q3"]
    write(
        tmp_path, "questions", query_id=ids, question=["near", "lost", "far"],
        wanted=["b", "a", "c, d"], rank=[3, None, 4],
    )  # fmt: skip
    first = read_judged(tmp_path)
    assert (first["rows"][0]["text"], first["total"], first["met"]) == ("lost", 3, 2)
    write(
        tmp_path, "per_query", query_id=ids, text=["near", "lost", "far"], state=["measured"] * 3,
        **{"rank before": [3, None, 4], "rank after": [3, None, 11]},
    )  # fmt: skip
    assert [(row["text"], row["wanted"], row["rank"]) for row in read_judged(tmp_path)["rows"]] == [
        ("lost", "a", None), ("far", "c, d", 11), ("near", "b", 3)
    ]  # fmt: skip


def test_harmed_questions_come_first_and_nothing_is_tried_twice():
    rows = [{"difference": difference} for difference in (0.2, -0.1, 0.0, 0.5, -0.4)]
    changes = Changes.of(rows)
    assert [row["difference"] for row in changes.rows] == [-0.4, -0.1, 0.5, 0.2]
    assert changes[1:] == (2, 2, 1)
    assert made_already(["blend", "expand", None]) == {"kb": "expand"}
    assert made_already(["adapt", "scenarios"]) == {"profiles": "scenarios and adapt"}
