"""A model whose modules.json names code in its own folder."""

import json

import numpy as np
import pytest

from argus.data.types import Document
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders import load as loading
from argus.errors import InputError
from argus.indexes.job import build_index
from argus.indexes.retriever import search_index
from tests.support.sentence_models import make_model

CODE = '''
import torch

class Turned(torch.nn.Module):
    """Exchange the signs of sentence vectors."""

    def forward(self, features, task=None):
        told = {None: -1.0, "weather": -1.0, "query": -1.0, "document": -1.0, "cooking": 2.0}
        features["sentence_embedding"] = features["sentence_embedding"] * told[task]
        features["sentence_embedding"][:, 0] += 1.0 if task == "cooking" else 0.0
        return features

    def save(self, folder, **_):
        pass

    @staticmethod
    def load(folder, **_):
        return Turned()
'''
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def folder(tmp_path):
    """A model with a module of its own behind pooling."""
    return with_code(make_model(tmp_path / "tiny", normalize=False))


def with_code(folder, kwargs=()):
    modules = json.loads((folder / "modules.json").read_text())
    own = {"idx": 2, "name": "2", "path": "2_Turned", "type": "turned.Turned"}
    modules.append(own | ({"kwargs": list(kwargs)} if kwargs else {}))
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "2_Turned").mkdir()
    (folder / "turned.py").write_text(CODE)
    return folder


def load(folder, **settings):
    config = EncoderConfig(model=str(folder), precision="float32", device="cpu", **settings)
    return load_encoder(config).encoder


def test_code_of_a_model_is_not_run_unasked(folder):
    with pytest.raises(InputError) as error:
        load(folder)
    assert error.value.where == "--encoder"
    assert "--trust-remote-code" in str(error.value)


def test_code_that_is_trusted_is_run_and_told(folder, tmp_path):
    turned = load(folder, trust_remote_code=True)
    plain = load(make_model(tmp_path / "plain", normalize=False))
    texts = ["river bank", "sea"]
    np.testing.assert_allclose(
        turned.encode_documents(texts), -plain.encode_documents(texts), atol=1e-6
    )
    assert " code=" in turned.fingerprint and "code=none" not in turned.fingerprint
    assert " code=" not in plain.fingerprint


def test_the_word_of_an_index_alone_has_no_code_run(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "_named", set())
    corpus = [Document(f"d{n}", text=f"a mill of {n} wheels") for n in range(3)]
    model = EncoderConfig(model=str(folder), precision="float32", trust_remote_code=True)
    build_index(corpus, out=tmp_path / "i", encoder=model)
    assert search_index("a mill", tmp_path / "i")["results"]  # this process named it
    loading._named.clear()
    with pytest.raises(InputError, match=f"set ARGUS_CODE={folder}") as error:
        search_index("a mill", tmp_path / "i")
    assert error.value.where == tmp_path / "i" / "index.json"
    monkeypatch.setenv("ARGUS_CODE", f"someone/model@{COMMIT}:{folder}")
    assert search_index("a mill", tmp_path / "i")["results"]


@pytest.mark.parametrize("revision", [None, "main", COMMIT[:12]])
def test_code_of_the_hub_is_pinned(revision):
    with pytest.raises(InputError) as error:
        EncoderConfig(model="someone/model", trust_remote_code=True, revision=revision)
    assert error.value.where == "--revision"
    EncoderConfig(model="someone/model", trust_remote_code=True, revision=COMMIT)
