"""The table of documents against its own Parquet files, read row by row."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.service.page.documents import ROWS, DocumentTable, Filters
from benchmarks.serve_documents import make

SIZE = 10 * ROWS


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    make(folder, SIZE)
    return folder


@pytest.fixture(scope="module")
def table(folder):
    return DocumentTable(folder)


@pytest.fixture(scope="module")
def plain(folder):
    """The rows of both files, joined by id in plain Python, worst first."""
    audit = {r["id"]: r for r in pq.read_table(folder / "retrievability.parquet").to_pylist()}
    rows = pq.read_table(folder / "exposure.parquet").to_pylist()
    return sorted((row | audit[row["id"]] for row in rows), key=badness)


def badness(row):
    causes = (not row["never_retrieved"], row["never_retrieved"] or row["retrieved_by_own"] > 0)
    return *causes, row["rps"], -row["title_rank"], -row["sentence_rank"], row["id"]


@pytest.mark.parametrize("page", [1, 2, SIZE // ROWS])
@pytest.mark.parametrize("sort", ["", "rps", "-rps", "title_rank", "-title_rank", "label"])
def test_a_page_holds_the_rows_that_stand_there_in_order(table, plain, sort, page):
    name = sort.lstrip("-")
    reverse = sort.startswith("-")
    expected = sorted(plain, key=lambda row: row[name], reverse=reverse) if name else plain
    start = (page - 1) * ROWS
    found, total = table.page(Filters(sort=sort, page=page))
    assert [row["id"] for row in found] == [row["id"] for row in expected[start : start + ROWS]]
    assert total == SIZE


def test_filters_hold_together(table, plain):
    filters = Filters(q="CASTLE", band="low", cause="not by its own words")
    expected = [
        row["id"]
        for row in plain
        if "castle" in row["label"].lower() and row["band"] == "low"
        and not row["never_retrieved"] and row["retrieved_by_own"] == 0
    ]  # fmt: skip
    found, total = table.page(filters)
    assert total == len(expected) and [row["id"] for row in found] == expected[:ROWS]


def test_documents_without_a_title_are_found_by_their_id(tmp_path):
    lost = pa.table({"id": ["d1", "d2"], "cause": ["no vector", None]})
    pq.write_table(lost, tmp_path / "unreached.parquet")
    found, total = DocumentTable(tmp_path).page(Filters(q="D1"))
    assert (total, found[0]["id"], found[0]["cause"]) == (1, "d1", "lost by the index")


@pytest.mark.parametrize("words", ["'", "%", "_", "\\", '"; DROP TABLE documents; --'])
def test_words_are_values_and_never_sql(table, words):
    assert table.page(Filters(q=words)) == ([], 0)
    assert table.page(Filters())[1] == SIZE
