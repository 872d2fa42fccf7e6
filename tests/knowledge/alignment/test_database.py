import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.errors import ArgusError
from argus.knowledge.raw import database, is_blank

MEMORY = 32 << 20
ONE = pa.schema([("x", pa.string())])


def test_every_character_is_white_space_or_not_as_in_python(tmp_path):
    with database(tmp_path, MEMORY) as db:
        rows = db.rows(f"SELECT c, {is_blank('chr(c::INTEGER)')} FROM range(1, 12544) t(c)")
    assert [code for code, blank in rows if blank == bool(chr(code).strip())] == []


def test_a_full_disk_is_an_error_that_says_what_to_do(tmp_path):
    with (
        pytest.raises(ArgusError, match=r"cannot be joined: .*Free disk space.*same command"),
        database(tmp_path, MEMORY) as db,
    ):
        db.run("SET max_temp_directory_size = '1MB'")
        db.run("CREATE TABLE t AS SELECT range AS x, md5(range::VARCHAR) AS y FROM range(1500000)")
    assert not (tmp_path / "database").exists()


@pytest.mark.parametrize("cut", ["end", "text"])
def test_a_broken_table_is_named(tmp_path, cut):
    path = tmp_path / "shelf" / "000007.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"x": ["a"] * 1000}), path)
    whole = path.read_bytes()
    path.write_bytes({"end": whole[:-20], "text": b"not a table at all"}[cut])
    with (
        pytest.raises(ArgusError, match=r"000007\.parquet.*remove that folder"),
        database(tmp_path, MEMORY) as db,
    ):
        db.view("shelf", path.parent, ONE)
        db.count("shelf")
