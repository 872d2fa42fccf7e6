import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.remedies import figures as figures_repair
from argus.remedies.diagnosis import section as diagnosis
from argus.remedies.repair import section as remedy

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


def test_more_entities_than_are_named_are_counted(tmp_path):
    many = [{**RISKS[0], "entity": f"E{i}", "rps": i / 100} for i in range(11)]
    pq.write_table(pa.Table.from_pylist(many), tmp_path / "diagnosis.parquet")
    (row,) = diagnosis.section(tmp_path, DIAGNOSIS).tables["documents_at_risk"]["rows"]
    assert row[-1] == "E0, E1, E2, E3, E4, E5, E6, E7 and 3 more"


def test_a_diagnosis_without_any_entity_has_no_empty_tables(tmp_path):
    empty = pa.table({"doc_id": [], "entity": [], "rps": [], "flagged": []})
    pq.write_table(empty, tmp_path / "diagnosis.parquet")
    section = diagnosis.section(tmp_path, DIAGNOSIS | {"mean_rps": None})
    assert not section.plots and not section.tables


@pytest.mark.parametrize(("tau", "low"), [(0.3, 1), (0.6, 2), (0.0, 0), (1.0, 3)])
def test_steps_below_tau_are_coloured_as_risk(tau, low):
    figure = figures_repair.predicted_risk([0.0, 0.3, 0.6, 1.0], [3, 0, 1], tau)
    colours = figure["data"][0]["marker"]["color"]
    assert len(set(colours[:low])) <= 1 and colours.count(colours[0]) in (low, 3 - low, 3)
    assert figure["layout"]["shapes"][0]["x0"] == tau


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


def test_a_risk_query_that_failed_comes_last_and_is_in_no_figure(tmp_path):
    rows = [
        {"doc_id": "d1", "entity": "Ska", "rank_before": None, "rank_after": None, "views": 1},
        {"doc_id": "d2", "entity": "Dub", "rank_before": 9, "rank_after": 8, "views": 1},
    ]
    rows = [row | {"rps_before": 0.1, "rps_after": 0.2, "rps_views": None} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "receipt.parquet")
    section = remedy.section(tmp_path, RECEIPT)
    assert [row[0] for row in section.tables["receipt"]["rows"]] == ["Dub", "Ska"]
    assert section.plots["receipt_ranks"]["data"][0]["x"] == [9]


def test_a_repair_without_neighbours_still_has_its_table(tmp_path):
    pq.write_table(pa.table({name: [] for name in COLUMNS}), tmp_path / "receipt.parquet")
    nothing = {"counts": {"views": 0, "documents_repaired": 0}, "of_repaired": {"queries": 0}}
    section = remedy.section(tmp_path, RECEIPT | nothing)
    assert section.brief == "0 views for 0 documents"
    assert not section.plots and list(section.tables) == ["receipt"]
