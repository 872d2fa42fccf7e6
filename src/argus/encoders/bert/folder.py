"""From a model's folder to a sentence model, where every setting in it is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch
from safetensors import SafetensorError, safe_open
from torch import nn

from argus.data.reading import parse_json
from argus.encoders.bert.modules import Normalize, Pooling, SentenceModel, Transformer
from argus.encoders.bert.network import Bert, BertConfig
from argus.encoders.bert.settings import Settings, Unfamiliar
from argus.encoders.bert.tokenizer import read_tokenizer

if TYPE_CHECKING:
    from torch import Tensor

MODULES = {
    "Transformer": (
        "sentence_transformers.models.Transformer",
        "sentence_transformers.base.modules.transformer.Transformer",
    ),
    "Pooling": (
        "sentence_transformers.models.Pooling",
        "sentence_transformers.sentence_transformer.modules.pooling.Pooling",
    ),
    "Normalize": (
        "sentence_transformers.models.Normalize",
        "sentence_transformers.base.modules.normalize.Normalize",
    ),
}
"""Classes in modules.json, as earlier and later versions name them."""
FOREIGN = (
    "adapter_config.json", "added_tokens.json", "chat_template.json", "chat_template.jinja",
    "model.safetensors.index.json", "preprocessor_config.json", "processor_config.json",
    "video_preprocessor_config.json",
)  # fmt: skip
"""Files that say more of a model than is read here."""
_WITHOUT_EFFECT = (
    "_name_or_path", "architectures", "attention_probs_dropout_prob", "bos_token_id",
    "classifier_dropout", "dtype", "eos_token_id", "gradient_checkpointing", "hidden_dropout_prob",
    "id2label", "initializer_range", "label2id", "pad_token_id", "tie_word_embeddings",
    "torch_dtype", "transformers_version", "use_cache",
)  # fmt: skip
_UNUSED_TENSORS = {"embeddings.position_ids"}
"""In older checkpoints: 0, 1, 2, ..."""


def open_model(folder: Path, *, dtype: torch.dtype, device: str) -> SentenceModel | None:
    """Return the model in a folder. None where sentence-transformers is to load it.

    None too for a damaged or incomplete folder. Its loader names the fault.
    """
    try:
        parts = _parts(folder, dtype)
        prompts, default, similarity = _use(folder)
    except (Unfamiliar, OSError, ValueError, TypeError, KeyError, SafetensorError):
        return None
    model = SentenceModel(
        parts, prompts=prompts, default_prompt_name=default, similarity_fn_name=similarity
    )
    return model.to(device).eval()


def _parts(folder: Path, dtype: torch.dtype) -> list[nn.Module]:
    """Return the model's modules in their order."""
    present = sorted(name for name in FOREIGN if (folder / name).exists())
    if present:
        raise Unfamiliar(", ".join(present))
    kinds = _module_folders(folder)
    if [kind for kind, _ in kinds] not in (list(MODULES), list(MODULES)[:2]):
        raise Unfamiliar(f"modules.json: {kinds}")
    config = _bert_config(folder)
    longest, lower = _sentence_config(folder, config.max_position_embeddings)
    tokenizer = read_tokenizer(folder, longest, config.max_position_embeddings, lower=lower)
    pooling = _pooling(folder / kinds[1][1], config.hidden_size)
    if len(kinds) == 3:
        _check_normalize(folder / kinds[2][1])
    network = _network(folder / "model.safetensors", config, dtype)
    return [Transformer(network, tokenizer), pooling, *([Normalize()] if len(kinds) == 3 else [])]


def _module_folders(folder: Path) -> list[tuple[str, str]]:
    """Return kind and folder of each module."""
    kinds = {path: kind for kind, paths in MODULES.items() for path in paths}
    out = []
    for i, entry in enumerate(parse_json((folder / "modules.json").read_text(encoding="utf-8"))):
        module = Settings(entry, "modules.json")
        module.one_of("idx", i)
        module.one_of("name", str(i))
        module.one_of("kwargs", None, [])
        path = str(module.take("path"))
        kind = kinds.get(str(module.take("type")))
        module.finish()
        if kind is None or (kind == "Transformer") != (path == "") or ".." in path:
            module.refuse(path)
        out.append((kind, path))
    return out


def _bert_config(folder: Path) -> BertConfig:
    file = Settings.read(folder / "config.json")
    file.one_of("model_type", "bert")
    file.one_of("hidden_act", "gelu")
    file.one_of("position_embedding_type", None, "absolute")
    file.one_of("chunk_size_feed_forward", None, 0)
    for name in ("is_decoder", "add_cross_attention", "is_encoder_decoder"):
        file.one_of(name, None, False)
    for name in ("output_hidden_states", "output_attentions"):
        file.one_of(name, None, False)
    config = BertConfig(
        vocab_size=file.size("vocab_size"),
        hidden_size=file.size("hidden_size"),
        num_hidden_layers=file.size("num_hidden_layers"),
        num_attention_heads=file.size("num_attention_heads"),
        intermediate_size=file.size("intermediate_size"),
        max_position_embeddings=file.size("max_position_embeddings"),
        type_vocab_size=file.size("type_vocab_size"),
        layer_norm_eps=file.number("layer_norm_eps", BertConfig.layer_norm_eps),
    )
    file.ignore(*_WITHOUT_EFFECT).finish()
    if config.hidden_size % config.num_attention_heads:
        file.refuse("num_attention_heads")
    return config


def _sentence_config(folder: Path, positions: int) -> tuple[int | None, bool]:
    """Return the longest text in tokens, None where it is not said, and whether it is lowered."""
    file = Settings.read(folder / "sentence_bert_config.json")
    file.one_of("transformer_task", None, "feature-extraction")
    file.one_of("module_output_name", None, "token_embeddings")
    text = {"text": {"method": "forward", "method_output_name": "last_hidden_state"}}
    file.one_of("modality_config", None, text)
    for name in ("model", "tokenizer", "processor", "config"):
        file.one_of(f"{name}_args", None, {})
        file.one_of(f"{name}_kwargs", None, {})
    lower = file.flag("do_lower_case", False)
    longest = file.take("max_seq_length")
    file.finish()
    if longest is not None and not (type(longest) is int and 2 < longest <= positions):
        file.refuse(f"max_seq_length = {longest!r}")
    return longest, lower


def _pooling(folder: Path, width: int) -> Pooling:
    file = Settings.read(folder / "config.json")
    old = "word_embedding_dimension"
    if (file.take(old) or file.take("embedding_dimension")) != width:
        file.refuse("embedding_dimension")
    file.one_of("include_prompt", None, True)
    mode = file.take("pooling_mode")
    flags = {
        name: file.flag(f"pooling_mode_{name}", False)
        for name in (
            "cls_token", "mean_tokens", "max_tokens", "mean_sqrt_len_tokens",
            "weightedmean_tokens", "lasttoken",
        )
    }  # fmt: skip
    file.finish()
    known: dict[str, Literal["mean", "cls"]] = {"mean_tokens": "mean", "cls_token": "cls"}
    modes = [known.get(name) for name, on in flags.items() if on] if mode is None else [mode]
    for each in known.values():
        if modes == [each]:
            return Pooling(width, each)
    file.refuse(f"pooling_mode = {modes}")


def _check_normalize(folder: Path) -> None:
    if (folder / "config.json").exists():
        file = Settings.read(folder / "config.json")
        file.one_of("module_input_name", None, "sentence_embedding")
        file.one_of("module_output_name", None, "sentence_embedding")
        file.finish()


def _use(folder: Path) -> tuple[dict[str, str], str | None, str]:
    """Return the prompts by name, the name of that for texts of no kind, and the similarity."""
    path = folder / "config_sentence_transformers.json"
    own: dict[str, str | None] = {}
    default: str | None = None
    similarity = "cosine"
    if path.exists():
        file = Settings.read(path)
        own, default = file.take("prompts") or {}, file.take("default_prompt_name")
        file.one_of("model_type", None, "SentenceTransformer")
        file.one_of("truncate_dim", None)
        file.one_of("requirements", None)
        similarity = file.take("similarity_fn_name") or similarity
        file.ignore("__version__").finish()
    prompts = {"query": "", "document": ""} | {name: text or "" for name, text in own.items()}
    if any(not isinstance(text, str) for text in prompts.values()):
        raise Unfamiliar(f"prompts: {prompts}")
    if default is not None and default not in prompts:
        raise Unfamiliar(f"default_prompt_name: {default}")
    return prompts, default, str(similarity)


def _network(path: Path, config: BertConfig, dtype: torch.dtype) -> Bert:
    """Return the network with its weights.

    Weights that need no conversion stay where the file is mapped: where numbers lie in memory can
    change the last bit of a product.
    """
    with torch.device("meta"):
        network = Bert(config)
    expected = {name: tensor.shape for name, tensor in network.state_dict().items()}
    tensors: dict[str, Tensor] = {}
    with safe_open(path, framework="pt") as file:
        for name in file.keys():  # noqa: SIM118 - it is no dict
            if name not in _UNUSED_TENSORS:
                tensors[name] = file.get_tensor(name)
    if {name: tensor.shape for name, tensor in tensors.items()} != expected:
        raise Unfamiliar(f"{path.name}: other tensors")
    if any(not tensor.is_floating_point() for tensor in tensors.values()):
        raise Unfamiliar(f"{path.name}: quantized")
    weights = {name: tensor.to(dtype) for name, tensor in tensors.items()}
    network.load_state_dict(weights, assign=True)
    return network
