"""Stores of vectors and of rows of different length: whole after a kill, bound to one encoder."""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.encoders import EmbeddingStore, open_store, read_header
from argus.encoders import store as module
from argus.encoders.protocol import arrays_of
from argus.encoders.store import COLUMNS, ENDS, VALUES
from argus.errors import ArgusError, EncoderMismatch, InputError
from tests.support.draws import examples
from tests.support.rows import KINDS, TERMS

DIM = 3


def key(i):
    return i.to_bytes(16, "little")


def vectors(*numbers):
    """Row of number i: i, i + 0.5, i + 1, ..."""
    return np.array([[i + j / 2 for j in range(DIM)] for i in numbers], np.float32)


def dense_store(path, fingerprint="an encoder"):
    return EmbeddingStore(path, fingerprint=fingerprint, dim=DIM)


def test_vectors_are_gathered_in_the_order_asked_and_those_of_another_encoder_refused(tmp_path):
    with dense_store(tmp_path) as store:
        store.append([key(1), key(2)], vectors(1, 2))
        store.append([key(3)], vectors(3))
        gathered = store.gather([key(3), key(1), key(3)])
    assert gathered.tolist() == [[3, 3.5, 4], [1, 1.5, 2], [3, 3.5, 4]]
    assert gathered.dtype == np.float32
    with pytest.raises(EncoderMismatch, match=r"stored: an encoder[\s\S]+given:  model two"):
        dense_store(tmp_path, "model two")
    assert read_header(tmp_path)["fingerprint"] == "an encoder"


@pytest.mark.parametrize("header", ["{", '{"dim": 3}', "[]"])
def test_a_broken_header_is_an_input_error(tmp_path, header):
    (tmp_path / "store.json").write_text(header)
    with pytest.raises(InputError, match="is not the header of an embedding store"):
        read_header(tmp_path)


ROWS = 5
ROW_BYTES = 4 * DIM


@given(st.integers(0, ROWS * ROW_BYTES), st.integers(0, ROWS * 16))
@settings(max_examples=examples(60), deadline=None)
def test_a_torn_tail_is_cut_off_and_whole_rows_survive(vector_bytes, key_bytes):
    whole = min(vector_bytes // ROW_BYTES, key_bytes // 16)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        (path / "store.json").write_text(json.dumps({"fingerprint": "an encoder", "dim": DIM}))
        (path / "vectors.f32").write_bytes(vectors(*range(ROWS)).tobytes()[:vector_bytes])
        (path / "keys.bin").write_bytes(b"".join(map(key, range(ROWS)))[:key_bytes])
        with dense_store(path) as store:
            expected = [*range(whole), *[-1] * (ROWS - whole)]
            assert store.rows([key(i) for i in range(ROWS)]).tolist() == expected
            assert store.vectors.tolist() == vectors(*range(ROWS)).tolist()[:whole]
            store.append([key(i) for i in range(ROWS + 2)], vectors(*range(ROWS + 2)))
        with dense_store(path) as store:
            assert store.vectors.tolist() == vectors(*range(ROWS + 2)).tolist()


def test_a_store_that_is_open_elsewhere_is_refused(tmp_path):
    with dense_store(tmp_path) as store:
        store.append([key(1)], vectors(1))
        with pytest.raises(ArgusError, match="is in use by another run"):
            dense_store(tmp_path)
        store.append([key(2)], vectors(2))
    with dense_store(tmp_path) as store:
        assert store.vectors.tolist() == [[1, 1.5, 2], [2, 2.5, 3]]


WIDTH = {"sparse": TERMS, "tokens": DIM}
families = pytest.mark.parametrize("family", KINDS)


def opened(path, family):
    return open_store(family, path, fingerprint="an encoder", dim=WIDTH[family])


def some_rows(family, n=6):
    return KINDS[family](np.random.default_rng(0), n, whole=False)


def same(a, b):
    pairs = zip(arrays_of(a), arrays_of(b), strict=True)
    return all(np.array_equal(one, other) for one, other in pairs)


@families
def test_a_kill_at_any_byte_leaves_whole_rows(family, tmp_path):
    rows, names = some_rows(family), (VALUES, COLUMNS, ENDS, "keys.bin")
    with opened(tmp_path / "whole", family) as store:
        store.append([key(i) for i in range(3)], rows[:3])
        before = sizes(tmp_path / "whole", names)
        store.append([key(i) for i in range(3, 6)], rows[3:])
    after = sizes(tmp_path / "whole", names)
    written = sum(after.values()) - sum(before.values())
    for cut in range(0, written + 1, 7):
        copy = tmp_path / "copy"
        shutil.copytree(tmp_path / "whole", copy)
        left = cut
        for name in after:  # in the order in which a batch is written
            new = min(left, after[name] - before[name])
            left -= new
            with (copy / name).open("r+b") as file:
                file.truncate(before[name] + new)
        with opened(copy, family) as store:
            n = len(store)
            assert 3 <= n <= 6 and (n == 6 or cut < written)
            assert same(store.gather([key(i) for i in range(n)]), rows[:n])
            store.append([key(i) for i in range(n, 6)], rows[n:])
            assert same(store.gather([key(i) for i in range(6)]), rows)
        shutil.rmtree(copy)


def sizes(folder, names):
    return {name: (folder / name).stat().st_size for name in names if (folder / name).exists()}


@families
def test_a_full_disk_leaves_what_was_there(family, tmp_path, full_disk):
    rows = some_rows(family)
    with opened(tmp_path, family) as store:
        store.append([key(0)], rows[:1])
        limit = (tmp_path / VALUES).stat().st_size + 5
        full_disk(module, "append_bytes", limit)
        with pytest.raises(ArgusError, match="whole"):
            store.append([key(i) for i in range(1, 6)], rows[1:])
        assert len(store) == 1 and same(store.gather([key(0)]), rows[:1])
