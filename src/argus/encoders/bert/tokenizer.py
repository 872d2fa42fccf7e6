"""BERT's WordPiece tokenizer from a model's folder, without transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, normalizers

from argus.encoders.bert.settings import Settings

TOKENS = {
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_FLAGS = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
_WITHOUT_EFFECT = (
    "backend", "clean_up_tokenization_spaces", "is_local", "local_files_only", "max_length",
    "name_or_path", "special_tokens_map_file", "stride", "truncation_strategy",
)  # fmt: skip
"""Settings that a call does not read. A call says itself whether and where to cut texts."""
NO_LIMIT = int(1e30)
"""Maximum text length in transformers for a folder that names none."""


class WordPieceTokenizer:
    """Convert texts to token ids, with the interface of transformers' tokenizers."""

    is_fast = True

    def __init__(self, backend: Tokenizer, model_max_length: int) -> None:
        self.backend_tokenizer, self.model_max_length = backend, model_max_length
        self.padding_side = "right"

    def __call__(
        self,
        texts: str | Sequence[str],
        *,
        truncation: bool = False,
        padding: bool = False,
        max_length: int | None = None,
        add_special_tokens: bool = True,
        return_offsets_mapping: bool = False,
        return_attention_mask: bool = True,
        return_token_type_ids: bool = True,
        return_tensors: str | None = None,
        verbose: bool = True,
    ) -> dict[str, Any]:
        """Return ids and the other requested values per text. One text has no list around it.

        truncation: cut to `max_length`, or to `model_max_length`. padding: to the longest text.
        return_tensors: "pt" or None for lists. verbose: nothing is said in either case.
        """
        self._prepare(max_length or self.model_max_length if truncation else None, padding)
        alone = isinstance(texts, str)
        encodings = self.backend_tokenizer.encode_batch(
            [texts] if alone else list(texts), add_special_tokens=add_special_tokens
        )
        columns: dict[str, Any] = {"input_ids": [e.ids for e in encodings]}
        if return_token_type_ids:
            columns["token_type_ids"] = [e.type_ids for e in encodings]
        if return_attention_mask:
            columns["attention_mask"] = [e.attention_mask for e in encodings]
        if return_offsets_mapping:
            columns["offset_mapping"] = [e.offsets for e in encodings]
        if return_tensors:
            return {name: torch.tensor(rows) for name, rows in columns.items()}
        return {name: rows[0] for name, rows in columns.items()} if alone else columns

    def _prepare(self, limit: int | None, padding: bool) -> None:
        backend = self.backend_tokenizer
        if limit is None or limit >= NO_LIMIT:
            backend.no_truncation()
        else:
            backend.enable_truncation(limit)
        if padding:
            pad = TOKENS["pad_token"]
            backend.enable_padding(
                direction=self.padding_side, pad_id=backend.token_to_id(pad), pad_token=pad
            )
        else:
            backend.no_padding()


def read_tokenizer(
    folder: Path, longest: int | None, positions: int, *, lower: bool
) -> WordPieceTokenizer:
    """Return the tokenizer of a folder. Raises Unfamiliar where it is not exactly as known.

    longest: tokens of a text at most, None for the folder's own. positions: what the network
    can read. lower: whether texts are made lower case first.
    """
    config = Settings.read(folder / "tokenizer_config.json")
    config.one_of("tokenizer_class", "BertTokenizer", "BertTokenizerFast")
    for name, token in TOKENS.items():
        _special(config, name, token)
    normalizer = {
        "type": "BertNormalizer",
        "clean_text": True,
        "handle_chinese_chars": config.flag("tokenize_chinese_chars", True),
        "strip_accents": config.one_of("strip_accents", None, True, False),
        "lowercase": config.flag("do_lower_case", True),
    }
    config.one_of("do_basic_tokenize", None, True)
    config.one_of("never_split", None)
    config.one_of("pad_to_multiple_of", None)
    config.one_of("pad_token_type_id", None, 0)
    config.one_of("padding_side", None, "right")
    config.one_of("truncation_side", None, "right")
    config.one_of("extra_special_tokens", None, {}, [])
    config.one_of("additional_special_tokens", None, [])
    own = config.take("model_max_length")
    declared = config.take("added_tokens_decoder")
    config.ignore(*_WITHOUT_EFFECT).finish()
    ids = _check_file(folder, normalizer, declared)
    _check_map(folder / "special_tokens_map.json")
    backend = Tokenizer.from_file(str(folder / "tokenizer.json"))
    if any(backend.token_to_id(token) != at for token, at in ids.items()):
        config.refuse("tokenizer.json: ids of special tokens")
    if lower:
        backend.normalizer = normalizers.Sequence([normalizers.Lowercase(), backend.normalizer])
    limit = longest if longest is not None else min(int(own or NO_LIMIT), positions)
    return WordPieceTokenizer(backend, limit)


def _check_file(folder: Path, normalizer: dict[str, Any], declared: Any) -> dict[str, int]:
    """Return the ids of the special tokens in tokenizer.json, all else being as known."""
    file = Settings.read(folder / "tokenizer.json")
    model = Settings(file.take("model"), file.where)
    model.one_of("type", "WordPiece")
    model.one_of("unk_token", TOKENS["unk_token"])
    model.one_of("continuing_subword_prefix", "##")
    model.one_of("max_input_chars_per_word", 100)
    vocabulary = model.take("vocab")
    model.finish()
    ids = {token: vocabulary[token] for token in TOKENS.values()}
    tokens = [{"content": t, "id": at, "special": True, **_FLAGS} for t, at in ids.items()]
    if sorted(file.take("added_tokens"), key=_id) != sorted(tokens, key=_id):
        file.refuse("added_tokens")
    if declared is not None:
        same = {
            str(t["id"]): {name: value for name, value in t.items() if name != "id"}
            for t in tokens
        }  # fmt: skip
        if declared != same:
            file.refuse("added_tokens_decoder")
    file.one_of("normalizer", normalizer)
    file.one_of("pre_tokenizer", {"type": "BertPreTokenizer"})
    file.one_of("post_processor", *_templates(ids))
    file.one_of("version", "1.0")
    file.ignore("decoder", "truncation", "padding").finish()
    return ids


def _id(token: dict[str, Any]) -> int:
    return int(token["id"])


def _templates(ids: dict[str, int]) -> list[dict[str, Any]]:
    """Return the ways to write `[CLS] text [SEP]`."""
    cls, sep = TOKENS["cls_token"], TOKENS["sep_token"]

    def part(kind: str, name: str, at: int) -> dict[str, Any]:
        return {kind: {"id": name, "type_id": at}}

    first = [part("SpecialToken", cls, 0), part("Sequence", "A", 0), part("SpecialToken", sep, 0)]
    second = [part("Sequence", "B", 1), part("SpecialToken", sep, 1)]
    special = {t: {"id": t, "ids": [ids[t]], "tokens": [t]} for t in (cls, sep)}
    return [
        {
            "type": "TemplateProcessing",
            "single": first,
            "pair": first + second,
            "special_tokens": special,
        },
        {"type": "BertProcessing", "sep": [sep, ids[sep]], "cls": [cls, ids[cls]]},
    ]


def _special(settings: Settings, name: str, token: str) -> None:
    marked = {"content": token, **_FLAGS}
    typed = {"__type": "AddedToken", **marked}
    settings.one_of(name, None, token, marked, typed, marked | {"special": True})


def _check_map(path: Path) -> None:
    if path.exists():
        settings = Settings.read(path)
        for name, token in TOKENS.items():
            _special(settings, name, token)
        settings.finish()
