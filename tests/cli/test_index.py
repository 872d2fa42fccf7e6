import json
from pathlib import Path

import numpy as np
import pytest

from argus.verdict.results import Results

CORPUS = [
    {"_id": "cat", "title": "Cats", "text": "Cats purr when they are content."},
    {"_id": "rock", "text": "The Who are an English rock band."},
    {"_id": "blank", "text": " "},
]


@pytest.fixture(autouse=True)
def corpora(jsonl, tmp_path):
    jsonl(tmp_path / "c.jsonl", CORPUS)
    jsonl(tmp_path / "more.jsonl", [{"_id": "sun", "text": "The sun is a star."}])


def test_vectors_of_another_origin_are_warned_of_and_never_mixed(argus, tmp_path):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(3, 384)))
    build = ("index", "build", "--corpus", "c.jsonl", "--out", "i")
    code, out, _ = argus(*build, "--vectors", "v.npy")
    assert code == 0
    assert "warning: your vectors are not what" in out
    code, out, err = argus("explain", "band", "--index", "i", "--json")
    assert (code, len(json.loads(out)["results"])) == (0, 2)
    assert err.startswith("warning: the vectors of i are not what")
    code, _, err = argus("index", "add", "--index", "i", "--corpus", "more.jsonl")
    assert code == 2
    assert "holds vectors of your own" in err
    code, _, err = argus(*build)
    assert code == 2
    assert "or other vectors" in err
    assert "--fresh" in err


def test_an_index_is_checked_by_its_name_and_what_is_printed_asks_it_again(argus):
    assert argus("index", "build", "--corpus", "c.jsonl", "--out", "i")[0] == 0
    code, out, _ = argus("check", "i", "--out", "i")
    assert code == 0
    assert "of 2 documents" in out and "argus tune apply blend --index i\n" in out
    assert Results.of(Path("i")).exposing == "argus check i --out i"
