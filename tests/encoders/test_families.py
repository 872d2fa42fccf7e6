"""Sparse encoders and those of tokens against sentence-transformers' own reading of them."""

import numpy as np
import pytest

from argus.encoders import EncoderConfig, load_any_encoder
from argus.encoders.embed import Item, Role, encode_batch
from argus.errors import InputError
from argus.indexes.exact import scoring_of
from tests.support.sentence_models import make_late, make_sparse, word_pieces

TEXTS = ["the river bank", "a", "query: river", "bread is baked in the old harbour " * 4, "zebra,"]
PROMPTS = {"query": "query: ", "passage": "passage: "}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    attending = {"strategy": "fixed", "attend": False, "length": 12}
    return {
        "dot": make_sparse(home / "splade", prompts=PROMPTS),
        "maxsim": make_late(home / "colbert", skip=[","], expansion=attending, prompts=PROMPTS),
    }


def load(folder, **settings):
    return load_any_encoder(EncoderConfig(model=str(folder), device="cpu", **settings))


@pytest.mark.parametrize(
    ("name", "library", "similarity"),
    [("dot", "SparseEncoder", "sparse-dot"), ("maxsim", "MultiVectorEncoder", "maxsim")],
)
def test_scores_are_those_of_the_library(folders, name, library, similarity):
    import sentence_transformers

    encoder, library = load(folders[name]), getattr(sentence_transformers, library)
    model = library(str(folders[name]), device="cpu", local_files_only=True)
    options = {"task": "document"} if name == "maxsim" else {}
    documents = model.encode(TEXTS, prompt="passage: ", **options)
    similar = model.similarity(model.encode_query(TEXTS), documents)
    expected = (similar.to_dense() if name == "dot" else similar).numpy()
    rows = encoder.encode_queries(TEXTS), encoder.encode_documents(TEXTS)
    scores = scoring_of(rows[1]).products(rows[0])
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    assert f" similarity={similarity} " in encoder.fingerprint


@pytest.mark.parametrize("name", ["dot", "maxsim"])
def test_a_text_without_a_row_fails_alone(folders, name, monkeypatch):
    encoder = load(folders[name])
    kept = encoder.encode_documents

    def without_the_second(texts):
        rows = kept(texts)
        if name == "dot":
            starts = rows.matrix.indptr
            rows.matrix.data[starts[1] : starts[2]] = np.nan
        else:
            rows.tokens(1)[...] = np.nan
        return rows

    monkeypatch.setattr(encoder, "encode_documents", without_the_second)
    done = encode_batch(encoder, [Item(text, Role.DOCUMENT) for text in TEXTS[:3]])
    assert list(done.failures) == [1] and len(done.vectors) == 2


def test_a_cross_encoder_is_refused(tmp_path):
    """As transformers saves it, without settings of sentence-transformers."""
    from transformers import BertConfig, BertForSequenceClassification

    bert = word_pieces(tmp_path / "cross")
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=64, num_hidden_layers=1, **sizes)
    BertForSequenceClassification(config).save_pretrained(bert)
    with pytest.raises(InputError) as error:
        load(bert, precision="float32")
    assert error.value.where == "--encoder" and "ForSequenceClassification" in error.value.got
