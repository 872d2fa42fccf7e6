import errno
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from argus.errors import ArgusError, InputError
from argus.knowledge.alignment.database import WORD, database, fewer_words, is_blank
from argus.knowledge.dumps.wikitext import count_words

MEMORY = 32 << 20
ONE = pa.schema([("x", pa.string())])


@pytest.mark.parametrize(
    "text", ["", " ", "\t\n\v\f\r", "\x1c\x1d\x1e\x1f", "\x85\xa0", "\u1680\u2000\u200a\u2028"]
)
def test_white_space_is_what_python_takes_for_it(tmp_path, text):
    assert not text.strip()
    with database(tmp_path, MEMORY) as db:
        db.run("CREATE TABLE t AS SELECT ?::VARCHAR AS x", text)
        assert db.rows(f"SELECT {is_blank('x')}, {is_blank('NULL')} FROM t") == [(True, True)]


def test_every_character_is_white_space_or_not_as_in_python(tmp_path):
    with database(tmp_path, MEMORY) as db:
        rows = db.rows(f"SELECT c, {is_blank('chr(c::INTEGER)')} FROM range(1, 12544) t(c)")
    assert [code for code, blank in rows if blank == bool(chr(code).strip())] == []


def test_words_are_counted_as_in_paragraphs_of_dumps(tmp_path):
    rng = random.Random(0)
    signs = "abé9_ßЖ '’.-,!\n北京がカกขကλ½²ⅻ\u0301"
    texts = ["".join(rng.choices(signs, k=rng.randrange(30))) for _ in range(500)]
    with database(tmp_path, MEMORY) as db:
        db.run("CREATE TABLE t AS SELECT unnest(?::VARCHAR[]) AS x", texts)
        counts = dict(db.rows(f"SELECT x, len(regexp_extract_all(x, '{WORD}')) FROM t"))
        assert counts == {text: count_words(text) for text in texts}
        for n in (1, 3):
            short = dict(db.rows(f"SELECT x, {fewer_words('x', n)} FROM t"))
            assert short == {text: count_words(text) < n for text in texts}


def test_a_query_larger_than_memory_uses_the_disk_meanwhile(tmp_path):
    with database(tmp_path, MEMORY) as db:
        db.run("CREATE TABLE t AS SELECT range AS x, md5(range::VARCHAR) AS y FROM range(1500000)")
        assert any((tmp_path / "database").iterdir())
        batches = db.batches("SELECT y AS x FROM t ORDER BY y", ONE, 10_000)
        assert next(batches).num_rows >= 10_000
        batches.close()
    assert not (tmp_path / "database").exists()


def test_a_full_disk_is_an_error_that_says_what_to_do(tmp_path):
    with (
        pytest.raises(ArgusError, match=r"The disk of .* is full: .*Free some space.*same command"),
        database(tmp_path, MEMORY) as db,
    ):
        db.run("SET max_temp_directory_size = '1MB'")
        db.run("CREATE TABLE t AS SELECT range AS x, md5(range::VARCHAR) AS y FROM range(1500000)")
    assert not (tmp_path / "database").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_elsewhere_in_the_step_is_one_too(tmp_path, number):
    with pytest.raises(ArgusError, match="is full"), database(tmp_path, MEMORY):
        raise OSError(number, "no room")


def test_too_little_memory_is_an_error_of_its_own(tmp_path):
    with (
        pytest.raises(ArgusError, match=r"more memory than it is allowed: failed to .*Allow it"),
        database(tmp_path, MEMORY) as db,
    ):
        db.rows("SELECT len(list(md5(range::VARCHAR))) FROM range(3000000)")


def test_other_errors_of_files_stay_what_they_are(tmp_path):
    with pytest.raises(PermissionError), database(tmp_path, MEMORY):
        raise PermissionError(errno.EACCES, "not yours")


@pytest.mark.parametrize("cut", ["end", "all", "text"])
def test_a_broken_table_is_named(tmp_path, cut):
    path = tmp_path / "shelf" / "000007.parquet"
    path.parent.mkdir()
    pq.write_table(pa.table({"x": ["a"] * 1000}), path)
    whole = path.read_bytes()
    path.write_bytes({"end": whole[:-20], "all": b"", "text": b"not a table at all"}[cut])
    with (
        pytest.raises(InputError, match=r"000007\.parquet.*expected Parquet.*Remove the file"),
        database(tmp_path, MEMORY) as db,
    ):
        db.view("shelf", path.parent, ONE)
        db.count("shelf")


def test_rows_without_a_key_are_no_duplicates(tmp_path):
    pq.write_table(pa.table({"x": [None, "", None, "", "a", "a"]}), tmp_path / "0.parquet")
    with database(tmp_path, MEMORY) as db:
        assert db.view("shelf", tmp_path, ONE, key="x") == 1
        assert db.count("shelf") == 5
        assert db.count("all_shelf") == 6
