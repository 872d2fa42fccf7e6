"""Encoders and rules that a user names work, or say why not."""

import json

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from typer.testing import CliRunner

import argus
from argus.cli.main import app

WORDS = ["[UNK]", "rain", "harbour", "moon", "tides", "bread", "flour", "salt", "the", "and"]


@pytest.fixture(scope="module")
def static(tmp_path_factory):
    """Static vectors as sentence-transformers saves them."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer import modules

    vocabulary = {word: i for i, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    weights = np.random.default_rng(0).normal(size=(len(WORDS), 16)).astype(np.float32)
    folder = tmp_path_factory.mktemp("static") / "model"
    embedding = modules.StaticEmbedding(tokenizer, embedding_weights=weights)
    SentenceTransformer(modules=[embedding]).save(str(folder))
    return folder


def test_a_folder_of_static_vectors_embeds_and_audits(static, tmp_path):
    loaded = argus.encoders.load_encoder(str(static))
    assert loaded.encode_documents(["rain and the harbour"]).shape == (1, 16)
    assert loaded.max_tokens is None and loaded.count_tokens(["rain, rain"]).tolist() == [3]
    corpus = tmp_path / "docs.jsonl"
    texts = [
        "rain and the harbour. the moon and the tides.",
        "bread, flour and salt. salt and rain.",
    ]
    rows = [{"_id": str(i), "title": text[:4], "text": text} for i, text in enumerate(texts)]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in rows))
    words = ["check", "--corpus", str(corpus), "--encoder", str(static), "--out"]
    done = CliRunner().invoke(app, [*words, str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
