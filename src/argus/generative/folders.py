"""Find the n-gram index and the trained model in the folders of the jobs that made them."""

from __future__ import annotations

from pathlib import Path

from argus.data.reading import parse_json, read_own
from argus.errors import InputError
from argus.generative.index.manifest import FILE, Manifest, read_manifest

INDEX = "ngrams"
"""Folder of the index in that of `generative build`."""
MODEL = "model"
"""Folder of the model in that of `generative train`."""
NOTE = "argus.json"
"""File beside a model by `generative train`: its origin and its views."""
SCRATCH = "scratch"


def index_folder(path: Path | str) -> Path:
    """Return the folder of the index that `path` names: itself, or the one built in it."""
    path = Path(path)
    if path.is_file():
        raise InputError(
            "is a file",
            expected="the folder that `argus research generative build` wrote",
            fix="Give that folder.",
            where=path,
        )
    return path / INDEX if (path / INDEX / FILE).is_file() else path


def manifest_of(home: Path) -> Manifest:
    """Return the manifest of an index that could be opened."""
    manifest = read_manifest(home)
    assert manifest is not None
    return manifest


def described(home: Path) -> str:
    """Return the name of an index in manifests and reports, in place of an encoder."""
    return f"n-grams of tokenizer {manifest_of(home).vocabulary[:12]}"


def need_model(model: Path | None) -> Path:
    """Return the folder of a model, or of the one in a folder of `argus research generative train`.

    Raises InputError with a remedy where there is none.
    """
    fix = (
        "Train one on your corpus: argus research generative train; or give the folder of a "
        "seq2seq "
        "checkpoint of SEAL or MINDER in the format of transformers."
    )
    if model is None:
        raise InputError(
            "no model is given, and none ships with Argus",
            expected="--model DIR: a seq2seq language model that writes n-grams for questions",
            fix=fix,
            where="--model",
        )
    if (model / MODEL / "config.json").is_file():
        return model / MODEL
    if not (model / "config.json").is_file():
        raise InputError(
            "no such folder"
            if not model.exists()
            else "no config.json in it"
            if model.is_dir()
            else "is a file",
            expected="the folder of a seq2seq model: config.json, weights, tokenizer",
            fix=fix,
            where=model,
        )
    return model


def is_from_scratch(model: Path) -> bool:
    """Return whether the model in a folder says that it was trained from scratch."""
    try:
        note = parse_json(read_own(model / NOTE))
        return bool(note["base"]["name"] == SCRATCH)
    except (OSError, ValueError, KeyError, TypeError):
        return False  # a checkpoint of others, which has no note
