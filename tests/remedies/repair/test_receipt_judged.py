"""Where relevant documents of judged queries stood before a repair, and stand after it."""

import numpy as np
import pyarrow.parquet as pq

from argus.data.types import Query
from tests.support.repairs import rank, scored


def judged(result):
    return pq.read_table(result.folder / "receipt_judged.parquet").to_pylist()


def test_ranks_of_relevant_documents_are_what_plain_loops_say(repairable, index):
    qrels = {
        **repairable.qrels,
        "q0": {"old-town": 2, "swim": 1, "rain": 0, "elsewhere": 1},
        "nobody": {"swim": 1},
    }
    queries = [*repairable.queries, Query("blank", " "), Query("unjudged", "ska")]
    result = repairable.expand(index, queries=queries, qrels=qrels, k=1)
    rows = judged(result)
    assert [(r["query_id"], r["doc_id"], r["grade"]) for r in rows[:3]] == [
        ("q0", "elsewhere", 1), ("q0", "old-town", 2), ("q0", "swim", 1)
    ]  # fmt: skip
    assert [r["query_id"] for r in rows[3:]] == ["q1", "q2", "q3", "q4", "q5"]
    assert rows[0]["state"] == "not applicable" and rows[0]["reason"] == "not in the index"
    assert rows[0]["rank_before"] is None and rows[0]["rank_after"] is None
    encoder = repairable.encoder
    views = result.index.snapshot().views
    vectors = encoder.encode_documents([v.text for v in views]).astype(np.float64)
    own = [i for i, v in enumerate(views) if v.kind == "original"]
    repaired = {v.doc_id for v in views if v.kind != "original"}
    for row in rows[1:]:
        query = encoder.encode_queries([row["query"]])[0].astype(np.float64)
        originals = scored([views[i] for i in own], vectors[own], query)
        assert row["rank_before"] == rank(originals, row["doc_id"])
        assert row["rank_after"] == rank(scored(views, vectors, query), row["doc_id"])
        assert row["repaired"] == (row["doc_id"] in repaired) and row["state"] == "measured"
    moves = [(row["rank_before"], row["rank_after"]) for row in rows[1:]]
    assert any(before != after for before, after in moves)
    assert result.summary["judged_documents"] == {
        "measured": 7,
        "not_measured": 1,
        "repaired": sum(row["repaired"] for row in rows[1:]),
        "rose": sum(after < before for before, after in moves),
        "fell": sum(after > before for before, after in moves),
        "recovered": sum(after == 1 < before for before, after in moves),
        "lost": sum(before == 1 < after for before, after in moves),
    }
    page = result.report.read_text(encoding="utf-8")
    assert "Relevant documents of the judged queries" in page
    assert "1 have no rank: receipt_judged.parquet says why" in page
