"""Cut a dump into splits that workers read on their own."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from argus.data.storage import absolute
from argus.errors import InputError
from argus.knowledge.dumps import SPLIT_SIZE, bzip2
from argus.knowledge.dumps.compressed import (
    CUT_PAGE,
    Damage,
    DamagedDump,
    Piece,
    RecordKind,
    Source,
    Unended,
    records,
    unfinished,
    whole_records,
)
from argus.knowledge.dumps.gz import inflated

__all__ = [
    "Chunk",
    "Compression",
    "Damage",
    "DamagedDump",
    "RecordKind",
    "Split",
    "blocks_of",
    "compression_of",
    "head_of",
    "records_of",
]

_STEP = 1 << 20

Compression = Literal["bz2", "gz", "plain"]

_OTHERS = {
    b"\x28\xb5\x2f\xfd": ("Zstandard", "zstd -dc"),
    b"\xfd7zXZ\0": ("xz", "xz -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
    b"7z\xbc\xaf\x27\x1c": ("7z", "7z x -so"),
    b"\x04\x22\x4d\x18": ("LZ4", "lz4 -dc"),
}


@dataclass(frozen=True, slots=True)
class Split:
    """Bytes [start, end) of a dump as it is. Its records are those that begin there."""

    number: int
    location: str
    start: int
    end: int
    compression: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """Whole records of a gz dump. damage: what follows the text cannot be read, hence the last."""

    number: int
    text: bytes
    damage: Damage | None = None


def compression_of(location: str | Path) -> Compression:
    """Return how a dump is compressed by its first bytes, whatever its name says.

    Raises InputError if it is no file, is empty or cannot be read, for a compression that is
    not read, and if it is no text.
    """
    with Source(location) as source:
        return _compression(source)


def head_of(location: str | Path, n: int = 65536) -> bytes:
    """Return the first `n` bytes of a dump's text. Fewer if it is shorter, or broken behind them.

    Raises InputError as `compression_of`, DamagedDump if there is no text before the damage.
    """
    head = bytearray()
    with Source(location) as source:
        compression = _compression(source)
        if compression == "gz":
            pieces = inflated(source, threads=1)
        else:
            split = Split(0, source.location, 0, source.size, compression)
            pieces = _pieces(source, split)
        try:
            while len(head) < n and (piece := next(pieces, None)) is not None:
                head += piece.data
        except DamagedDump:
            if not head:
                raise
    return bytes(head[:n])


def blocks_of(
    location: str | Path,
    kind: RecordKind,
    *,
    size: int = SPLIT_SIZE,
    skip: Container[int] = frozenset(),
) -> Iterator[Split | Chunk]:
    """Return the pieces of a dump, numbered from 0, for workers to give to `records_of`.

    size: bytes. The numbers of a file's pieces mean the same as long as it is the same. skip:
    numbers that are left out, because they are done. A gz is still read from its beginning.
    Raises InputError as `compression_of`, before anything is read.
    """
    if size < 1:
        raise InputError(
            f"splits of {size} bytes", expected="1 or more", fix="Give a larger size.", where=None
        )
    with Source(location) as source:
        compression = _compression(source)
    place = absolute(location)  # workers may work elsewhere
    if compression == "gz":
        return _chunks(source.location, kind, size, skip)
    return (
        Split(number, place, start, min(start + size, source.size), compression)
        for number, start in enumerate(range(0, source.size, size))
        if number not in skip
    )


def records_of(block: Split | Chunk, kind: RecordKind) -> Iterator[bytes]:
    """Yield the records that begin in a block. Over all blocks of a dump each exactly once.

    A page is everything from `<page>` to `</page>` (to the next `<page>` if it is not closed), a
    line has no line break and is not empty. Memory: a few blocks of bz2 and one record. Raises
    DamagedDump once every record was given that is whole before the damage, and InputError if the
    file cannot be read.
    """
    if isinstance(block, Chunk):
        closing = Piece(1, b"<page>" if kind is RecordKind.PAGE else b"")
        yield from records([Piece(0, block.text), closing], kind, end=1, first=True)
        if block.damage is not None:
            raise DamagedDump(block.damage)
        return
    with Source(block.location) as source:
        pieces = _pieces(source, block)
        try:
            yield from records(pieces, kind, end=block.end, first=block.start == 0)
        except Unended as error:
            at = source.size if error.at is None else error.at
            raise source.broken(at, error.what) from error


def _pieces(source: Source, split: Split) -> Iterator[Piece]:
    """Yield the text from a split's first byte on to the end of the file."""
    if split.compression == "bz2":
        yield from bzip2.blocks(source, split.start, split.end)
        return
    at = split.start
    while at < source.size:
        border = split.end if at < split.end else source.size
        yield Piece(at, source.read(at, min(_STEP, border - at)))
        at += min(_STEP, border - at)


def _chunks(location: str, kind: RecordKind, size: int, skip: Container[int]) -> Iterator[Chunk]:
    faults: list[Damage] = []
    with Source(location) as source:
        texts = _until_damage(source, inflated(source), kind, size, faults)
        for number, (text, last) in enumerate(texts):
            damage = None
            if last:
                text, damage = _last(source, text, kind, faults)
                if not text and damage is None:
                    return
            if number not in skip:
                yield Chunk(number, text, damage)


def _until_damage(
    source: Source, pieces: Iterator[Piece], kind: RecordKind, size: int, faults: list[Damage]
) -> Iterator[tuple[bytes, bool]]:
    """Yield (text of whole records, whether it is the last). Leave damage in `faults`."""

    def whole() -> Iterator[Piece]:
        try:
            yield from pieces
        except DamagedDump as error:
            faults.append(error.damage)

    try:
        yield from whole_records(whole(), kind, size)
    except Unended as error:
        faults.append(Damage(source.location, error.at or 0, error.what))
        yield b"", True


def _last(
    source: Source, text: bytes, kind: RecordKind, faults: list[Damage]
) -> tuple[bytes, Damage | None]:
    """Return the last text without a record that is cut, and the error that cut it."""
    upto = unfinished(text, kind)
    if faults:
        return text[:upto], faults[0]
    if kind is RecordKind.PAGE and upto < len(text):
        return text[:upto], Damage(source.location, source.size, CUT_PAGE)
    return text, None


def _compression(source: Source) -> Compression:
    head = source.read(0, 512)
    if head.startswith(b"\x1f\x8b"):
        return "gz"
    if head.startswith(b"BZh") and head[3:4] in b"123456789":
        return "bz2"
    for magic, (name, command) in _OTHERS.items():
        if head.startswith(magic):
            raise InputError(
                f"is compressed with {name}",
                expected="a dump in bz2 or gz, or plain text",
                fix=f"Convert it once: {command} {source.location} | bzip2 > dump.bz2",
                where=source.location,
            )
    if b"\0" in head:
        raise InputError(
            "is not text (there are zero bytes at its beginning)",
            expected="a dump in bz2 or gz, or plain text in UTF-8",
            fix="Check that it is the right file and that its download ended.",
            where=source.location,
        )
    return "plain"


LAST_BYTES = 1 << 16
"""Bytes of the text's end that are read: the closing tag and anything after it."""
_BLOCKS = 4 << 20  # compressed bytes from the end of a bz2 file: the last blocks, whatever they are

_NO_END = "the text ends without </mediawiki>; it was cut short between two pages"
_OPEN_ARRAY = "the text ends with a comma, without the array's ]; it was cut short between items"
_CUT_LINE = "the text ends inside a line; it was cut short"


def cut_short(location: str | Path, kind: RecordKind) -> Damage | None:
    """Return where the text of a dump breaks off, None where it ends as a dump does.

    Pages end with </mediawiki>. Lines, which are JSON here, with "]" or "}". For a dump that was
    read to its end without damage: compression says nothing of a text that was cut before. A gz is
    not looked at (that would mean to decompress it again). Raises InputError as `compression_of`.
    """
    compression = compression_of(location)
    if compression == "gz":
        return None
    with Source(location) as source:
        text = _last_text(source) if compression == "bz2" else _tail(source)
        what = None if text is None else _amiss(text, kind)
        return None if what is None else Damage(source.location, source.size, what)


def _amiss(text: bytes, kind: RecordKind) -> str | None:
    if kind is RecordKind.PAGE:
        return None if b"</mediawiki>" in text else _NO_END
    text = text.rstrip()
    if text.endswith((b"]", b"}")):
        return None
    return _OPEN_ARRAY if text.endswith(b"},") else _CUT_LINE


def _tail(source: Source) -> bytes:
    return source.read(max(0, source.size - LAST_BYTES), LAST_BYTES)


def _last_text(source: Source) -> bytes | None:
    """Return the end of a bz2 file's text, None where it cannot be read."""
    text = b""
    try:
        for piece in bzip2.blocks(source, max(0, source.size - _BLOCKS), source.size):
            text = (text + piece.data)[-LAST_BYTES:]
    except DamagedDump:
        return None
    return text or None
