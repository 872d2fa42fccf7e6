import json
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.encoders import EmbeddingStore, stored_fingerprint
from argus.encoders import store as module
from argus.encoders.store import open_store as open_any
from argus.errors import ArgusError, FingerprintMismatch, InputError
from tests.support.draws import examples

DIM = 3


def key(i):
    return i.to_bytes(16, "little")


def vectors(*numbers, dim=DIM):
    """Row of number i: i, i + 0.5, i + 1, ..."""
    return np.array([[i + j / 2 for j in range(dim)] for i in numbers], np.float32)


def open_store(path, fingerprint="a encoder", dim=DIM):
    return EmbeddingStore(path, fingerprint=fingerprint, dim=dim)


def python(code, *arguments):
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)], capture_output=True, text=True
    )


def test_what_is_appended_is_gathered_in_the_order_asked(tmp_path):
    with open_store(tmp_path) as store:
        store.append([key(1), key(2)], vectors(1, 2))
        store.append([key(3)], vectors(3))
        gathered = store.gather([key(3), key(1), key(3)])
    assert gathered.tolist() == [[3, 3.5, 4], [1, 1.5, 2], [3, 3.5, 4]]
    assert gathered.dtype == np.float32


def test_a_key_keeps_the_vector_it_got_first(tmp_path):
    with open_store(tmp_path) as store:
        store.append([key(1)], vectors(1))
        store.append([key(2), key(1)], vectors(2, 100))
        assert store.gather([key(1), key(2)]).tolist() == [[1, 1.5, 2], [2, 2.5, 3]]
        assert len(store) == 2


def test_vectors_of_another_encoder_are_refused_both_named(tmp_path):
    with open_store(tmp_path, "model one") as store:
        store.append([key(1)], vectors(1))
    with pytest.raises(FingerprintMismatch) as refused:
        open_store(tmp_path, "model two")
    assert "stored: model one" in str(refused.value)
    assert "given:  model two" in str(refused.value)
    assert stored_fingerprint(tmp_path) == "model one"


@pytest.mark.parametrize("header", ["", "{", '{"dim": 3}', "[]", "null"])
def test_a_broken_header_is_an_input_error(tmp_path, header):
    (tmp_path / "store.json").write_text(header)
    with pytest.raises(InputError, match="is not the header of an embedding store"):
        stored_fingerprint(tmp_path)


ROWS = 5
ROW_BYTES = 4 * DIM


@given(st.integers(0, ROWS * ROW_BYTES), st.integers(0, ROWS * 16))
@settings(max_examples=examples(60), deadline=None)
def test_a_torn_tail_is_cut_off_and_whole_rows_survive(vector_bytes, key_bytes):
    whole = min(vector_bytes // ROW_BYTES, key_bytes // 16)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "store.json").write_text(json.dumps({"fingerprint": "a encoder", "dim": DIM}))
        (path / "vectors.f32").write_bytes(vectors(*range(ROWS)).tobytes()[:vector_bytes])
        (path / "keys.bin").write_bytes(b"".join(map(key, range(ROWS)))[:key_bytes])
        with open_store(path) as store:
            expected = [*range(whole), *[-1] * (ROWS - whole)]
            assert store.rows([key(i) for i in range(ROWS)]).tolist() == expected
            assert store.vectors.tolist() == vectors(*range(ROWS)).tolist()[:whole]
            store.append([key(i) for i in range(ROWS + 2)], vectors(*range(ROWS + 2)))
        with open_store(path) as store:
            assert store.vectors.tolist() == vectors(*range(ROWS + 2)).tolist()


def test_a_store_that_is_open_elsewhere_is_refused(tmp_path):
    code = """
import sys
from pathlib import Path
from argus.encoders import EmbeddingStore
from argus.errors import ArgusError
try:
    EmbeddingStore(Path(sys.argv[1]), fingerprint="a encoder", dim=3)
except ArgusError as error:
    print(error)
    sys.exit(2)
"""
    with open_store(tmp_path) as store:
        store.append([key(1)], vectors(1))
        second = python(code, tmp_path)
        assert second.returncode == 2, second.stderr
        assert f"{tmp_path} is in use by another run" in second.stdout
        store.append([key(2)], vectors(2))
    with open_store(tmp_path) as store:
        assert store.vectors.tolist() == [[1, 1.5, 2], [2, 2.5, 3]]


@pytest.mark.parametrize(
    ("dim", "whole"),
    [
        (8, 40),  # rows of 32 bytes are cut short, no key is written
        (2, 60),  # rows of 8 bytes all fit, keys of 16 fill the disk: 60 of them are whole
    ],
)
def test_a_full_disk_is_said_and_what_was_stored_is_whole(tmp_path, dim, whole):
    code = """
import resource, signal, sys
from pathlib import Path
import numpy as np
from argus.encoders import EmbeddingStore
from argus.errors import ArgusError
dim = int(sys.argv[2])
store = EmbeddingStore(Path(sys.argv[1]), fingerprint="a encoder", dim=dim)
rows = np.array([[i + j / 2 for j in range(dim)] for i in range(80)], np.float32)
keys = [i.to_bytes(16, "little") for i in range(80)]
store.append(keys[:40], rows[:40])
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limit = 60 * max(4 * dim, 16) + 3  # in the middle of row 60, or of its key
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
try:
    store.append(keys[40:], rows[40:])
except ArgusError as error:
    print(error)
    print(len(store), len(store.vectors), float(store.vectors[39, 0]))
    sys.exit(2)
"""
    full = python(code, tmp_path, dim)
    assert full.returncode == 2, full.stderr
    message, after = full.stdout.splitlines()
    assert f"failed (File too large); the {whole} vectors already there are whole" in message
    assert after == f"{whole} {whole} 39.0"
    assert (tmp_path / "keys.bin").stat().st_size == whole * 16
    assert (tmp_path / "vectors.f32").stat().st_size == whole * 4 * dim
    with open_store(tmp_path, dim=dim) as store:
        assert store.vectors.tolist() == vectors(*range(whole), dim=dim).tolist()
        store.append([key(i) for i in range(80)], vectors(*range(80), dim=dim))
        assert store.vectors.tolist() == vectors(*range(80), dim=dim).tolist()


def test_vectors_without_a_header_are_nobodys(tmp_path):
    with EmbeddingStore(tmp_path, fingerprint="one", dim=2) as store:
        store.append([b"k" * 16], np.ones((1, 2), np.float32))
    (tmp_path / "store.json").unlink()
    with pytest.raises(InputError, match=r"no store\.json"):
        EmbeddingStore(tmp_path, fingerprint="two", dim=2)


def test_many_vectors_are_gathered_in_a_file_of_the_store(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "GATHER_ROWS", 3)
    keys = [bytes([i]) * 16 for i in range(10)]
    vectors = np.arange(20, dtype=np.float32).reshape(10, 2)
    order = [7, 0, 9, 3, 3, 5, 1]
    with EmbeddingStore(tmp_path / "s", fingerprint="f", dim=2) as opened:
        opened.append(keys, vectors)
        in_memory = opened.gather([keys[i] for i in order])
        monkeypatch.setattr(module, "LARGE_BYTES", 20)
        first = opened.gather([keys[i] for i in order])
        second = opened.gather(keys)
        assert isinstance(first, np.memmap) and not isinstance(in_memory, np.memmap)
        assert not first.flags.writeable
        np.testing.assert_array_equal(first, in_memory)
        np.testing.assert_array_equal(second, vectors)
        assert len(list((tmp_path / "s").glob("gathered-*"))) == 2
    assert not list((tmp_path / "s").glob("gathered-*"))
    np.testing.assert_array_equal(first, vectors[order])  # still mapped here


def test_a_full_disk_while_gathering_is_named_and_leaves_nothing(tmp_path, monkeypatch, full_disk):
    monkeypatch.setattr(module, "LARGE_BYTES", 0)
    with EmbeddingStore(tmp_path / "s", fingerprint="f", dim=256) as opened:
        keys = [i.to_bytes(16, "little") for i in range(64)]
        opened.append(keys, np.ones((64, 256), np.float32))
        full_disk(module.EmbeddingStore, "gather", 4096)
        with pytest.raises(ArgusError, match=r"gathering 64 vectors failed .+the store is whole"):
            opened.gather(keys)
        assert not list((tmp_path / "s").glob("gathered-*"))
        assert len(opened) == 64


def test_vectors_that_are_held_are_kept_without_a_copy_of_all(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "HELD_ROWS", 100)
    keys = [f"{i:016}".encode() for i in range(4_000)]
    vectors = np.random.default_rng(0).normal(size=(len(keys), 1_024)).astype(np.float32)
    with EmbeddingStore(tmp_path, fingerprint="f", dim=1_024) as store:
        store.lay_over(keys, vectors, {7: "broken"})
        tracemalloc.start()
        kept = store.keep(keys)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < vectors.nbytes / 2
        assert kept[7] == keys[7] and len(store) == len(keys) - 1
        mine = [i for i in range(len(keys)) if i != 7]
        rows = store.rows_stored([kept[i] for i in mine])
        np.testing.assert_array_equal(store.vectors[rows], vectors[mine])


def overwrite(path, start, content):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(content)


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 1e30])
def test_rows_of_a_torn_block_are_forgotten_for_good(tmp_path, monkeypatch, value):
    monkeypatch.setattr(module, "CHECK_ROWS", 2)
    keys = [key(i) for i in range(1, 8)]
    rows = vectors(*range(1, 8))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    with open_store(tmp_path) as store:
        store.append(keys, rows)
    torn = np.full(4, value, np.float32).tobytes()  # all of row 3, and a third of row 4
    overwrite(tmp_path / "vectors.f32", 3 * ROW_BYTES, torn)
    with open_store(tmp_path) as store:
        assert store.forget_broken([keys[0], keys[5], key(99)], unit=True) == 0
        assert store.forget_broken([*keys, keys[3]], unit=True) == 2
        assert store.rows(keys).tolist() == [0, 1, 2, -1, -1, 5, 6]
    with open_store(tmp_path) as store:
        assert store.forget_broken(keys, unit=True) == 0
        assert (len(store), keys[3] in store) == (7, False)
        store.append(keys[3:5], rows[3:5])
    with open_store(tmp_path) as store:
        np.testing.assert_array_equal(store.gather(keys), rows)
        assert store.rows(keys).tolist() == [0, 1, 2, 7, 8, 5, 6]


def test_a_torn_block_of_keys_leaves_the_rows_in_their_places(tmp_path):
    keys = [key(i) for i in range(1, 7)]
    with open_store(tmp_path) as store:
        store.append(keys, vectors(*range(1, 7)))
    overwrite(tmp_path / "keys.bin", 2 * 16, bytes(3 * 16))
    with open_store(tmp_path) as store:
        assert store.rows(keys).tolist() == [0, 1, -1, -1, -1, 5]
        store.append(keys, vectors(*range(1, 7)))
        assert store.gather(keys).tolist() == vectors(*range(1, 7)).tolist()


def test_what_is_held_is_not_looked_for_on_the_disk(tmp_path):
    keys = [key(1), key(2)]
    with open_store(tmp_path) as store:
        store.append([key(9)], vectors(9))
        store.lay_over(keys, vectors(1, 2), {})
        assert store.forget_broken([*keys, key(9)]) == 0


@pytest.mark.parametrize("family", ["dense", "tokens", "sparse"])
def test_another_dim_than_the_headers_is_refused_and_nothing_is_cut(tmp_path, family):
    open_any(family, tmp_path, fingerprint="one", dim=4).close()
    files = {"vectors.f32": 64, "values.f32": 64, "columns.i32": 16, "ends.i64": 32, "keys.bin": 64}
    for name, size in files.items():
        (tmp_path / name).write_bytes(bytes(size))
    for dim in (2, 40):
        with pytest.raises(InputError, match=rf"store\.json: says dim 4, .* vectors of {dim}"):
            open_any(family, tmp_path, fingerprint="one", dim=dim)
    assert {name: (tmp_path / name).stat().st_size for name in files} == files


def test_who_only_reads_changes_nothing(tmp_path):
    with open_store(tmp_path) as store:
        store.append([key(i) for i in (1, 2, 3)], vectors(1, 2, 3))
    overwrite(tmp_path / "vectors.f32", ROW_BYTES, bytes(ROW_BYTES))
    for name in ("vectors.f32", "keys.bin"):
        with (tmp_path / name).open("ab") as file:
            file.write(b"torn")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with EmbeddingStore(tmp_path, fingerprint="a encoder", dim=DIM, writes=False) as store:
        assert store.forget_broken([key(i) for i in (1, 2, 3)]) == 1
        assert store.rows([key(i) for i in (1, 2, 3)]).tolist() == [0, -1, 2]
        assert store.gather([key(3)]).tolist() == [[3, 3.5, 4]]
        with pytest.raises(ValueError, match="was opened to be read"):
            store.append([key(4)], vectors(4))
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
