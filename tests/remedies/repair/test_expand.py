"""`remedy expand` from end to end, against a recomputation with plain loops."""

import json

import numpy as np
import pyarrow.parquet as pq
import pytest

from argus.indexes.views import ViewIndex
from argus.remedies.config import PAPER, ROBUST
from tests.support.repairs import rank, scored, top


def recomputed(result, encoder, k):
    """The receipt of a first remedy from nothing but its views, its diagnosis and the encoder."""
    after = result.index.snapshot().views
    vectors = encoder.encode_documents([v.text for v in after]).astype(np.float64)
    own = [i for i, v in enumerate(after) if v.kind == "original"]
    before = [after[i] for i in own]
    added = [v for v in after if v.kind == "expansion"]
    rows, fell, lists = [], {}, {}
    for risk in pq.read_table(result.folder / "diagnosis.parquet").to_pylist():
        if not risk["flagged"]:
            continue
        name, doc_id = risk["entity"], risk["doc_id"]
        query = encoder.encode_queries([name])[0].astype(np.float64)
        old, new = scored(before, vectors[own], query), scored(after, vectors, query)
        lists[name] = (top(old, k), top(new, k))
        mine = [v for v in added if v.doc_id == doc_id]
        rows.append(
            {
                "doc_id": doc_id,
                "entity": name,
                "rank_before": rank(old, doc_id),
                "rank_after": rank(new, doc_id),
                "rps": risk["rps"],
                "views": len(mine),
                "state": "measured",
                "reason": "",
            }
        )
    for old, new in lists.values():
        for doc_id in old - new:
            fell[doc_id] = fell.get(doc_id, 0) + 1
    return [{**row, "fell_from_lists": fell.get(row["doc_id"], 0)} for row in rows], fell, added


def agrees(result, encoder, k):
    rows, fell, added = recomputed(result, encoder, k)
    table = pq.read_table(result.folder / "receipt.parquet").to_pylist()
    assert len(table) == len(rows) > 0
    for got, expected in zip(table, rows, strict=True):
        assert got == pytest.approx(expected, abs=2e-3)
    summary = json.loads((result.folder / "summary.json").read_text())["remedy"]
    assert summary == result.summary
    repaired = [row for row in rows if row["views"]]
    assert summary["counts"] == {
        "documents": len({v.doc_id for v in result.index.snapshot().views}),
        "documents_at_risk": len({row["doc_id"] for row in rows}),
        "documents_repaired": len({v.doc_id for v in added}),
        "entities_at_risk": len(rows),
        "views": len(added),
        "bytes": sum(len(v.text.encode()) + 4 * 384 for v in added),
    }
    for part, of in (("risk_queries", rows), ("of_repaired", repaired)):
        old, new = ([row[f"rank_{when}"] for row in of] for when in ("before", "after"))
        assert summary[part] == pytest.approx(
            {
                "queries": len(of),
                "failed": 0,
                "found_before": sum(r <= k for r in old) / len(of),
                "found_after": sum(r <= k for r in new) / len(of),
                "recovered": sum(a > k >= b for a, b in zip(old, new, strict=True)),
                "lost": sum(a <= k < b for a, b in zip(old, new, strict=True)),
            },
            abs=1e-6,
        )
    assert (summary["neighbours_fallen"], summary["places_lost"]) == (
        len(fell),
        sum(fell.values()),
    )
    return summary


@pytest.mark.parametrize("config", [PAPER, ROBUST], ids=["paper", "robust"])
def test_the_receipt_says_what_plain_loops_say(repairable, index, config):
    result = repairable.expand(index, config=config, k=1)
    summary = agrees(result, repairable.encoder, 1)
    assert summary["before"] == f"before:{result.remedy}"
    assert summary["counts"]["documents_at_risk"] == 11
    csv = (result.folder / "receipt.csv").read_text().splitlines()
    assert csv[0] == (
        '"doc_id","entity","rank_before","rank_after","rps","views",'
        '"fell_from_lists","state","reason"'
    )
    assert len(csv) == 17


def without_times(result):
    return {k: v for k, v in result.summary.items() if k not in ("seconds", "added")}


def test_the_same_repair_twice_has_the_same_receipt(repairable, index):
    first = repairable.expand(index)
    version, receipt = first.index.version, (first.folder / "receipt.parquet").read_bytes()
    again = repairable.expand(index)
    assert again.remedy == first.remedy
    assert (first.summary["added"], again.summary["added"]) == (True, False)
    assert ViewIndex.open(index).version == version
    assert without_times(again) == without_times(first)
    assert (again.folder / "receipt.parquet").read_bytes() == receipt
