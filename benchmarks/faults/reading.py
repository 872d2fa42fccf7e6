"""How readers are called, and how whole files are written for them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NotRequired, Required, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict


def lines(*rows: Any) -> bytes:
    """Return rows as JSON, one a line."""
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def whole(kind: Any) -> Any:
    """Return a value of JSON that is of a type, every key of a record in it."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_typeddict(kind):
        return {key: whole(one) for key, one in get_type_hints(kind).items()}
    if origin in (Annotated, NotRequired, Required):
        return whole(arguments[0])
    if origin is Literal:
        return arguments[0]
    if origin is list:
        return [whole(arguments[0])]
    if origin in (dict, Mapping) or getattr(origin, "__name__", "") == "Mapping":
        return {"x": whole(arguments[1])}
    if arguments:  # a union
        return whole(next(one for one in arguments if one is not NoneType))
    return {str: "x", int: 1, float: 0.5, bool: False}.get(kind)


def call(module: str, name: str) -> Callable[[Path], object]:
    """Return what calls a function of a module with the path."""

    def read(path: Path) -> object:
        return getattr(import_module(module), name)(path)

    return read


def in_folder(
    file: str, read: Callable[[Path], object], beside: Callable[[Path], object] = lambda _: None
) -> Callable[[Path], object]:
    """Return what reads a folder that holds the file under its own name.

    beside: puts what else lies there into the folder.
    """

    def read_folder(path: Path) -> object:
        with tempfile.TemporaryDirectory() as folder:
            beside(Path(folder))
            (Path(folder) / file).write_bytes(path.read_bytes())
            return read(Path(folder))

    return read_folder
