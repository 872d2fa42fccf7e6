"""Vectors of texts that many tests embed: made once, by the model itself."""

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from argus.data.provenance import content_hash
from argus.encoders import load
from argus.encoders.models import DenseEncoder

Key = tuple[Any, ...]
# Model and weights, precision, pooling, prompt, text, and span if one is pooled: its vector.
KEPT: dict[Key, Any] = {}
FOLDER = Path()


def make_once(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have a text, or a span of a text, embedded only the first time. folder: of all processes."""
    monkeypatch.setattr(f"{__name__}.FOLDER", folder)
    embed, pool = DenseEncoder._encode, DenseEncoder.encode_spans

    def sentences(self: Any, texts: Sequence[str], prompt: Any, task: str) -> Any:
        of = (*_model(self), prompt, task)
        keys = [(*of, text) for text in texts]
        return _kept(keys, lambda at: embed(self, [texts[i] for i in at], prompt, task))

    def spans(self: Any, texts: Sequence[str], spans: Sequence[Any]) -> Any:
        of = _model(self)
        keys = [(*of, *each) for each in zip(texts, spans, strict=True)]
        return _kept(keys, lambda at: pool(self, [texts[i] for i in at], [spans[i] for i in at]))

    monkeypatch.setattr(DenseEncoder, "_encode", sentences)
    monkeypatch.setattr(DenseEncoder, "encode_spans", spans)


def read_once(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Have the default encoder read once; return what `cache_clear` makes forget it."""
    read, kept = load.open_onnx, cache(load.open_onnx)
    of = {True: lambda config: copy(kept(config)), False: read}
    monkeypatch.setattr(load, "open_onnx", lambda config: of[config.is_packaged](config))
    return kept


def fill_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the library's own model, which fills the stores of examples, embed a text once."""
    from sentence_transformers import SentenceTransformer

    embed = SentenceTransformer.encode

    def encode(self: Any, texts: Sequence[str], **options: Any) -> Any:
        model = str(self.tokenizer.name_or_path)
        keys = [("the library's", model, str(options), text) for text in texts]
        return _kept(keys, lambda at: embed(self, [texts[i] for i in at], **options))

    monkeypatch.setattr(SentenceTransformer, "encode", encode)


def _model(encoder: Any) -> Key:
    of = (encoder.fingerprint,)
    return (*of, encoder.dim, encoder.similarity, encoder.prompts.document)


def _kept(keys: Sequence[Key], make: Callable[[list[int]], Any]) -> Any:
    """Return the vectors of `keys`; `make` makes those of the positions that are new."""
    new = list({key: i for i, key in enumerate(keys) if not _is_there(key)}.values())
    if new or not keys:
        vectors = make(new)
        for i, vector in zip(new, vectors, strict=True):
            KEPT[keys[i]] = vector
            part = _path(keys[i]).with_suffix(f".{os.getpid()}.npy")
            np.save(part, vector)
            with suppress(FileExistsError):
                os.link(part, _path(keys[i]))  # no rename: those are counted where a job is killed
            part.unlink()
    return np.stack([KEPT[key] for key in keys]) if keys else vectors


def _is_there(key: Key) -> bool:
    """Whether the vector of a key is known. It is read where another process made it."""
    if key not in KEPT and (path := _path(key)).exists():
        KEPT[key] = np.load(path)
    return key in KEPT


def _path(key: Key) -> Path:
    return FOLDER / f"{content_hash(repr(key)).hex()}.npy"
