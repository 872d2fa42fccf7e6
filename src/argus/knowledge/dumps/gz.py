"""The text of a gz file, from its beginning on."""

from __future__ import annotations

import atexit
import zlib
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from argus.cores import available_cores
from argus.knowledge.dumps.compressed import Piece, Source

if TYPE_CHECKING:
    from rapidgzip import RapidgzipFile

_STEP = 1 << 16  # compressed bytes that are read at once; they become 64 MiB at most
_TEXT = 1 << 20
_MANY_CORES = 16
"""From here on several threads decompress: together they cost twice the time of one, and 1 GB, and
one, some 400 MB/s of text, is enough for the workers of a smaller machine."""
_WBITS = 31  # with gzip's header and checksum

_CUT = "the file ends inside its compressed data; it was cut short"
_CHECKSUM = "the checksum of what precedes is wrong"
_BROKEN = "the compressed data are broken"
_NOT_GZ = "what is not gz follows"


def inflated(source: Source, threads: int | None = None) -> Iterator[Piece]:
    """Yield the text of a gz file, of one member or many. Zeros at its end are ignored.

    threads: None chooses for this machine. Where rapidgzip, which decompresses in parallel, is
    not installed or in doubt (it takes a file that is cut for whole), one thread does it. Raises
    DamagedDump where the file is broken, once all text before that was given.
    """
    if threads is None:
        cores = available_cores()
        threads = cores // 4 if cores >= _MANY_CORES else 1
    position = 0
    if threads > 1:
        parallel = _in_parallel(source, threads)
        while True:
            try:
                piece = next(parallel)
            except StopIteration as whole:
                if whole.value:
                    return
                break
            position += len(piece.data)
            yield piece
    for piece in _in_one(source):
        if len(piece.data) > position:
            yield Piece(piece.at, piece.data[position:])
        position = max(0, position - len(piece.data))


def _in_parallel(source: Source, threads: int) -> Generator[Piece, None, bool]:
    """Yield text. Return whether that was all of it for certain."""
    try:
        import rapidgzip
    except ImportError:
        return False
    try:
        reader: RapidgzipFile = rapidgzip.open(source.handle, parallelization=threads)
    except (OSError, RuntimeError, ValueError):
        return False
    atexit.register(reader.close)  # its threads abort an interpreter that ends before them
    try:
        while text := _read(reader):
            yield Piece(reader.tell_compressed() // 8, text)
        return text is not None and reader.tell_compressed() == 8 * source.size
    finally:
        reader.close()
        atexit.unregister(reader.close)


def _read(reader: RapidgzipFile) -> bytes | None:
    """Return the next text, nothing at the end, None where rapidgzip stops at something."""
    try:
        return bytes(reader.read(_TEXT))
    except (OSError, RuntimeError, ValueError):
        return None


def _in_one(source: Source) -> Iterator[Piece]:
    at = 0
    while at < source.size:
        if at and source.read(at, 2) != b"\x1f\x8b":
            if _zeros(source, at):
                return
            raise source.broken(at, _NOT_GZ)
        decoder = zlib.decompressobj(_WBITS)
        while not decoder.eof:
            data = source.read(at, _STEP)
            if not data:
                raise source.broken(source.size, _CUT)
            before = decoder.copy()
            try:
                text = decoder.decompress(data)
            except zlib.error as error:
                text, n = _up_to_fault(before, data)
                yield Piece(at, text)
                wrong = "incorrect" in str(error)  # data check, length check
                raise source.broken(at + n, _CHECKSUM if wrong else _BROKEN) from error
            yield Piece(at, text)
            at += len(data) - len(decoder.unused_data)


def _up_to_fault(decoder: zlib._Decompress, data: bytes) -> tuple[bytes, int]:
    """Return the text before the byte that is broken, and where in `data` that is."""
    parts = []
    for n in range(len(data)):
        try:
            parts.append(decoder.decompress(data[n : n + 1]))
        except zlib.error:
            return b"".join(parts), n
    return b"".join(parts), len(data)


def _zeros(source: Source, at: int) -> bool:
    """Return whether nothing but zeros follows."""
    while data := source.read(at, _TEXT):
        if data.strip(b"\0"):
            return False
        at += len(data)
    return True
