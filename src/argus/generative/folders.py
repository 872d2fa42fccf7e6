"""Find the n-gram index and the trained model in folders that `argus research generative` wrote.

A folder of the job, or the index or model folder inside it -> that inner folder, or an
`InputError`.
"""

from __future__ import annotations

from pathlib import Path

from argus.data.reading import parse_json, read_own
from argus.errors import InputError
from argus.generative.index.ngram_index import FILE
from argus.generative.settings import SCRATCH

# Folder of the index in that of `generative build`.
INDEX = "ngrams"
# Folder of the model in that of `generative train`.
MODEL = "model"
# File beside a model by `generative train`: its origin and its views.
NOTE = "argus.json"


def index_folder(path: Path | str) -> Path:
    """Return the folder of the index that `path` names: itself, or the one built in it."""
    path = Path(path)
    return path / INDEX if (path / INDEX / FILE).is_file() else path


def need_model(model: Path | None) -> Path:
    """Return the folder of a model, or of the one in a folder of `argus research generative train`.

    Raises InputError with a remedy where there is none.
    """
    for folder in () if model is None else (model / MODEL, model):
        if (folder / "config.json").is_file():
            return folder
    raise InputError(
        "no model is given" if model is None else "no model in it (config.json)",
        expected="the folder of a seq2seq language model: config.json, weights, tokenizer",
        fix="Train one on your corpus: argus research generative train; or give the folder of a "
        "seq2seq checkpoint of SEAL or MINDER in the format of transformers.",
        where=model or "--model",
    )


def is_from_scratch(model: Path) -> bool:
    """Return whether the model in a folder says that it was trained from scratch."""
    try:
        note = parse_json(read_own(model / NOTE))
        return bool(note["base"]["name"] == SCRATCH)
    except (OSError, ValueError, KeyError, TypeError):
        return False  # a checkpoint of others, which has no note
