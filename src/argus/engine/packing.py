"""Pickle values for other processes: large arrays beside the pickle, mapped files by name.

An array that is mapped from a file travels as the file's path and the place in it, so that every
process of a machine reads the same pages. Any other large array is laid beside the pickle, where
processes share it. Arrays that come out of either are read-only.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus.errors import InputError

if TYPE_CHECKING:
    import numpy as np

LARGE = 64 << 10  # bytes from which a buffer is laid beside the pickle


@dataclass(frozen=True)
class Packed:
    """A pickle and the buffers that it refers to, in their order."""

    payload: bytes
    buffers: Sequence[Any] = ()

    def unpack(self) -> Any:
        """Return the value. Raises InputError where a mapped file is not on this machine."""
        return pickle.loads(self.payload, buffers=self.buffers)


def pack(value: object) -> Packed:
    """Return a value ready to travel, its large arrays not copied."""
    buffers: list[memoryview] = []

    def inside(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < LARGE:
            return True
        buffers.append(raw)
        return False

    stream = io.BytesIO()
    _Pickler(stream, protocol=5, buffer_callback=inside).dump(value)
    return Packed(stream.getvalue(), buffers)


def save(packed: Packed, folder: Path) -> None:
    """Write a pickle and its buffers as files of a folder."""
    for number, content in enumerate([packed.payload, *packed.buffers]):
        with (folder / str(number)).open("wb") as file:
            file.write(content)


def load(folder: Path) -> Packed:
    """Return a pickle whose buffers are mapped from the files of a folder."""
    import numpy as np

    n = len(list(folder.iterdir()))
    buffers = [np.memmap(folder / str(number), np.uint8, "r") for number in range(1, n)]
    return Packed((folder / "0").read_bytes(), buffers)


def dumps(value: object) -> bytes:
    """Return a value as one string of bytes."""
    stream = io.BytesIO()
    _Pickler(stream, protocol=5).dump(value)
    return stream.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        if hasattr(obj, "__array_interface__") and (place := _place(obj)) is not None:
            return _map, place
        return NotImplemented


def _place(array: Any) -> tuple[Any, ...] | None:
    """Return the arguments of `_map`. None for an array that is not mapped, or not in one piece."""
    import numpy as np

    if not isinstance(array, np.ndarray) or not (array.size and not array.dtype.hasobject):
        return None
    owner: Any = array
    while isinstance(owner, np.ndarray) and not isinstance(owner, np.memmap):
        owner = owner.base
    mapped = getattr(owner, "_mmap", None)
    path = getattr(owner, "filename", None)
    order = "C" if array.flags.c_contiguous else "F" if array.flags.f_contiguous else None
    if mapped is None or path is None or owner.mode == "c" or order is None:
        return None
    if not os.path.exists(path):  # noqa: PTH110 - mapped, and removed since
        return None
    start = owner.offset - owner.offset % mmap.ALLOCATIONGRANULARITY
    base = np.frombuffer(mapped, np.uint8).ctypes.data
    offset = start + array.ctypes.data - base
    return os.path.abspath(path), array.dtype, offset, array.shape, order, type(array) is np.memmap  # noqa: PTH100


def _map(
    path: str, dtype: np.dtype[Any], offset: int, shape: tuple[int, ...], order: Any, is_map: bool
) -> Any:
    """Return an array of a file's content, read-only."""
    import numpy as np

    try:
        array = np.memmap(path, dtype, "r", offset, shape, order)
    except (FileNotFoundError, PermissionError, ValueError) as error:
        import socket

        raise InputError(
            f"a worker on {socket.gethostname()} cannot read it ({error})",
            expected="a file that all machines see under the same path",
            fix="Put it on storage that they share, or use --engine local.",
            where=path,
        ) from error
    return array if is_map else array.view(np.ndarray)
