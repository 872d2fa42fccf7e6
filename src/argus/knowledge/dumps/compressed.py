"""Read a compressed dump from any place in it, in blocks that begin and end at records."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from argus.data.storage import is_remote, open_storage
from argus.errors import ArgusError, InputError

if TYPE_CHECKING:
    from pyarrow import NativeFile


@dataclass(frozen=True)
class Damage:
    """Damage of a dump. byte: offset in the file as it is, compressed. what: the finding."""

    location: str
    byte: int
    what: str

    def __str__(self) -> str:
        return (
            f"{self.location} is damaged at byte {self.byte:,}: {self.what}. "
            "What precedes was read; download the file again to have the rest."
        )


class DamagedDump(ArgusError):
    """A dump cannot be read beyond `damage`. The text before it was given."""

    def __init__(self, damage: Damage) -> None:
        self.damage = damage
        super().__init__(str(damage))


@dataclass(frozen=True, slots=True)
class Piece:
    """Decompressed text, and the byte of the file as it is at which it begins."""

    at: int
    data: bytes


class Source:
    """A file that can be read at any place.

    size: bytes. Raises InputError if it is no file, is empty or cannot be read.
    """

    def __init__(self, location: str | Path) -> None:
        from pyarrow import fs

        self.location = str(location)
        filesystem, path = open_storage(location)
        try:
            info = filesystem.get_file_info(path)
            if info.type != fs.FileType.File:
                raise self._refused(_KINDS.get(info.type.name, "is not a regular file"))
            self._file: NativeFile = filesystem.open_input_file(path)
            self.size = int(self._file.size())
        except OSError as error:
            raise self._unreadable(error) from error
        if not self.size:
            self._file.close()
            raise self._refused("is empty")
        self.handle: NativeFile | str = self._file if is_remote(location) else path

    def read(self, at: int, n: int) -> bytes:
        """Return `n` bytes from byte `at`. Fewer at the end of the file."""
        try:
            return bytes(self._file.read_at(n, at))
        except OSError as error:
            raise self._unreadable(error) from error

    def broken(self, byte: int, what: str) -> DamagedDump:
        """Return the error that says that this file is broken at `byte`."""
        return DamagedDump(Damage(self.location, byte, what))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._file.close()

    def _unreadable(self, error: OSError) -> InputError:
        if isinstance(error, PermissionError):
            return self._refused("may not be read by this user")
        return self._refused(f"cannot be read ({' '.join(str(error).split())[:300]})")

    def _refused(self, got: str) -> InputError:
        return InputError(
            got,
            expected="a dump: a file of text, plain or compressed with bz2 or gz",
            fix="Check the path (or the address and its credentials), and that the download ended.",
            where=self.location,
        )


_KINDS = {"NotFound": "no such file", "Directory": "is a folder"}


LONGEST = 256 << 20
"""Bytes after which a record is taken to have no end."""
CUT_PAGE = "the file ends inside a page"
_OPEN = b"<page>"
_CLOSE = b"</page>"
_TAG = re.compile(rb"</?page>")  # a dump's texts are escaped: no "<" but in its own markup


class RecordKind(StrEnum):
    """Kind of record: from `<page>` to `</page>`, or a line that is not empty."""

    PAGE = "page"
    LINE = "line"


class Unended(Exception):
    """A record has no end, for the reason `what`. It begins in the piece at byte `at`.

    at: None where the end of the file is the reason.
    """

    def __init__(self, at: int | None, what: str) -> None:
        self.at, self.what = at, what
        super().__init__(what)


def records(pieces: Iterable[Piece], kind: RecordKind, *, end: int, first: bool) -> Iterator[bytes]:
    """Yield the records that begin before byte `end`. Pieces from there on only complete the last.

    A line counts as beginning with the line break before it, and the first one with the file, so
    that nobody has to know how the piece before ends. first: the pieces begin with the file. No
    piece is asked for that is not needed. Raises Unended.
    """
    if kind is RecordKind.LINE:
        return _lines(pieces, end, first)
    return _pages(pieces, end)


def whole_records(
    pieces: Iterable[Piece], kind: RecordKind, size: int
) -> Iterator[tuple[bytes, bool]]:
    """Yield (text of whole records, whether it is the last), each cut where a record begins.

    That is the first such place from `size` bytes on, however the text arrives, so that the same
    text is cut alike each time. The last text is the rest: nothing, or a record that is cut.
    Raises Unended.
    """
    border, after = (b"\n", 1) if kind is RecordKind.LINE else (_OPEN, 0)
    text, searched, began = bytearray(), 0, 0
    for piece in pieces:
        text += piece.data
        while (at := text.find(border, max(searched, size - after))) >= 0:
            yield bytes(text[: at + after]), False
            del text[: at + after]
            searched, began = 0, piece.at
        searched = max(0, len(text) - len(border) + 1)
        if len(text) > size + LONGEST:
            upto = unfinished(text, kind)
            if upto == len(text):  # no page has begun: what stands between pages is long
                del text[max(size, text.rfind(_CLOSE) + len(_CLOSE)) : -len(border)]
                searched = len(text) - len(border) + 1
                continue
            yield bytes(text[:upto]), False
            raise Unended(began, _too_long(kind))
    yield bytes(text), True


def unfinished(text: bytes | bytearray, kind: RecordKind) -> int:
    """Return where the record begins with which `text` ends before the record does.

    The length of `text` where there is none.
    """
    if kind is RecordKind.LINE:
        return text.rfind(b"\n") + 1
    begin = text.rfind(_OPEN)
    return len(text) if begin < 0 or text.find(_CLOSE, begin) >= 0 else begin


def _lines(pieces: Iterable[Piece], end: int, first: bool) -> Iterator[bytes]:
    line = bytearray() if first else None  # None: no line of ours has begun
    began = 0
    for piece in pieces:
        ours = piece.at < end
        if line is None and not ours:
            return
        head, *rest = piece.data.split(b"\n", -1 if ours else 1)
        if line is not None:
            line += head
            if not rest and len(line) > LONGEST:
                raise Unended(began, _too_long(RecordKind.LINE))
        if not rest:
            continue
        if line is not None and (whole := bytes(line).rstrip(b"\r")):
            yield whole
        if not ours:
            return
        for text in rest[:-1]:
            if whole := text.rstrip(b"\r"):
                yield whole
        line, began = bytearray(rest[-1]), piece.at
    if line and (whole := bytes(line).rstrip(b"\r")):
        yield whole


def _pages(pieces: Iterable[Piece], end: int) -> Iterator[bytes]:
    """Yield pages. One that is not closed ends where the next begins, wherever it is cut."""
    text, done, ours = b"", 0, 0  # done: searched up to here; ours: may begin before here
    begin: int | None = None
    began = 0
    for piece in pieces:
        if piece.at < end:
            ours = len(text) + len(piece.data)
        elif begin is None and ours <= 0:
            return
        text += piece.data
        for tag in _TAG.finditer(text, done):
            done, opens = tag.end(), tag[0] == _OPEN
            if begin is not None:
                yield text[begin : tag.start() if opens else done]
                begin = None
            if opens:
                if tag.start() >= ours:
                    return
                begin, began = tag.start(), piece.at
        done = max(done, len(text) - len(_CLOSE) + 1)
        keep = done if begin is None else begin
        text, done, ours = text[keep:], done - keep, ours - keep
        if begin is not None:
            begin = 0
            if len(text) > LONGEST:
                raise Unended(began, _too_long(RecordKind.PAGE))
    if begin is not None:
        raise Unended(None, CUT_PAGE)


def _too_long(kind: RecordKind) -> str:
    return f"a {kind} that does not end within {LONGEST >> 20} MiB"
