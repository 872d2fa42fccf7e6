"""Read a JSON list of any size item by item: several GB of results, one in memory at a time.

Items come as bytes, for other processes to parse. Streaming parsers (ijson) give objects, parsed in
the one process that reads, which would have to write them again. Here numpy finds only where items
begin and end: quotation marks pair off, brackets outside of texts give the depth, and a comma at
depth 1 ends an item.
"""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from argus.data.text_files import no_file
from argus.errors import InputError

BLOCK = 1 << 18  # bytes of text that are scanned at once: they fit in a cache
MAX_ITEM = 1 << 28  # bytes: a longer item is a list whose quotation marks do not pair
HEAD = 1 << 20  # bytes that decide between a list and lines
GZIP, BOM, SPACE = b"\x1f\x8b", b"\xef\xbb\xbf", b" \t\r\n"
COMMA, BACKSLASH = 44, 92
_STEPS = np.zeros(256, np.int8)  # of depth, by byte; 2 is a comma
_STEPS[list(b"[{]},")] = 1, 1, -1, -1, 2
_ESCAPED_QUOTE = re.compile(rb'\\"')
_EXPECTED = 'a JSON list, [{"question": "..."}, ...], or one JSON object per line (gzipped or not)'


class Item(NamedTuple):
    """One item. number: from 0. begin: its first byte in the (unpacked) text. content: as it is."""

    number: int
    begin: int
    content: bytes


class JsonList:
    """The items of a file that is one JSON list, or (JSON lines) one object per line.

    Gzipped or not, whatever its name. A byte order mark is skipped. Iterating reads the file once
    and holds a block and an item of it. The content of an item is not checked: parse it. In JSON
    lines an item is any line that is not empty.

    broken: after the iteration, where and why the file breaks off. None where it is whole. All
    items before the break have been yielded. Raises InputError at once for any other file: missing,
    a folder, empty, an object over several lines, other text.
    """

    def __init__(self, path: Path | str, *, block: int = BLOCK, longest: int = MAX_ITEM) -> None:
        self.path, self.block, self.longest = Path(path), block, longest
        self.broken: str | None = None
        head, got = b"", ""
        if not self.path.is_file():
            got = no_file(self.path)
        else:
            for block_ in self._blocks():
                head += block_
                if len(head) >= HEAD:
                    break
        text = head.removeprefix(BOM).lstrip(SPACE)
        line, end, _ = text.partition(b"\n")
        self.lines = text[:1] == b"{"
        if not text:
            got = got or self.broken or "nothing in it"
        elif text[:1] not in (b"[", b"{"):
            excerpt = text[:40].decode("utf-8", "replace").splitlines()[0]
            got = f"begins with {excerpt!r}"
        elif self.lines and end and not _is_whole(line):
            got = "a JSON object over several lines"
        if got:
            fix = "Check that this is a file of results, whole, with no line breaks in an object."
            raise InputError(got, expected=_EXPECTED, fix=fix, where=self.path)

    def __iter__(self) -> Iterator[Item]:
        """Yield the items in order, from the beginning of the file."""
        self.broken = None
        return self._line_items() if self.lines else self._list_items()

    def _list_items(self) -> Iterator[Item]:
        number = begin = base = depth = 0
        in_text = is_closed = False
        pending, tail = bytearray(), b""  # of an item, and backslashes before the next block
        for block in self._blocks():
            joined = tail + block
            block = joined.rstrip(b"\\")
            tail, since = joined[len(block) :], 0
            ends, depth, in_text = _scan(block, depth, in_text)
            for at, level in ends:
                if is_closed:
                    break
                if level == 1 and block[at] != COMMA:  # the list begins, or an item closes
                    if begin == 0:
                        begin, since = base + at + 1, at + 1
                    continue
                pending += block[since:at]
                start, content = _bare(pending, begin)
                is_closed = level == 0
                if content:
                    yield Item(number, start, content)
                    number += 1
                elif number or not is_closed:
                    self.broken = f"before item [{number}], at byte {base + at:,}, "
                    self.broken += f"{_excerpt(block[at:])} stands where an item should be"
                    return
                begin, since, pending = base + at + 1, at + 1, bytearray()
            if is_closed and (more := block[since:].lstrip(SPACE) + tail):
                at = base + len(block) + len(tail) - len(more)
                self.broken = f"after the end of the list, at byte {at:,}, there is more: "
                self.broken += _excerpt(more)
                return
            pending += block[since:]
            base += len(block)
            if self._is_too_long(number, begin, pending):
                return
        if is_closed and self.broken is None:
            return
        begin, rest = _bare(pending, begin)
        if depth == 1 and not in_text and rest[:1] in (b"{", b"[", b'"'):
            yield Item(number, begin, rest)
            number, rest = number + 1, b""
        self._breaks_off(number, begin if rest and not is_closed else None)

    def _line_items(self) -> Iterator[Item]:
        number = begin = 0
        pending = bytearray()
        for block in self._blocks():
            *lines, rest = block.split(b"\n")
            for line in lines:
                pending += line
                if content := _bare_line(pending, begin):
                    yield Item(number, begin, content)
                    number += 1
                begin, pending = begin + len(pending) + 1, bytearray()
            pending += rest
            if self._is_too_long(number, begin, pending):
                return
        last = _bare_line(pending, begin)
        if is_whole := _is_whole(last):
            yield Item(number, begin, last)
        if self.broken is not None or (last and not is_whole):
            self._breaks_off(number + is_whole, begin if last and not is_whole else None)

    def _is_too_long(self, number: int, begin: int, pending: bytearray) -> bool:
        if len(pending) > self.longest:
            self.broken = (
                f"item [{number}], which begins at byte {_bare(pending, begin)[0]:,}, does not end "
                f"within {self.longest:,} bytes: a quotation mark or bracket is missing"
            )
        return len(pending) > self.longest

    def _breaks_off(self, number: int, begin: int | None) -> None:
        """Note that the file ends too early: inside the item at `begin`, or between items."""
        place = f"before item [{number}] or the end of the list"
        if begin is not None:
            place = f"inside item [{number}], which begins at byte {begin:,}"
        self.broken = f"{self.broken or 'the file ends'} {place}"

    def _blocks(self) -> Iterator[bytes]:
        """Yield the text, unpacked. Damage of the compression ends it and sets `broken`."""
        with self.path.open("rb") as file:
            is_packed = file.read(2) == GZIP
        try:
            with gzip.open(self.path) if is_packed else self.path.open("rb") as file:
                while block := file.read1(self.block):
                    yield block
        except EOFError:
            self.broken = "the gzip data are cut off"
        except (zlib.error, gzip.BadGzipFile) as error:
            self.broken = f"the gzip data are damaged ({error})"


def _scan(block: bytes, depth: int, in_text: bool) -> tuple[list[tuple[int, int]], int, bool]:
    """Find the ends of items: commas and brackets outside of texts that leave depth 0 or 1.

    depth, in_text: at the beginning of the block. A block must not end in a backslash. Returns
    positions with the depth behind each, and depth and in_text at the end of the block.
    """
    codes = np.frombuffer(block, np.uint8)
    quotes = (codes == 34).astype(np.uint8)
    for match in _ESCAPED_QUOTE.finditer(block):
        at = start = match.start()
        while start >= 0 and block[start] == BACKSLASH:
            start -= 1
        if (at - start) % 2:  # an even number of backslashes escapes itself
            quotes[at + 1] = 0
    inside = np.bitwise_xor.accumulate(quotes) ^ np.uint8(in_text)
    marks = np.flatnonzero(_STEPS[codes] != 0)
    marks = marks[inside[marks] == 0]
    steps = _STEPS[codes[marks]]
    depths = depth + np.cumsum(np.where(steps == 2, 0, steps))
    ends = (depths == 0) | (depths == 1)
    if len(marks):
        depth = int(depths[-1])
    pairs = zip(marks[ends].tolist(), depths[ends].tolist(), strict=True)
    return list(pairs), depth, bool(inside[-1]) if block else in_text


def _is_whole(line: bytes) -> bool:
    """Return whether a line is one item that is closed."""
    if line.endswith(b"\\"):
        return False
    ends, depth, in_text = _scan(line, 0, False)
    return bool(ends) and depth == 0 and not in_text


def _bare_line(line: bytearray, begin: int) -> bytes:
    """Return a line without white space around it, and the file's first without its mark."""
    return bytes((line if begin else line.removeprefix(BOM)).strip(SPACE))


def _bare(item: bytearray, begin: int) -> tuple[int, bytes]:
    """Return where an item begins, and its content, without the white space around it."""
    return begin + len(item) - len(item.lstrip(SPACE)), bytes(item.strip(SPACE))


def _excerpt(content: bytes) -> str:
    return repr(content[:20].decode("utf-8", "replace"))
