"""Open a folder with a sentence model on BERT, where every setting in it is known.

Importing sentence-transformers takes several seconds of processor time, most of it for models and
metrics that no BERT needs. A folder of which every setting is known to mean the same here is loaded
by `open_model`. Every other one goes through sentence-transformers.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from tokenizers import Tokenizer, normalizers
from torch import nn

from argus.data.reading import parse_json
from argus.encoders.bert import (
    Bert,
    BertConfig,
    Normalize,
    Pooling,
    SentenceModel,
    Transformer,
    WordPieceTokenizer,
)

# Classes in modules.json, as earlier and later versions name them.
MODULES = {
    "sentence_transformers.models.Transformer": "Transformer",
    "sentence_transformers.base.modules.transformer.Transformer": "Transformer",
    "sentence_transformers.models.Pooling": "Pooling",
    "sentence_transformers.sentence_transformer.modules.pooling.Pooling": "Pooling",
    "sentence_transformers.models.Normalize": "Normalize",
    "sentence_transformers.base.modules.normalize.Normalize": "Normalize",
}
# Files that say more of a model than is read here.
FOREIGN = (
    "adapter_config.json", "added_tokens.json", "chat_template.json", "chat_template.jinja",
    "model.safetensors.index.json", "preprocessor_config.json", "processor_config.json",
    "video_preprocessor_config.json",
)  # fmt: skip
TOKENS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_MARKS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
_FLAG = (None, True, False)
_SIZES = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
    "max_position_embeddings", "type_vocab_size",
)  # fmt: skip
_WIDTHS = ("word_embedding_dimension", "embedding_dimension")
_MODES = {
    "cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "lasttoken": "lasttoken",
    "mean_sqrt_len_tokens": "mean_sqrt_len_tokens", "weightedmean_tokens": "weightedmean",
}  # fmt: skip

# Values that settings may have. None stands for a setting that is not there.
Known = dict[str, tuple[Any, ...]]
BERT: Known = {
    "model_type": ("bert",),
    "hidden_act": ("gelu",),
    "position_embedding_type": (None, "absolute"),
    "chunk_size_feed_forward": (None, 0),
    "is_decoder": (None, False),
    "add_cross_attention": (None, False),
    "is_encoder_decoder": (None, False),
    "output_hidden_states": (None, False),
    "output_attentions": (None, False),
}
BERT_UNUSED = (
    "_name_or_path", "architectures", "attention_probs_dropout_prob", "bos_token_id",
    "classifier_dropout", "dtype", "eos_token_id", "gradient_checkpointing", "hidden_dropout_prob",
    "id2label", "initializer_range", "label2id", "pad_token_id", "tie_word_embeddings",
    "torch_dtype", "transformers_version", "use_cache",
)  # fmt: skip
SENTENCE: Known = {
    "transformer_task": (None, "feature-extraction"),
    "module_output_name": (None, "token_embeddings"),
    "modality_config": (
        None,
        {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
    ),
    "do_lower_case": _FLAG,
    **{
        f"{name}_{kind}": (None, {})
        for name in ("model", "tokenizer", "processor", "config")
        for kind in ("args", "kwargs")
    },
}
POOLING: Known = {
    "include_prompt": (None, True),
    **{f"pooling_mode_{name}": _FLAG for name in _MODES},
}
NORMALIZE: Known = {
    "module_input_name": (None, "sentence_embedding"),
    "module_output_name": (None, "sentence_embedding"),
}
LIBRARY: Known = {
    "model_type": (None, "SentenceTransformer"),
    "truncate_dim": (None,),
    "requirements": (None,),
}
TOKENIZER: Known = {
    "tokenizer_class": ("BertTokenizer", "BertTokenizerFast"),
    "tokenize_chinese_chars": _FLAG,
    "strip_accents": _FLAG,
    "do_lower_case": _FLAG,
    "do_basic_tokenize": (None, True),
    "never_split": (None,),
    "pad_to_multiple_of": (None,),
    "pad_token_type_id": (None, 0),
    "padding_side": (None, "right"),
    "truncation_side": (None, "right"),
    "extra_special_tokens": (None, {}, []),
    "additional_special_tokens": (None, []),
}
# Settings that a call does not read. A call says itself whether and where to cut texts.
TOKENIZER_UNUSED = (
    "backend", "clean_up_tokenization_spaces", "is_local", "local_files_only", "max_length",
    "name_or_path", "special_tokens_map_file", "stride", "truncation_strategy",
)  # fmt: skip
WORD_PIECE: Known = {
    "type": ("WordPiece",),
    "unk_token": ("[UNK]",),
    "continuing_subword_prefix": ("##",),
    "max_input_chars_per_word": (100,),
}
SPECIAL: Known = {
    name: (
        None,
        token,
        {"content": token, **_MARKS},
        {"content": token, **_MARKS, "special": True},
        {"__type": "AddedToken", "content": token, **_MARKS},
    )
    for name, token in TOKENS.items()
}


class Unfamiliar(Exception):
    """A model has something that is not known here. Use sentence-transformers for it."""


def open_model(folder: Path, *, dtype: torch.dtype, device: str) -> SentenceModel | None:
    """Return the model in a folder. None where sentence-transformers is to load it.

    None too for a damaged or incomplete folder. Its loader names the fault.
    """
    faults = (Unfamiliar, OSError, ValueError, TypeError, KeyError, AttributeError, SafetensorError)
    try:
        return read_model(folder, dtype).to(device).eval()
    except faults:
        return None


def read_model(folder: Path, dtype: torch.dtype) -> SentenceModel:
    """Return the model in a folder. Raises Unfamiliar where it is not exactly as known."""
    if present := [name for name in FOREIGN if (folder / name).exists()]:
        raise Unfamiliar(", ".join(present))
    kinds, places = [], []
    for i, entry in enumerate(_json(folder / "modules.json")):
        numbered: Known = {"idx": (i,), "name": (str(i),), "kwargs": (None, [])}
        module = check_known(entry, numbered, free=("path", "type"))
        kinds.append(MODULES.get(module["type"]))
        if not re.fullmatch(r"\w+" if i else "", module["path"]):
            raise Unfamiliar(f"modules.json: {module['path']}")
        places.append(folder / module["path"])
    if kinds not in (["Transformer", "Pooling"], ["Transformer", "Pooling", "Normalize"]):
        raise Unfamiliar(f"modules.json: {kinds}")
    settings = check_known(
        _json(folder / "config.json"), BERT, free=(*_SIZES, "layer_norm_eps", *BERT_UNUSED)
    )
    sizes = {name: settings[name] for name in _SIZES}
    eps = settings.get("layer_norm_eps", BertConfig.layer_norm_eps)
    is_whole = all(type(size) is int and size > 0 for size in sizes.values()) and type(eps) is float
    if not is_whole or sizes["hidden_size"] % sizes["num_attention_heads"]:
        raise Unfamiliar(f"config.json: {sizes}")
    config = BertConfig(**sizes, layer_norm_eps=eps)

    pooled = check_known(_json(places[1] / "config.json"), POOLING, free=("pooling_mode", *_WIDTHS))
    flags = [mode for name, mode in _MODES.items() if pooled.get(f"pooling_mode_{name}")]
    modes = [pooled["pooling_mode"]] if pooled.get("pooling_mode") is not None else flags
    widths = [pooled[name] for name in _WIDTHS if pooled.get(name)]
    if modes not in (["mean"], ["cls"]) or widths[:1] != [config.hidden_size]:
        raise Unfamiliar(f"pooling: {modes}, {widths}")
    parts: list[nn.Module] = [Pooling(config.hidden_size, modes[0])]
    if len(kinds) == 3:
        check_known(_json(places[2] / "config.json", default={}), NORMALIZE)
        parts.append(Normalize())

    own = check_known(
        _json(folder / "config_sentence_transformers.json", default={}),
        LIBRARY,
        free=("prompts", "default_prompt_name", "similarity_fn_name", "__version__"),
    )
    named = (own.get("prompts") or {}).items()
    prompts = {"query": "", "document": ""} | {name: text or "" for name, text in named}
    if any(not isinstance(text, str) for text in prompts.values()):
        raise Unfamiliar(f"prompts: {prompts}")
    if own.get("default_prompt_name") not in (None, *prompts):
        raise Unfamiliar(f"default_prompt_name: {own['default_prompt_name']}")
    tokenizer = read_tokenizer(folder, config.max_position_embeddings)
    network = read_network(folder / "model.safetensors", config, dtype)
    return SentenceModel(
        [Transformer(network, tokenizer), *parts],
        prompts=prompts,
        similarity_fn_name=own.get("similarity_fn_name") or "cosine",
    )


def read_tokenizer(folder: Path, positions: int) -> WordPieceTokenizer:
    """Return the tokenizer. Raises Unfamiliar where it is not exactly as known.

    positions: tokens that the network can read.
    """
    sentence = check_known(
        _json(folder / "sentence_bert_config.json"), SENTENCE, free=("max_seq_length",)
    )
    longest = sentence.get("max_seq_length")
    if longest is not None and not (type(longest) is int and 2 < longest <= positions):
        raise Unfamiliar(f"max_seq_length = {longest!r}")
    free = ("model_max_length", "added_tokens_decoder", *TOKENIZER_UNUSED)
    config = check_known(_json(folder / "tokenizer_config.json"), TOKENIZER | SPECIAL, free=free)
    check_known(_json(folder / "special_tokens_map.json", default={}), SPECIAL)

    file = folder / "tokenizer.json"
    content = _json(file)
    vocabulary = check_known(content["model"], WORD_PIECE, free=("vocab",))["vocab"]
    ids = {token: vocabulary[token] for token in TOKENS.values()}
    marked = {t: {"content": t, "special": True, **_MARKS} for t in TOKENS.values()}
    added = sorted(({"id": ids[t], **marked[t]} for t in ids), key=_id)
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": config.get("tokenize_chinese_chars", True),
        "strip_accents": config.get("strip_accents"),
        "lowercase": config.get("do_lower_case", True),
    }
    content["added_tokens"] = sorted(content["added_tokens"], key=_id)
    check_known(
        content,
        {
            "added_tokens": (added,),
            "normalizer": (normalizer,),
            "pre_tokenizer": ({"type": "BertPreTokenizer"},),
            "post_processor": _templates(ids["[CLS]"], ids["[SEP]"]),
            "version": ("1.0",),
        },
        free=("model", "decoder", "truncation", "padding"),
    )
    declared = {str(ids[token]): marks for token, marks in marked.items()}
    if config.get("added_tokens_decoder") not in (None, declared):
        raise Unfamiliar("added_tokens_decoder")
    backend = Tokenizer.from_file(str(file))
    if any(backend.token_to_id(token) != at for token, at in ids.items()):
        raise Unfamiliar("tokenizer.json: ids of special tokens")
    if sentence.get("do_lower_case"):
        backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), backend.normalizer])
    own = int(config.get("model_max_length") or positions)
    return WordPieceTokenizer(backend, longest or min(own, positions))


def read_network(path: Path, config: BertConfig, dtype: torch.dtype) -> Bert:
    """Return the network with its weights.

    Weights that need no conversion stay where the file is mapped: where numbers lie in memory can
    change the last bit of a product.
    """
    with torch.device("meta"):
        network = Bert(config)
    with safe_open(path, framework="pt") as file:
        names = set(file.keys()) - {"embeddings.position_ids"}  # of older checkpoints: 0, 1, 2, ...
        tensors = {name: file.get_tensor(name) for name in names}
    expected = {name: tensor.shape for name, tensor in network.state_dict().items()}
    if {name: tensor.shape for name, tensor in tensors.items()} != expected:
        raise Unfamiliar(f"{path.name}: other tensors")
    if any(not tensor.is_floating_point() for tensor in tensors.values()):
        raise Unfamiliar(f"{path.name}: quantized")
    weights = {name: tensor.to(dtype) for name, tensor in tensors.items()}
    network.load_state_dict(weights, assign=True)
    return network


def check_known(values: Any, known: Known, *, free: Collection[str] = ()) -> dict[str, Any]:
    """Return settings. Raises Unfamiliar unless each is known, or free to be anything."""
    for name, allowed in known.items():
        value = values.get(name)
        if not any(type(value) is type(each) and value == each for each in allowed):
            raise Unfamiliar(f"{name} = {value!r}")
    if unknown := set(values) - {*known, *free}:
        raise Unfamiliar(", ".join(unknown))
    return dict(values)


def _json(path: Path, *, default: Any = None) -> Any:
    """Return the content of a file. default: of one that need not be there."""
    if default is not None and not path.exists():
        return default
    return parse_json(path.read_text(encoding="utf-8"))


def _id(token: dict[str, Any]) -> int:
    return int(token["id"])


def _templates(cls: int, sep: int) -> tuple[dict[str, Any], ...]:
    """Return the ways to write `[CLS] text [SEP]`. cls, sep: their ids."""

    def part(kind: str, name: str, type_id: int) -> dict[str, Any]:
        return {kind: {"id": name, "type_id": type_id}}

    end = part("SpecialToken", "[SEP]", 0)
    first = [part("SpecialToken", "[CLS]", 0), part("Sequence", "A", 0), end]
    second = [part("Sequence", "B", 1), part("SpecialToken", "[SEP]", 1)]
    special = {t: {"id": t, "ids": [i], "tokens": [t]} for t, i in (("[CLS]", cls), ("[SEP]", sep))}
    template = {"type": "TemplateProcessing", "single": first, "pair": first + second}
    return (
        template | {"special_tokens": special},
        {"type": "BertProcessing", "sep": ["[SEP]", sep], "cls": ["[CLS]", cls]},
    )
