"""Blocks of a bz2 file, found and decompressed from any place in it.

A bz2 file is a sequence of streams: "BZh" and a digit, blocks, a mark of the stream's end, zeros up
to a byte. A block begins at any bit, with 48 fixed ones, and has a checksum of its own, so it is
decompressed as a stream that is made for it alone. This is preferred to rapidgzip's reader of bz2,
which reads a file from front to back, in one process: a block that is found here can be read by any
worker, on any machine, again by itself after a failure, and damage has a place.

The same 48 bits may occur within a block by chance (once in some hundred terabytes): then what was
taken for a block's end is not, and the block is read up to where it ends by itself.
"""

from __future__ import annotations

import bz2
import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import Literal, NamedTuple

import numpy as np

from argus.knowledge.dumps.compressed import DamagedDump, Piece, Source

_BLOCK = 0x314159265359
_END = 0x177245385090
_LARGEST = 2_500_000  # bytes of a block: 900,000 symbols of at most 20 bits, and its tables
_STEP = 2 << 20  # bytes that are read at once, at least
_HEADER = b"BZh9"  # the largest level reads blocks of every level
_STREAM = re.compile(rb"BZh[1-9]")
_BEGIN = re.compile(rb"BZh[1-9]1AY&SY")
_EMPTY = re.compile(rb"BZh[1-9]\x17rE8P\x90")

_CUT = "the file ends inside a compressed block; it was cut short"
_UNENDED = "the file ends without the mark of its end; it was cut short"
_BROKEN = "a compressed block is broken"
_ASTRAY = "no compressed block where one should begin"
_BETWEEN = "what is not bz2, with more bz2 behind it"


class Mark(NamedTuple):
    """End of a block: the bit in the file, and the mark there."""

    bit: int
    kind: Literal["block", "end", "nothing"]


def blocks(source: Source, start: int, end: int) -> Iterator[Piece]:
    """Yield the blocks from the first whose mark begins in bytes [start, end) on to the file's end.

    From byte 0 the first block is the file's, wherever that is. The data between two blocks is
    checked when the second is asked for. Trailing bytes that are no bz2 are ignored, as by bzip2.
    Memory: some 5 MB and one block, which is at most 46 MB (of 900,000 bytes run-length encoded).
    Raises DamagedDump where the file is broken, once every block before that was given.
    """
    window = Window(source, start)
    bit = _next_stream(window, 0) if start == 0 else _first(window, end)
    check = start > 0  # nothing says yet that the first mark is no chance
    while bit is not None:
        window.forget(bit // 8)
        try:
            data, stop = block_at(window, bit)
        except DamagedDump:
            chance = _end_around(source, bit) if check else None
            if chance is None:
                raise
            bit = _following(window, chance)
            if bit is None or bit // 8 >= end:
                return
        else:
            yield Piece(bit // 8, data)
            bit = _following(window, stop)
        check = False


def block_at(window: Window, bit: int) -> tuple[bytes, Mark]:
    """Decompress the block whose mark begins at `bit`. Return its text, and where it ends.

    Raises DamagedDump for a block that is broken or cut.
    """
    window.reach(bit // 8 + _LARGEST)
    stop = window.after(bit)
    if stop is not None and (data := _alone(window, bit, stop.bit)) is not None:
        return data, stop
    try:
        data, n = _by_itself(window.bits(bit, min(window.end, bit // 8 + _LARGEST) * 8))
    except EOFError as error:
        cut = window.end == window.source.size
        raise window.source.broken(bit // 8, _CUT if cut else _BROKEN) from error
    except OSError as error:
        raise window.source.broken(bit // 8, _BROKEN) from error
    stop = window.after(bit + 8 * (n - 1))
    if stop is None or stop.bit > bit + 8 * n:
        stop = Mark(bit + 8 * n, "nothing")
    return data, stop


class Window:
    """The part of a file that is being read, and the marks in it.

    marks: sorted. Those of a block's beginning and of a stream's end.
    """

    def __init__(self, source: Source, start: int) -> None:
        self.source, self.marks = source, list[Mark]()
        self._base, self._data = start, bytearray()

    @property
    def end(self) -> int:
        """The byte up to which the file was read."""
        return self._base + len(self._data)

    def reach(self, byte: int, *, least: int = _STEP) -> None:
        """Read on up to `byte`, or the end of the file."""
        while self.end < min(byte, self.source.size):
            length = len(self._data)
            self._data += self.source.read(self.end, max(byte - self.end, least))
            if len(self._data) == length:
                raise self.source.broken(self.end, "the file became shorter while it was read")
            marks = _marks(self._data, max(0, length - 5))
            self.marks += [Mark(self._base * 8 + bit, kind) for bit, kind in marks]

    def forget(self, byte: int) -> None:
        """Drop the bytes before `byte`."""
        n = min(max(byte - self._base, 0), len(self._data))
        del self._data[:n]
        self._base += n
        del self.marks[: bisect_right(self.marks, self._base * 8 - 1, key=_bit)]

    def after(self, bit: int) -> Mark | None:
        """Return the first mark behind `bit`."""
        i = bisect_right(self.marks, bit, key=_bit)
        return self.marks[i] if i < len(self.marks) else None

    def peek(self, start: int, n: int) -> bytes:
        """Return `n` bytes from byte `start`. Fewer at the end of the file."""
        self.reach(start + n)
        return bytes(self._data[start - self._base :][:n])

    def bits(self, start: int, stop: int) -> bytes:
        """Return the bits [start, stop), beginning with a byte. The last byte may have more."""
        first, shift = divmod(start - self._base * 8, 8)
        raw = np.frombuffer(self._data[first : (stop - 1) // 8 - self._base + 1], np.uint8)
        if shift:
            behind = np.append(raw[1:], np.uint8(0))
            raw = (raw << np.uint8(shift)) | (behind >> np.uint8(8 - shift))
        return raw[: (stop - start + 7) // 8].tobytes()


def _bit(mark: Mark) -> int:
    return mark.bit


def _needles() -> Iterator[tuple[bytes, int, int, Literal["block", "end"]]]:
    """Yield, for each mark and shift: its whole bytes, the shift, all 48 bits, its kind."""
    kinds: tuple[tuple[int, Literal["block", "end"]], ...] = ((_BLOCK, "block"), (_END, "end"))
    for magic, kind in kinds:
        yield magic.to_bytes(6, "big"), 0, magic, kind
        for shift in range(1, 8):
            yield (magic << (8 - shift)).to_bytes(7, "big")[1:6], shift, magic, kind


_NEEDLES = tuple(_needles())


def _marks(data: bytearray, start: int) -> list[Mark]:
    """Return the marks in `data` whose first whole byte is at byte `start` or behind it, sorted."""
    marks: list[Mark] = []
    for needle, shift, magic, kind in _NEEDLES:
        at = data.find(needle, start)
        while at >= 0:
            first = at - (shift > 0)
            around = data[first : first + 7] if first >= 0 else b""
            if not shift:
                marks.append(Mark(first * 8, kind))
            elif len(around) == 7:
                bits = int.from_bytes(around, "big") >> (8 - shift)
                if bits & ((1 << 48) - 1) == magic:
                    marks.append(Mark(first * 8 + shift, kind))
            at = data.find(needle, at + 1)
    return sorted(marks)


def _alone(window: Window, start: int, stop: int) -> bytes | None:
    """Decompress bits [start, stop) as the one block of a stream. None if they are not one."""
    body = window.bits(start, stop)
    tail, used = _END << 32 | int.from_bytes(body[6:10], "big"), (stop - start) % 8
    if used:  # the end's mark and the checksum, which is the block's, follow within the last byte
        tail |= (body[-1] >> (8 - used)) << 80
        body = body[:-1]
    pad = -(used + 80) % 8
    decoder = bz2.BZ2Decompressor()
    try:
        data = decoder.decompress(
            _HEADER + body + (tail << pad).to_bytes((used + 80 + pad) // 8, "big")
        )
    except OSError:
        return None
    return data if decoder.eof and not decoder.unused_data else None


def _by_itself(bits: bytes) -> tuple[bytes, int]:
    """Decompress the block with which `bits` begin, whatever follows. Return the bytes it takes.

    The last of these may belong to it in part. Raises OSError if it is broken, EOFError if cut.
    """
    decoder = bz2.BZ2Decompressor()
    decoder.decompress(_HEADER)
    for n in range(len(bits)):  # a block gives nothing before its last bit is read
        if data := decoder.decompress(bits[n : n + 1], 1):
            parts = [data]
            while data := decoder.decompress(b"", 1 << 20):
                parts.append(data)
            return b"".join(parts), n + 1
    raise EOFError


def _first(window: Window, end: int) -> int | None:
    """Return the first bit before byte `end` at which a block seems to begin."""
    while True:
        window.reach(min(window.end + _STEP, end + 7), least=1)
        for mark in window.marks:
            if mark.bit // 8 >= end:
                return None
            if mark.kind == "block":
                return mark.bit
        if window.end >= min(end + 7, window.source.size):
            return None
        window.forget(window.end - 6)


def _following(window: Window, stop: Mark) -> int | None:
    """Return the bit of the block that follows a block's end, None where the file has no more."""
    if stop.kind == "block":
        return stop.bit
    if stop.kind == "end":
        return _next_stream(window, (stop.bit + 80 + 7) // 8)
    at, size = stop.bit // 8, window.source.size
    raise window.source.broken(min(at, size), _UNENDED if size - at <= 10 else _ASTRAY)


def _next_stream(window: Window, at: int) -> int | None:
    """Return the bit of the first block from byte `at` on, where a stream should begin or none."""
    source = window.source
    while True:
        if at > source.size:
            raise source.broken(source.size, _UNENDED)
        head = window.peek(at, 10)
        if not head:
            return None
        if _BEGIN.match(head):
            return (at + 4) * 8
        if not _EMPTY.match(head):
            break
        at += 14
        window.forget(at - 1)
    if len(head) < 10 and _cut_begin(head):
        raise source.broken(at, _UNENDED)
    if _STREAM.match(head):
        raise source.broken(at + 4, _ASTRAY)
    if _more_behind(window, at):
        raise source.broken(at, _BETWEEN)
    return None


def _cut_begin(head: bytes) -> bool:
    """Return whether a stream may begin like this and be cut."""
    level = head[3:4] if b"1" <= head[3:4] <= b"9" else b"1"
    return any(
        (b"BZh" + level + magic.to_bytes(6, "big")).startswith(head) for magic in (_BLOCK, _END)
    )


def _more_behind(window: Window, at: int) -> bool:
    """Return whether a whole block begins at byte `at` or behind it."""
    while True:
        window.reach(at + _STEP)
        upto = window.end
        for mark in [m for m in window.marks if m.kind == "block" and m.bit // 8 >= at]:
            try:
                block_at(window, mark.bit)
            except DamagedDump:
                continue
            return True
        if upto >= window.source.size:
            return False
        at = upto - 6
        window.forget(at)


def _end_around(source: Source, bit: int) -> Mark | None:
    """Return the end of the block in which a mark occurs by chance at `bit`. None if in none."""
    window = Window(source, max(0, bit // 8 - _LARGEST))
    window.reach(bit // 8)
    for mark in reversed([m for m in window.marks if m.kind == "block" and m.bit < bit]):
        try:
            _, stop = block_at(window, mark.bit)
        except DamagedDump:
            continue
        return stop if stop.bit > bit and stop.kind != "nothing" else None
    return None
