"""Which of sentence-transformers' classes a model was saved by, read before any is imported."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

DENSE = "SentenceTransformer"
LATE = "MultiVectorEncoder"
SETTINGS, CONFIG = "config_sentence_transformers.json", "config.json"
_OTHER_NAMES = {"ColBERT": LATE, "HF_ColBERT": LATE}
"""As PyLate and the released ColBERT call it."""


def model_type(model: str, revision: str | None) -> str:
    """Return the name of the class; DENSE where the model does not say.

    model: a folder, or a name on the hub. What cannot be read is left to the loader's own words.
    """
    name = _read(model, SETTINGS, revision).get("model_type")
    if not name:
        kinds = _read(model, CONFIG, revision).get("architectures") or []
        name = next((kind for kind in kinds if kind in _OTHER_NAMES), DENSE)
    return _OTHER_NAMES.get(str(name), str(name))


def _read(model: str, name: str, revision: str | None) -> dict[str, Any]:
    path = Path(model) / name if Path(model).is_dir() else _on_hub(model, name, revision)
    try:
        content = json.loads(path.read_text(encoding="utf-8")) if path is not None else {}
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
