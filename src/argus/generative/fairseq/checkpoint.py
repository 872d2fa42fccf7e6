"""A checkpoint of fairseq as plain data: its weights by name, and the settings of its model.

Files of torch are pickles, which can run code when they are read. This one is read without:
tensors and plain values pass, and `argparse.Namespace`, which holds settings and nothing else; a
file with anything else in it is refused, and what that is is named.
"""

from __future__ import annotations

import argparse
import pickle
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import InputError

if TYPE_CHECKING:
    import torch

_CLASS = re.compile(r"GLOBAL ([\w.]+)")
_EXPECTED = "a checkpoint of fairseq: weights by name, under `model`, and settings"


@dataclass(frozen=True)
class Checkpoint:
    """What a checkpoint holds. settings: of the model, by fairseq's names; empty where it has none.

    weights: by fairseq's names, in whatever number format they were saved.
    """

    weights: dict[str, torch.Tensor]
    settings: dict[str, object]


def read_checkpoint(path: Path) -> Checkpoint:
    """Read a checkpoint of fairseq, or its weights alone; nothing that is in it is run.

    Raises InputError for a file that cannot be read, one that holds objects of other classes than
    `argparse.Namespace`, and one without weights.
    """
    state = _load(path)
    weights = state.get("model", state) if isinstance(state, Mapping) else {}
    tensors = _tensors(weights)
    if not tensors:
        raise InputError(
            "no weights in it",
            expected=_EXPECTED,
            fix="Give the .pt file that SEAL or MINDER released, or one that fairseq-train wrote.",
            where=path,
        )
    return Checkpoint(tensors, _settings(state))


def _load(path: Path) -> Any:
    import torch

    if not path.is_file():
        raise InputError(
            "no such file" if not path.exists() else "is a folder",
            expected=_EXPECTED,
            fix="Give the .pt file itself.",
            where=path,
        )
    try:
        with torch.serialization.safe_globals([argparse.Namespace]):
            return torch.load(
                path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path)
            )
    except pickle.UnpicklingError as error:
        raise _refused(path, error) from error
    except (RuntimeError, EOFError, OSError, ValueError, KeyError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> InputError:
    why = (str(error).strip() or type(error).__name__).splitlines()[0]
    return InputError(
        f"cannot be read ({why[:160]})",
        expected=_EXPECTED,
        fix="Copy or download the file again.",
        where=path,
    )


def _refused(path: Path, error: pickle.UnpicklingError) -> InputError:
    """Return the error for a file that is no pickle, or of which classes would have to be run."""
    classes = _unsafe(path, error)
    if not classes:
        return _unreadable(path, error)
    return InputError(
        f"holds objects of {', '.join(classes)}, which only running code could make",
        expected="tensors, plain values and argparse.Namespace, which are read without running any",
        fix="If you trust its source, keep the weights alone: in Python, with what it was saved by "
        "installed, state = torch.load(FILE, weights_only=False); "
        'torch.save({"model": state["model"]}, "weights.pt"), then convert weights.pt '
        "(--heads and --activation say what its settings said).",
        where=path,
    )


def _unsafe(path: Path, error: pickle.UnpicklingError) -> list[str]:
    """Return the classes that a file names and that are not read; the first one where unsure."""
    from torch.serialization import get_unsafe_globals_in_checkpoint

    try:
        classes = sorted(set(get_unsafe_globals_in_checkpoint(path)) - {"argparse.Namespace"})
    except (ValueError, RuntimeError, EOFError, pickle.UnpicklingError):  # no zip: an older format
        classes = []
    return classes[:3] or _CLASS.findall(str(error))[:1]


def _tensors(weights: object) -> dict[str, torch.Tensor]:
    import torch

    if not isinstance(weights, Mapping):
        return {}
    return {str(name): w for name, w in weights.items() if isinstance(w, torch.Tensor)}


def _settings(state: Mapping[str, Any]) -> dict[str, object]:
    """Return the settings of the model: `args` (fairseq to 0.10), or `model` of `cfg` (later)."""
    cfg = state.get("cfg")
    nested = cfg.get("model") if isinstance(cfg, Mapping) else None
    for settings in (nested, state.get("args")):
        if isinstance(settings, argparse.Namespace):
            return dict(vars(settings))
        if isinstance(settings, Mapping):
            return {str(name): value for name, value in settings.items()}
    return {}
