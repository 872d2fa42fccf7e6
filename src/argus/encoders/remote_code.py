"""Code that comes with a model: which one was run, and what to say where it may not be."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from argus.data.provenance import content_hash
from argus.errors import InputError

if TYPE_CHECKING:
    import torch

FETCHED = "transformers_modules."
"""Where transformers puts modules that came with a model."""
INSTALLED = ("torch", "transformers", "sentence_transformers", "argus", "peft")
_WANTED = re.compile("trust_remote_code|custom code", re.IGNORECASE)


def code_digest(model: torch.nn.Module) -> str:
    """Return 12 hexadecimal digits of the code in a model that no library brought; "none" if none.

    Of modules that came with the model, all files beside them count; of installed packages that its
    settings name, the file of the class.
    """
    files = sorted({file for module in model.modules() for file in _files(type(module))})
    if not files:
        return "none"
    parts = (part for file in files for part in (file.name, file.read_bytes()))
    return content_hash(*parts, size=6).hex()


def _files(kind: type) -> Iterator[Path]:
    """Yield the files of the code that made a class, unless a library of ours did."""
    if kind.__module__.split(".")[0] in INSTALLED:
        return
    file = Path(inspect.getfile(kind))
    yield from file.parent.glob("*.py") if kind.__module__.startswith(FETCHED) else (file,)


def refusal(model: str, error: Exception) -> InputError | None:
    """Return what to say of a model that could not be loaded for want of its code; None else."""
    if _WANTED.search(str(error)) is None:
        return None
    return InputError(
        f"model {model!r} brings code of its own, which is not run unasked",
        expected="--trust-remote-code",
        fix="Read the code first; then give --trust-remote-code, for a model of the hub with "
        "--revision COMMIT.",
        where="--encoder",
    )
