import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.knowledge.alignment import RAW
from argus.knowledge.sources import EntityRows, RawWriter


def files(work, table="entities"):
    return sorted(path.name for path in (work / "raw" / table).glob("*"))


def test_rows_are_written_in_parts_of_the_raw_tables(tmp_path, monkeypatch):
    monkeypatch.setattr("argus.knowledge.sources.raw.ROWS_PER_PART", 2)
    with RawWriter(tmp_path) as raw:
        for name in "abcde":
            raw.add_entity(name, name.upper(), "Text.", description="d", article="A")
        raw.add_redirect("X", "A", None)
    assert files(tmp_path) == [f"part-0000{i}.parquet" for i in range(3)]
    table = pq.read_table(tmp_path / "raw" / "entities")
    assert table.schema.equals(RAW["entities"])
    assert table.to_pylist()[4] == {
        "id": "e", "label": "E", "description": "d", "article": "A", "paragraph": "Text.",
    }  # fmt: skip
    assert pq.read_table(tmp_path / "raw" / "redirects").to_pylist()[0]["id"] is None


def test_a_source_that_breaks_off_leaves_what_was_there(tmp_path, file):
    with RawWriter(tmp_path) as raw:
        EntityRows(file("good.csv", "id,label,text", "a,A,Text")).write(raw)
    broken = file("bad.csv", "id,label,text", "b,B,Text", "c,C")
    with pytest.raises(InputError), RawWriter(tmp_path) as raw:
        EntityRows(broken).write(raw)
    assert pq.read_table(tmp_path / "raw" / "entities")["id"].to_pylist() == ["a"]


def test_what_a_killed_writer_left_is_no_part(tmp_path, monkeypatch):
    monkeypatch.setattr("argus.knowledge.sources.raw.ROWS_PER_PART", 1)
    killed = RawWriter(tmp_path)
    killed.add_entity("a", "A")
    with RawWriter(tmp_path) as raw:
        raw.add_entity("b", "B")
    assert pq.read_table(tmp_path / "raw" / "entities")["id"].to_pylist() == ["b"]
