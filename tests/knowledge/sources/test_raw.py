import shutil

import pyarrow.parquet as pq
import pytest

from argus.errors import InputError
from argus.knowledge.alignment import RAW
from argus.knowledge.sources import EntityRows, RawWriter
from argus.knowledge.sources.raw import PartWriter


def files(work, table="entities"):
    return sorted(path.name for path in (work / "raw" / table).glob("*"))


def test_rows_are_written_in_parts_of_the_raw_tables(tmp_path):
    with RawWriter(tmp_path, rows_per_part=2) as raw:
        raw.start_over()
        for name in "abcde":
            raw.add_entity(name, name.upper(), "Text.", description="d", article="A")
        raw.add_redirect("X", "A", None)
    assert raw.counts == {"entities": 5, "relations": 0, "aliases": 0, "redirects": 1}
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


def test_what_a_killed_writer_left_is_no_part(tmp_path):
    killed = RawWriter(tmp_path, rows_per_part=1)
    killed.add_entity("a", "A")
    with RawWriter(tmp_path) as raw:
        raw.start_over()
        raw.add_entity("b", "B")
    assert pq.read_table(tmp_path / "raw" / "entities")["id"].to_pylist() == ["b"]


def test_parts_of_another_writer_are_adopted_after_ones_own(tmp_path):
    mine, other = (PartWriter(tmp_path / n, RAW["aliases"], rows_per_part=2) for n in "mo")
    for writer, names in ((mine, "a"), (other, "bcd")):
        for name in names:
            writer.add("id", name, "alias")
    mine.adopt(other)
    assert mine.rows == 4
    shutil.rmtree(other.folder)
    assert sorted(pq.read_table(mine.folder)["alias"].to_pylist()) == list("abcd")
