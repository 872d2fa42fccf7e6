"""Code of a user's own: an encoder in a Python file."""

import pickle
import re

import numpy as np
import pytest

from argus.data.types import Document
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders import load as loading
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
    encoder = load_encoder("own.py:Hashed")
    rows = encoder.encode_queries(["a cat", "two dogs bark"])
    assert rows.shape == (2, 64) and np.allclose(np.linalg.norm(rows, axis=1), 1)
    again = pickle.loads(pickle.dumps(encoder))
    assert again.fingerprint == encoder.fingerprint
    file.write_text(HASHED.replace("64", "32"))
    assert load_encoder("own.py").fingerprint != encoder.fingerprint


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
        _ = load_encoder("own.py").dim


def test_the_word_of_an_index_alone_has_no_code_run(file, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "_named", set())
    model = EncoderConfig(model="own.py:Hashed")
    corpus = [Document("cats", "A cat sleeps."), Document("dogs", "Two dogs bark.")]
    build_index(corpus, out=tmp_path / "i", encoder=model)
    found = search_index("Two dogs bark.", tmp_path / "i")  # this process named it
    assert found["results"][0]["id"] == "dogs"
    loading._named.clear()
    with pytest.raises(InputError, match="export ARGUS_TRUST=") as error:
        search_index("dogs", tmp_path / "i")
    assert error.value.where == tmp_path / "i" / "index.json"
    named = re.search(r"ARGUS_TRUST=(\S+)", str(error.value))[1]
    monkeypatch.setenv("ARGUS_TRUST", f"/other.py {named}")
    assert search_index("dogs", tmp_path / "i")["results"]
