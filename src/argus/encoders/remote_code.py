"""Code that comes with a model: which one was run, and what to say where it may not be."""

from __future__ import annotations

import inspect
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from argus.data.provenance import content_hash
from argus.encoders.config import EncoderConfig
from argus.errors import InputError

if TYPE_CHECKING:
    import torch

FETCHED = "transformers_modules."
"""Where transformers puts modules that came with a model."""
INSTALLED = ("torch", "transformers", "sentence_transformers", "argus", "peft")
VARIABLE = "ARGUS_CODE"
"""Environment variable: models whose code is run where an index names them, a colon between."""
_named: set[str] = set()
"""Such models that this process was given otherwise than by an index."""
_WANTED = re.compile("trust_remote_code|custom code", re.IGNORECASE)


def remember_code(config: EncoderConfig) -> None:
    """Let indexes, too, name a model whose code is run."""
    if config.trust_remote_code:
        _named.add(_spelled(config))


def check_code(config: EncoderConfig, where: Path) -> None:
    """Refuse a model whose code would be run by the word of an index alone, which anybody makes.

    where: the file that says it.
    """
    if not config.trust_remote_code:
        return
    name = _spelled(config)
    if name in {*_named, *os.environ.get(VARIABLE, "").split(":")}:
        return
    raise InputError(
        f"has code run that comes with the model {name!r}, and nothing but this file says so",
        expected="a model whose code you, too, trust",
        fix=f"Read the code first; then set {VARIABLE}={shlex.quote(name)} (several: a colon "
        "between them) and run it again.",
        where=where,
    )


def _spelled(config: EncoderConfig) -> str:
    """Return a folder, or a name of the hub with its commit."""
    folder = Path(config.model)
    return str(folder.resolve()) if folder.is_dir() else f"{config.model}@{config.revision}"


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
