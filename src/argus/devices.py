"""Choose the torch device (GPU or CPU), and recognise errors that say its memory was too small.

`Device` is the option `--device` of every command that runs a model.
"""

from __future__ import annotations

from typing import Annotated

from argus.errors import InputError
from argus.extras import naming_extras
from argus.settings import Doc, Option

Device = Annotated[
    str | None,
    Doc("cpu, cuda, ...; default: a GPU when there is one."),
    Option(panel="Encoder"),
]
"""The device on which torch computes, as every config declares it."""

_SIGNS = ("out of memory", "can't allocate memory", "cannot allocate memory")


@naming_extras()
def check_device(device: str | None) -> str:
    """Return the device to use: the one named, else a GPU when there is one, else the CPU."""
    import torch

    if device is None:
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.zeros(1, device=device).cpu()
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"{device!r} is no device of this machine",
            expected='"cpu", or "cuda" where torch finds a GPU',
            fix="Leave it out to have one chosen.",
            where="--device",
        ) from error
    return device


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether an error of torch, on a GPU or not, says that memory did not suffice."""
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(s in str(error).lower() for s in _SIGNS)
