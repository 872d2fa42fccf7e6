"""Damage: values of a JSON document of another type, or missing; bytes changed, cut and lost."""

import copy
import random
from collections.abc import Iterator
from typing import Any


def wrong_types(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place of each value, dotted, and the document with another type there.

    Of a list only the first item is damaged.
    """
    for path in _places(document):
        value = document
        for step in path:
            value = value[step]
        yield (
            ".".join(map(str, path)),
            _changed(document, path, 7 if isinstance(value, str) else "x"),
        )


def _places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items: list[tuple[str | int, Any]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value[:1]))
    for step, item in items:
        yield (*path, step)
        yield from _places(item, (*path, step))


def _changed(
    document: dict[str, Any], path: tuple[str | int, ...], value: object, *, remove: bool = False
) -> dict[str, Any]:
    changed = copy.deepcopy(document)
    home: Any = changed
    for step in path[:-1]:
        home = home[step]
    if remove:
        del home[path[-1]]
    else:
        home[path[-1]] = value
    return changed


def mutations(data: bytes, n: int, seed: int = 0) -> Iterator[bytes]:
    """Yield a file's bytes n times, each time damaged: bytes changed, the end or a piece lost."""
    draw = random.Random(seed)
    for _ in range(n):
        changed = bytearray(data)
        kind = draw.randrange(4)
        for _ in range(draw.choice((1, 1, 1, 4, 30))):
            changed[draw.randrange(len(changed))] = draw.randrange(256)
        if kind == 1:
            del changed[draw.randrange(len(changed)) :]
        elif kind == 2:
            at = draw.randrange(len(changed))
            del changed[at : at + draw.randrange(1, 40)]
        yield bytes(changed)
