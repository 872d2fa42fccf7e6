import json

import numpy as np
import pytest

CORPUS = [
    {"_id": "cat", "text": "Cats purr when they are content."},
    {"_id": "rock", "text": "The Who are an English rock band."},
    {"_id": "blank", "text": " "},
]


@pytest.fixture(autouse=True)
def corpora(jsonl, tmp_path):
    jsonl(tmp_path / "c.jsonl", CORPUS)
    jsonl(tmp_path / "more.jsonl", [{"_id": "sun", "text": "The sun is a star."}])


def test_vectors_of_another_origin_are_warned_of_and_never_mixed(argus, tmp_path):
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(3, 384)))
    build = ("index", "build", "--corpus", "c.jsonl", "--out", "i", "--precision", "float32")
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
