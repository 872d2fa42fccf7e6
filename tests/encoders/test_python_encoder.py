"""An encoder of a user's own file is asked like any other."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest

from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.python_encoder import PythonEncoder
from argus.errors import EncodingError, InputError
from argus.indexes.job import build_index
from argus.indexes.retriever import search_index

HASHED = """
import re, zlib
import numpy as np

class Hashed:
    def encode(self, texts):
        rows = np.zeros((len(texts), 64))
        for row, text in zip(rows, texts):
            for word in re.findall(r"\\w+", text.lower()):
                row[zlib.crc32(word.encode()) % 64] += 1
        return rows
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(HASHED)
    return tmp_path / "own.py"


def test_its_rows_have_length_one_and_its_fingerprint_follows_the_file(file):
    encoder = load_encoder("own.py:Hashed").encoder
    rows = encoder.encode_queries(["a cat", "two dogs bark"])
    assert rows.shape == (2, 64) and np.allclose(np.linalg.norm(rows, axis=1), 1)
    again = pickle.loads(pickle.dumps(encoder))
    assert again.fingerprint == encoder.fingerprint
    file.write_text(HASHED.replace("64", "32"))
    assert PythonEncoder("own.py").fingerprint != encoder.fingerprint


def test_an_index_is_built_and_searched_and_alone_cannot_have_the_code_run(
    file, tmp_path, monkeypatch
):
    rows = [{"_id": "d1", "text": "A cat sleeps."}, {"_id": "d2", "text": "Two dogs bark."}]
    (tmp_path / "docs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build_index("docs.jsonl", out=tmp_path / "index", encoder=EncoderConfig(model="own.py:Hashed"))
    found = search_index("which dogs bark?", tmp_path / "index")
    assert found["results"][0]["id"] == "d2"
    monkeypatch.setattr("argus.encoders.load._named", set())
    with pytest.raises(InputError, match="ARGUS_CODE") as refusal:
        search_index("which dogs bark?", tmp_path / "index")
    assert "index.json" in str(refusal.value.where)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("x = 1\n", InputError),
        ("class Own:\n    encode = lambda self, texts: [1.0] * len(texts)\n", EncodingError),
        ("class Own:\n    encode = lambda self, texts: {}['boom']\n", EncodingError),
    ],
)
def test_what_is_no_encoder_is_told_with_its_file(file, code, error):
    file.write_text(code)
    with pytest.raises(error, match=r"own\.py"):
        _ = load_encoder("own.py").encoder.dim
