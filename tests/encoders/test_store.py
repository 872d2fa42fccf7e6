import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.encoders import EmbeddingStore, stored_fingerprint
from argus.errors import EncoderMismatch, InputError
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


def test_vectors_of_another_encoder_are_refused_both_named(tmp_path):
    with open_store(tmp_path, "model one") as store:
        store.append([key(1)], vectors(1))
    with pytest.raises(EncoderMismatch) as refused:
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
