"""Which of sentence-transformers' classes a model was saved by, read before any is imported."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from argus.data.reading import parse_json

DENSE = "SentenceTransformer"
LATE = "MultiVectorEncoder"
SETTINGS, MODULES = "config_sentence_transformers.json", "modules.json"
CONFIG = "config.json"
_OTHER_NAMES = {"ColBERT": LATE, "HF_ColBERT": LATE}
"""As PyLate and the released ColBERT call it."""


@dataclass(frozen=True, slots=True)
class ModelType:
    """What a model was saved as."""

    name: str
    """Of the class; one that embeds nothing where the model is made for something else."""
    is_masked: bool = False
    """A masked language model that sentence-transformers never saved: dense or sparse."""


def model_type(model: str, revision: str | None) -> ModelType:
    """Return the class; DENSE where the model does not say.

    model: a folder, or a name on the hub. What cannot be read is left to the loader's own words.
    """
    settings = _read(model, SETTINGS, revision)
    if name := settings.get("model_type"):
        return ModelType(_OTHER_NAMES.get(str(name), str(name)))
    kinds = [str(kind) for kind in _read(model, CONFIG, revision).get("architectures") or []]
    if late := next((_OTHER_NAMES[kind] for kind in kinds if kind in _OTHER_NAMES), None):
        return ModelType(late)
    if settings or _path(model, MODULES, revision) is not None:
        return ModelType(DENSE)
    scorer = next((kind for kind in kinds if kind.endswith("ForSequenceClassification")), DENSE)
    return ModelType(scorer, any(kind.endswith("ForMaskedLM") for kind in kinds))


def _path(model: str, name: str, revision: str | None) -> Path | None:
    """Return where a file of a model is; None where there is none."""
    if not Path(model).is_dir():
        return _on_hub(model, name, revision)
    path = Path(model) / name
    return path if path.is_file() else None


def _read(model: str, name: str, revision: str | None) -> dict[str, Any]:
    path = _path(model, name, revision)
    try:
        content = parse_json(path.read_text(encoding="utf-8")) if path is not None else {}
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _on_hub(model: str, name: str, revision: str | None) -> Path | None:
    """Return where a file of a model lies in the cache, fetched if need be; None where it is not.

    A name without an organisation is sentence-transformers' own, or one of the first models.
    """
    from sentence_transformers.util import load_file_path

    offline = os.environ.get("HF_HUB_OFFLINE") == "1"
    for each in (model,) if "/" in model else (f"sentence-transformers/{model}", model):
        try:
            path = load_file_path(each, name, revision=revision, local_files_only=offline)
        except (OSError, ValueError):
            continue
        if path is not None:
            return Path(path)
    return None
