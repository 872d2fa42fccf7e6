import pyarrow as pa
import pyarrow.parquet as pq

from argus.remedies import diagnosis
from argus.remedies import receipt as remedy

RISKS = [
    {"doc_id": "d1", "entity": "Ska", "rps": 0.1, "flagged": True},
    {"doc_id": "d1", "entity": "Mento", "rps": 0.2, "flagged": True},
    {"doc_id": "d1", "entity": "Jamaica", "rps": 0.9, "flagged": False},
    {"doc_id": "d2", "entity": "Ska", "rps": 0.25, "flagged": True},
    {"doc_id": "d3", "entity": "Ska", "rps": None, "flagged": False},
]
DIAGNOSIS = {
    "tau": 0.3,
    "mean_rps": 0.36,
    "documents": 9,
    "documents_at_risk": 2,
    "histogram": {"edges": [0.0, 0.3, 0.6, 1.0], "entities": [3, 0, 1]},
}

RECEIPT = {
    "k": 10,
    "counts": {"views": 2, "documents_repaired": 2},
    "of_repaired": {"queries": 2, "found_before": 0.5, "found_after": 1.0},
    "neighbours": [],
    "neighbours_fallen": 0,
}

COLUMNS = (
    "doc_id", "entity", "rank_before", "rank_after", "rps_before", "rps_after", "rps_views",
    "views",
)  # fmt: skip


def test_documents_most_at_risk_come_first(tmp_path):
    pq.write_table(pa.Table.from_pylist(RISKS), tmp_path / "diagnosis.parquet")
    section = diagnosis.section(tmp_path, DIAGNOSIS)
    documents = section.tables["documents_at_risk"]
    assert documents["rows"] == [["d1", 2, 3, 0.1, "Ska, Mento"], ["d2", 1, 1, 0.25, "Ska"]]
    entities = section.tables["entities_at_risk"]
    assert entities["rows"] == [["Ska", 2, 3, 0.1], ["Mento", 1, 1, 0.2]]
    assert section.brief.startswith("2 of 9 documents name an entity at risk")


def test_the_receipt_shows_repaired_entities_most_gained_first(tmp_path):
    rows = [
        {"doc_id": "d1", "entity": "Ska", "rank_before": 5, "rank_after": 6, "views": 1},
        {"doc_id": "d2", "entity": "Mento", "rank_before": 90, "rank_after": 2, "views": 1},
        {"doc_id": "d3", "entity": "Dub", "rank_before": 9, "rank_after": 9, "views": 0},
    ]
    rows = [row | {"rps_before": 0.1, "rps_after": 0.2, "rps_views": None} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "receipt.parquet")
    neighbours = [{"doc_id": "d9", "lists": 3, "gained": 0}]
    summary = RECEIPT | {"neighbours": neighbours, "neighbours_fallen": 7}
    section = remedy.section(tmp_path, summary)
    assert section.brief == (
        "2 views for 2 documents; asked for by names at risk, 50.0% → 100.0% come back in the "
        "top 10, and 7 others lost a place"
    )
    assert [row[0] for row in section.tables["receipt"]["rows"]] == ["Mento", "Ska"]
    assert section.tables["receipt"]["total"] == 2
    assert section.tables["receipt_neighbours"] == {
        **section.tables["receipt_neighbours"],
        "rows": [["d9", 3, 0]],
        "total": 7,
    }
    points = section.plots["receipt_ranks"]["data"][0]
    assert (points["x"], points["y"]) == ([90, 5], [2, 6])


def test_relevant_documents_come_by_their_loss_of_rank(tmp_path):
    rows = [
        {"query_id": "q1", "query": "deep", "doc_id": "d1", "rank_before": 90, "rank_after": 300},
        {"query_id": "q2", "query": "top", "doc_id": "d2", "rank_before": 1, "rank_after": 2},
        {"query_id": "q3", "query": "rose", "doc_id": "d3", "rank_before": 9, "rank_after": 3},
        {
            "query_id": "q4",
            "query": "none",
            "doc_id": "d4",
            "rank_before": None,
            "rank_after": None,
        },
    ]
    rest = {"grade": 1, "state": "measured", "reason": ""}
    rows = [row | {"repaired": row["doc_id"] == "d3"} | rest for row in rows]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "receipt_judged.parquet")
    pq.write_table(pa.table({name: [] for name in COLUMNS}), tmp_path / "receipt.parquet")
    section = remedy.section(tmp_path, RECEIPT | {"judged_documents": {}})
    assert section.tables["receipt_judged"]["rows"] == [
        ["top · q2", "d2", 1, 2, "no"],
        ["deep · q1", "d1", 90, 300, "no"],
        ["rose · q3", "d3", 9, 3, "yes"],
    ]
