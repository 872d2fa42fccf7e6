"""`remedy expand` from end to end: the figures of its receipt, from the rows of its table."""

import pytest

from argus.indexes.views import ViewIndex
from argus.remedies.config import PAPER, ROBUST
from tests.support.repairs import receipt


@pytest.mark.parametrize("config", [PAPER, ROBUST], ids=["paper", "robust"])
def test_the_receipt_counts_its_rows_and_comes_again(repairable, index, config):
    result = repairable.expand(index, config=config, k=1)
    rows, summary = receipt(result), result.summary
    views = result.index.snapshot().views
    added = [v for v in views if v.kind == "expansion"]
    assert summary["before"] == f"before:{result.remedy}"
    assert [row["views"] for row in rows] == [
        sum(view.doc_id == row["doc_id"] for view in added) for row in rows
    ]
    assert summary["counts"] == {
        "documents": len({v.doc_id for v in views}),
        "documents_at_risk": len({row["doc_id"] for row in rows}),
        "documents_repaired": len({v.doc_id for v in added}),
        "entities_at_risk": len(rows),
        "views": len(added),
        "bytes": sum(len(v.text.encode()) + 4 * 384 for v in added),
    }
    repaired = [row for row in rows if row["views"]]
    for part, of in (("risk_queries", rows), ("of_repaired", repaired)):
        found = [(row["rank_before"] == 1, row["rank_after"] == 1) for row in of]
        figures = {
            "queries": len(of),
            "failed": 0,
            "found_before": sum(old for old, _ in found) / len(of),
            "found_after": sum(new for _, new in found) / len(of),
            "recovered": sum(new > old for old, new in found),
            "lost": sum(old > new for old, new in found),
        }
        assert summary[part] == pytest.approx(figures, abs=1e-6)
    fell = {row["doc_id"]: row["fell_from_lists"] for row in rows if row["fell_from_lists"]}
    assert summary["places_lost"] >= sum(fell.values())
    again = repairable.expand(index, config=config, k=1)
    assert (again.remedy, again.summary["added"]) == (result.remedy, False)
    assert ViewIndex.open(index).version == result.index.version
    assert receipt(again) == rows
