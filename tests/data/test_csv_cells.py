import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.authority.learning.files import Proposal, read_proposals, write_proposals
from argus.data import ArtifactFolder
from argus.data.tables import FORMULA, as_written, harmless, raw_csv

EVIL = ['=HYPERLINK("http://x")', "+1", "-1+2", "@SUM(A1)", "\tx", "\rx", "plain", "", "'=quoted"]


def cells(folder: Path, table: pa.Table) -> list[dict[str, str]]:
    home = ArtifactFolder(folder)
    home.open()
    home.write_table("rows", table, csv=True)
    assert pq.read_table(folder / "rows.parquet").equals(table), "the table keeps what there is"
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_no_cell_of_a_table_is_a_formula_and_numbers_stay(tmp_path):
    table = pa.table({"text": EVIL, "n": [-1.5] * len(EVIL), "gone": pa.nulls(len(EVIL))})
    rows = cells(tmp_path, table)
    assert [row["text"] for row in rows] == [*(f"'{t}" for t in EVIL[:6]), "plain", "", "''=quoted"]
    assert {row["n"] for row in rows} == {"-1.5"}


def test_dictionaries_and_large_strings_are_texts_too(tmp_path):
    texts = pa.array(EVIL)
    table = pa.table({"d": texts.dictionary_encode(), "l": texts.cast(pa.large_string())})
    home = ArtifactFolder(tmp_path)
    home.open()
    home.write_table("rows", table, csv=True)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            assert not row["d"].startswith(FORMULA) and not row["l"].startswith(FORMULA)


def test_on_request_cells_are_as_they_are(tmp_path):
    with raw_csv():
        assert [row["text"] for row in cells(tmp_path, pa.table({"text": EVIL}))] == EVIL
    assert harmless("=1") == "'=1"


@given(st.text() | st.text("'=a"))
def test_a_cell_is_never_a_formula_and_reads_back(text):
    assert not harmless(text).startswith(FORMULA)
    assert as_written(harmless(text)) == text


@pytest.mark.parametrize("text", EVIL[:4])
def test_proposals_with_formulas_read_back(tmp_path, text):
    file = tmp_path / "proposals.csv"
    proposal = Proposal(text, "older", 0.5, text, text, titles=(text, text))
    write_proposals(file, [proposal])
    with file.open(encoding="utf-8", newline="") as written:
        assert not any(cell.startswith(FORMULA) for row in csv.reader(written) for cell in row)
    assert read_proposals(file) == [proposal]
