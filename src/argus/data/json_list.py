"""A JSON list of any size, item by item: several GB of results, of which one is needed at a time.

Written here because the items go to other processes, which is only worth it when they go as bytes
and are parsed there. Streaming parsers (ijson, json-stream, yajl) give objects, parsed in the one
process that reads, at tens of MB/s; the parsers that are fast want the whole text. So a compiled
state machine only finds where items begin and end, in one pass over blocks, and checks nothing
else: what stands inside an item is for the one who parses it.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numba
import numpy as np
import numpy.typing as npt

from argus.data.text_files import no_file
from argus.data.types import IntArray
from argus.errors import InputError

BLOCK = 1 << 23
"""Bytes of text that are looked at in one go."""
LONGEST = 1 << 28
"""Bytes of an item: a longer one is no item, but a list whose quotation marks do not pair."""
HEAD = 1 << 20
"""Bytes that tell what a file is."""
GZIP, BOM, SPACE = b"\x1f\x8b", b"\xef\xbb\xbf", b" \t\r\n"
_COMPRESSED = 1 << 16
_MARKS = 1 << 14
_EXPECTED = 'a JSON list, [{"question": "..."}, ...], or one JSON object per line (gzipped or not)'

_OPENING, _FIRST, _NEXT, _AFTER, _SCALAR, _INSIDE, _TEXT, _ESCAPE, _CLOSED, _BROKEN = range(10)
"""What is read: before the list; before its first, its next item; after an item; a number or name;
an object or list outside of texts; a text; after its backslash; after the list; nothing more."""


@dataclass(frozen=True, slots=True)
class Item:
    """One item. number: from 0. begin: its first byte in the (unpacked) text. content: as is."""

    number: int
    begin: int
    content: bytes


class JsonList:
    """The items of a file that is one JSON list, or (JSON lines) one object per line.

    Gzipped or not, whatever its name says; a byte order mark is passed over. Iterating reads the
    file once and holds a block and an item of it. In JSON lines an item is a line that is not
    empty, whatever it holds.

    broken: after the iteration, where and why the file breaks off or stops being a list; None where
    it is whole. Everything before the break has been given. position, size: bytes of the file that
    have been read, that it has. Raises InputError at once for what is no such file: missing, a
    folder, empty, an object over several lines, other text.
    """

    def __init__(self, path: Path | str, *, block: int = BLOCK, longest: int = LONGEST) -> None:
        self.path, self.block, self.longest = Path(path), block, longest
        self.broken: str | None = None
        self.position = 0
        if not self.path.is_file():
            raise _no_list(no_file(self.path), self.path)
        self.size = self.path.stat().st_size
        self.lines = self._is_lines()

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in order, from the beginning of the file."""
        self.broken = None
        return self._line_items() if self.lines else self._list_items()

    def _is_lines(self) -> bool:
        """Whether the file is one object per line, told by its first MiB."""
        head = b""
        for block in self._blocks():
            head += block
            if len(head) >= HEAD:
                break
        if not head and self.broken:
            raise _no_list(self.broken, self.path, "Make or fetch the file again.")
        text = head.removeprefix(BOM).lstrip(SPACE)
        if not text:
            raise _no_list("nothing in it", self.path)
        if text[:1] == b"[":
            return False
        if text[:1] != b"{":
            excerpt = text[:40].decode("utf-8", "replace").splitlines()[0]
            raise _no_list(f"begins with {excerpt!r}", self.path)
        line, end, _ = text.partition(b"\n")
        if end and not _is_whole(line):
            fix = "Give the file of results itself; one object per line has no line breaks inside."
            raise _no_list("a JSON object over several lines", self.path, fix)
        return True

    def _list_items(self) -> Iterator[Item]:
        state, marks = np.array([_OPENING, 0, 0], np.int64), np.empty(_MARKS, np.int64)
        number, base, begin, begun = 0, 0, 0, bytearray()
        inside = False
        for block in self._blocks():
            codes, at, since = np.frombuffer(block, np.uint8), 0, 0
            while at < len(block) and state[0] != _BROKEN:
                at, n = _scan(codes, at, state, marks)
                for mark in marks[:n].tolist():
                    inside = not inside
                    if inside:
                        begin, since = base + mark, mark
                        continue
                    content = block[since:mark]
                    if begun:
                        begun += content
                        content, begun = bytes(begun), bytearray()
                    yield Item(number, begin, content)
                    number += 1
            if state[0] == _BROKEN:
                self.broken = _garbage(int(state[2]), number, base + at, block[at : at + 20])
                return
            if inside:
                begun += block[since:]
                if len(begun) > self.longest:
                    self.broken = _too_long(number, begin, self.longest)
                    return
            base += len(block)
        if self.broken is not None or state[0] != _CLOSED:
            self.broken = _ends(self.broken, number, begin if inside else None)

    def _line_items(self) -> Iterator[Item]:
        number, begin = 0, 0
        unfinished = io.BytesIO()
        for block in self._blocks():
            *lines, rest = block.split(b"\n")
            for line in lines:
                unfinished.write(line)
                content = unfinished.getvalue()
                unfinished = io.BytesIO()
                if bare := _bare(content, begin):
                    yield Item(number, begin, bare)
                    number += 1
                begin += len(content) + 1
            unfinished.write(rest)
            if unfinished.tell() > self.longest:
                self.broken = _too_long(number, begin, self.longest)
                return
        last = _bare(unfinished.getvalue(), begin)
        if whole := bool(last) and _is_whole(last):
            yield Item(number, begin, last)
        if self.broken is not None or (last and not whole):
            self.broken = _ends(self.broken, number + whole, begin if last and not whole else None)

    def _blocks(self) -> Iterator[bytes]:
        """Yield the text, uncompressed; damage of the compression ends it and is noted."""
        with self.path.open("rb") as file:
            packed = file.read(2) == GZIP
            file.seek(0)
            if packed:
                yield from self._unpacked(file)
                return
            while block := file.read(self.block):
                self.position = file.tell()
                yield block

    def _unpacked(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield the text of one or more gzip members, all of it that stands before damage."""
        unpack = zlib.decompressobj(wbits=31)
        packed = b""
        try:
            while packed := packed or file.read(_COMPRESSED):
                self.position = file.tell()
                if unpack.eof:
                    packed = packed.lstrip(b"\0")  # padding after a member is allowed
                    unpack = zlib.decompressobj(wbits=31) if packed else unpack
                    continue
                before = unpack.copy()
                try:
                    text = unpack.decompress(packed, self.block)
                except zlib.error:
                    yield from _until_damage(before, packed)
                    raise
                if text:
                    yield text
                packed = unpack.unconsumed_tail or unpack.unused_data
            while text := unpack.decompress(unpack.unconsumed_tail, self.block):
                yield text
            if not unpack.eof:
                self.broken = "the gzip data are cut off"
        except zlib.error as error:
            self.broken = f"the gzip data are damaged ({error})"


def _until_damage(unpack: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """Yield what can be unpacked of data that are damaged somewhere, byte by byte."""
    try:
        for at in range(len(packed)):
            if text := unpack.decompress(packed[at : at + 1]):
                yield text
    except zlib.error:
        return


@numba.njit(nogil=True, cache=True)
def _scan(  # noqa: C901
    block: npt.NDArray[np.uint8], at: int, state: IntArray, marks: IntArray
) -> tuple[int, int]:
    """Mark where items begin and end, in turn, from `at` on; return where it stopped and how many.

    state: what is read, how deep inside the item, and for _BROKEN what was read before; changed.
    Stops at the end of the block, when `marks` are full, and at what cannot be in a list.
    """
    phase, depth, n, size = state[0], state[1], 0, len(block)
    while at < size and n < len(marks):
        if phase == _TEXT:
            while at < size and block[at] != 34 and block[at] != 92:  # quotation mark, backslash
                at += 1
            if at == size:
                break
            if block[at] == 92:
                phase = _ESCAPE
            elif depth:
                phase = _INSIDE
            else:
                phase, marks[n], n = _AFTER, at + 1, n + 1
        elif phase == _ESCAPE:
            phase = _TEXT
        elif phase == _INSIDE:
            while at < size and block[at] < 91 and block[at] != 34:  # brackets, braces are above
                at += 1
            if at == size:
                break
            byte = block[at] | 32  # [ and {, ] and } differ in this bit
            if byte == 34:
                phase = _TEXT
            elif byte == 123:
                depth += 1
            elif byte == 125:
                depth -= 1
                if depth == 0:
                    phase, marks[n], n = _AFTER, at + 1, n + 1
        else:
            byte = block[at]
            space = byte == 32 or byte == 10 or byte == 13 or byte == 9
            if phase == _SCALAR and (space or byte == 44 or byte == 93):
                phase, marks[n], n = _AFTER, at, n + 1
                continue  # the comma or bracket is read again
            if phase != _SCALAR and not space:
                before = phase
                phase, depth = _between(phase, byte)
                if phase == _BROKEN:
                    state[0], state[1], state[2] = phase, depth, before
                    return at, n
                if phase in (_INSIDE, _TEXT, _SCALAR):
                    marks[n], n = at, n + 1
        at += 1
    state[0], state[1] = phase, depth
    return at, n


@numba.njit(nogil=True, cache=True)
def _between(phase: int, byte: int) -> tuple[int, int]:
    """Return what follows a byte that is no space and in no item, and how deep it is."""
    if phase == _OPENING:
        if byte == 91:
            return _FIRST, 0
        return (_OPENING if byte == 0xEF or byte == 0xBB or byte == 0xBF else _BROKEN), 0
    if phase == _AFTER and byte == 44:
        return _NEXT, 0
    if phase in (_AFTER, _FIRST) and byte == 93:
        return _CLOSED, 0
    if phase in (_FIRST, _NEXT):
        if byte == 123 or byte == 91:
            return _INSIDE, 1
        if byte == 34:
            return _TEXT, 0
        # -, digits, and what true, false, null, NaN and Infinity begin with
        if byte == 45 or 48 <= byte <= 57 or byte in (116, 102, 110, 78, 73):
            return _SCALAR, 0
    return _BROKEN, 0


def _is_whole(line: bytes) -> bool:
    """Return whether a line is one item that is closed."""
    state, marks = np.array([_NEXT, 0, 0], np.int64), np.empty(4, np.int64)
    _scan(np.frombuffer(line, np.uint8), 0, state, marks)
    return bool(state[0] == _AFTER)


def _bare(line: bytes, begin: int) -> bytes:
    """Return a line without white space around it, and the file's first without its mark."""
    return (line if begin else line.removeprefix(BOM)).strip(SPACE)


def _garbage(phase: int, number: int, at: int, content: bytes) -> str:
    """Say what stands where no item can."""
    excerpt = repr(content.decode("utf-8", "replace"))
    if phase == _CLOSED:
        return f"after the end of the list, at byte {at:,}, there is more: {excerpt}"
    expected = "a comma or the end of the list" if phase == _AFTER else "an item"
    return f"before item [{number}], at byte {at:,}, {excerpt} stands where {expected} should be"


def _ends(damage: str | None, number: int, begin: int | None) -> str:
    """Say where a file ends too early. begin: of the item inside which it does."""
    what = damage or "the file ends"
    if begin is None:
        return f"{what} before item [{number}] or the end of the list"
    return f"{what} inside item [{number}], which begins at byte {begin:,}"


def _too_long(number: int, begin: int, longest: int) -> str:
    return (
        f"item [{number}], which begins at byte {begin:,}, does not end within {longest:,} bytes: "
        "a quotation mark or bracket is missing"
    )


def _no_list(
    got: str, path: Path, fix: str = "Check that this is a file of results."
) -> InputError:
    return InputError(got, expected=_EXPECTED, fix=fix, where=path)
