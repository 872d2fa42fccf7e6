"""Damage to files, drawn from a seed: the n-th mutation of a seed file is always the same."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

ODD = (
    b"", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\xf0\x9f\x92\xa9",
    b"\r", b"\n\n", b"\xe2\x80\xa8", b"\xe2\x80\xae", b"'", b'"', b"\\", b"{", b"}", b"[", b"]",
    b"[[[[", b"{{{{", b"}}}}", b"<", b">", b"<!--", b"&#xD800;", b"&#99999999999;", b"null",
    b"true", b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1", b"0", b"9" * 400, b"7" * 5000,
    b"1e-400", b"0x10", b"=1+1", b"../../etc/passwd", b"/dev/zero", b"${HOME}", b"%s%n",
    b"\x1b[31m", b"!!python/object:os.system", b"&a [*a]", b"- " * 60, b":" * 40, b"\t" * 40,
    b"a" * 70_000,
)  # fmt: skip
"""What parsers stumble over."""


def mutations(
    seeds: Sequence[bytes], name: str, first: int, last: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the mutations of a reader's seeds by number, from `first` on and before `last`."""
    for n in range(first, last):
        yield n, mutation(seeds, f"{name}:{n}")


def mutation(seeds: Sequence[bytes], key: str) -> bytes:
    """Return the damage that a key stands for."""
    draw = random.Random(key)
    data = bytearray(draw.choice(seeds))
    for _ in range(draw.choice((1, 1, 1, 2, 3, 8))):
        draw.choice(KINDS)(data, draw, seeds)
    return bytes(data)


def _place(data: bytearray, draw: random.Random) -> int:
    return draw.randrange(len(data) + 1)


def _flip(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    if data:
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)


def _byte(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    if data:
        data[draw.randrange(len(data))] = draw.randrange(256)


def _insert(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, draw)
    data[at:at] = draw.choice(ODD)


def _instead(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, draw)
    data[at : at + draw.randrange(1, 12)] = draw.choice(ODD)


def _lose(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, draw)
    del data[at : at + draw.choice((1, 2, 5, 40, 1000))]


def _cut(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    del data[_place(data, draw) :]


def _twice(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    at = _place(data, draw)
    data[at:at] = data[at : at + draw.choice((1, 10, 200))] * draw.choice((1, 2, 50))


def _other(data: bytearray, draw: random.Random, seeds: Sequence[bytes]) -> None:
    other = draw.choice(seeds)
    if other:
        start = draw.randrange(len(other))
        at = _place(data, draw)
        data[at:at] = other[start : start + draw.randrange(1, 200)]


def _nest(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    opening = draw.choice((b"[", b"{", b'{"a":', b"{{", b"[[", b"<div>", b"> ", b"- ", b"("))
    at = _place(data, draw)
    data[at:at] = opening * draw.choice((30, 300, 3000))


def _number(data: bytearray, draw: random.Random, _: Sequence[bytes]) -> None:
    digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
    if digits:
        at = draw.choice(digits)
        data[at : at + 1] = draw.choice((b"-1", b"1e308", b"99999999999999999999", b"NaN", b"0.5"))


KINDS: tuple[Callable[[bytearray, random.Random, Sequence[bytes]], None], ...] = (
    _flip, _byte, _insert, _instead, _lose, _cut, _twice, _other, _nest, _number
)  # fmt: skip
