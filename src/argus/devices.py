"""Which device torch computes on."""

from __future__ import annotations

from argus.errors import InputError


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
