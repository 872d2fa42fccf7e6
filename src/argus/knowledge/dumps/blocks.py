"""Read a dump, plain or compressed with bz2 or gz, in blocks of whole pages or lines.

One process reads the file from its beginning and hands the blocks to workers. On a machine of
several cores rapidgzip decompresses in parallel. The standard library does it elsewhere, and takes
over where rapidgzip stops at something, because it tells damage from an end.
"""

from __future__ import annotations

import atexit
import bz2
import os
import re
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from argus.cores import available_cores
from argus.data.reading import no_file
from argus.errors import ArgusError, InputError
from argus.extras import naming_extras
from argus.knowledge.dumps import SPLIT_SIZE

if TYPE_CHECKING:
    from rapidgzip import RapidgzipFile

RecordKind = Literal["page", "line"]
"""A page is all from `<page>` to `</page>`. A line is one that is not empty."""
MAX_RECORD = 256 << 20
"""Bytes after which a record is taken to have no end."""
_TEXT = 1 << 16  # bytes of text that are made at once, however many a small file unpacks to
_STEP = 1 << 18  # bytes of the file that are read at once
_END = 4096  # bytes at the end of a text that show whether it is whole
_OTHERS = {
    b"\x28\xb5\x2f\xfd": ("Zstandard", "zstd -dc"),
    b"\xfd7zXZ\0": ("xz", "xz -dc"),
    b"PK\x03\x04": ("zip", "unzip -p"),
    b"7z\xbc\xaf\x27\x1c": ("7z", "7z x -so"),
    b"\x04\x22\x4d\x18": ("LZ4", "lz4 -dc"),
}


class DamagedDump(ArgusError):
    """A dump cannot be read beyond a byte. The text before it was given."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole records of a dump, numbered from 0.

    damage: where and why the rest of the dump cannot be read. Only the last block has one.
    """

    number: int
    text: bytes
    damage: str | None = None


def head_of(location: str | Path, n: int = 65536) -> bytes:
    """Return the first `n` bytes of a dump's text. Fewer if it is shorter, or broken behind them.

    Raises InputError as `blocks_of`, DamagedDump if there is no text before the damage.
    """
    head = b""
    try:
        for text in _texts(location, parallel=False):
            head += text
            if len(head) >= n:
                break
    except DamagedDump:
        if not head:
            raise
    return head[:n]


def blocks_of(
    location: str | Path,
    kind: RecordKind,
    *,
    size: int = SPLIT_SIZE,
    skip: Container[int] = frozenset(),
) -> Iterator[Block]:
    """Yield the blocks of a dump, each of at least `size` bytes of text.

    A text is cut alike each time, behind the first record that ends at `size` bytes or later. skip:
    numbers of blocks that are done and left out. Raises InputError if the dump is no file, is empty
    or cannot be read, for a compression that is not read, and if it is no text.
    """
    closing = b"</page>" if kind == "page" else b"\n"
    text, end, searched, number, damage = bytearray(), b"", 0, 0, None
    try:
        for piece in _texts(location):
            text += piece
            end = (end + piece[-_END:])[-_END:]
            while (at := text.find(closing, max(searched, size - len(closing)))) >= 0:
                whole = at + len(closing)
                if number not in skip:
                    yield Block(number, bytes(text[:whole]))
                del text[:whole]
                searched, number = 0, number + 1
            searched = max(0, len(text) - len(closing) + 1)
            if len(text) > size + MAX_RECORD:
                what = f"a {kind} that does not end within {MAX_RECORD >> 20} MiB"
                raise DamagedDump(f"{location} is damaged: it has {what}. What precedes was read.")
    except DamagedDump as error:
        damage = str(error)
    else:
        if what := _missing_end(text, end, kind):
            damage = f"{location} is damaged at its end: {what}. What precedes was read."
    if damage is not None:  # a record that is cut goes
        last = text.rfind(closing)
        text = text[: last + len(closing)] if last >= 0 else bytearray()
    if number not in skip and (damage is not None or text.strip()):
        yield Block(number, bytes(text), damage)


def records_of(block: Block, kind: RecordKind) -> Iterator[bytes]:
    """Yield the records of a block. A page that is not closed ends where the next begins."""
    if kind == "page":
        for part in block.text.split(b"<page>")[1:]:
            body, closed, _ = part.partition(b"</page>")
            yield b"<page>" + body + closed
    else:
        yield from filter(None, (line.rstrip(b"\r") for line in block.text.split(b"\n")))


def _missing_end(text: bytearray, end: bytes, kind: RecordKind) -> str:
    """Return how a text shows that it was cut before it was compressed, "" for a whole one."""
    if kind == "page":
        if text.rfind(b"<page>") > text.rfind(b"</page>"):
            return "it ends inside a page"
        whole = b"</mediawiki>" in end
        return "" if whole else "it ends without </mediawiki>; it was cut short between two pages"
    end = end.rstrip()
    if not end or end.endswith((b"]", b"}")):
        return ""
    if end.endswith(b"},"):
        return "it ends with a comma, without the array's ]; it was cut short between items"
    return "it ends inside a line; it was cut short"


@contextmanager
def _opened(location: str | Path) -> Iterator[BinaryIO]:
    """Open a dump. Raises InputError."""
    path = Path(location)
    try:
        if not path.is_file():
            raise _refused(location, no_file(path))
        with path.open("rb") as file:
            if not path.stat().st_size:
                raise _refused(location, "is empty")
            yield file
    except OSError as error:
        raise _refused(location, f"cannot be read ({error.strerror})") from error


def _texts(location: str | Path, *, parallel: bool = True) -> Iterator[bytes]:
    """Yield the text of a dump, about 1 MiB at once. Raises InputError, DamagedDump."""
    with _opened(location) as file:
        head = file.read(512)
        if head.startswith(b"\x1f\x8b"):
            compression = "gz"
        elif re.match(rb"BZh[1-9]", head):
            compression = "bz2"
        else:
            for magic, (name, command) in _OTHERS.items():
                if head.startswith(magic):
                    fix = f"Convert it once: {command} {location} | bzip2 > dump.bz2"
                    raise _refused(location, f"is compressed with {name}", fix)
            if b"\0" in head:
                raise _refused(location, "is not text (there are zero bytes at its beginning)")
            file.seek(0)
            while text := file.read(_STEP):
                yield text
            return
        # A thread of rapidgzip takes the time of two of the standard library, which decompresses
        # gz twenty times as fast as bz2.
        threads = available_cores() // (2 if compression == "bz2" else 8)
        given, size = 0, os.fstat(file.fileno()).st_size
        if parallel and threads > 1:
            try:
                with _rapidgzip(str(location), threads) as reader:
                    while text := bytes(reader.read(1 << 20)):
                        given += len(text)
                        yield text
                    if given and reader.tell_compressed() == 8 * size:
                        return
            except (OSError, RuntimeError, ValueError):
                pass  # the standard library goes on, and says what is wrong
        yield from _decompressed(file, compression, location, given)


@contextmanager
def _rapidgzip(file: str, threads: int) -> Iterator[RapidgzipFile]:
    with naming_extras():
        import rapidgzip
    reader = rapidgzip.RapidgzipFile(file, parallelization=threads)
    atexit.register(reader.close)  # its threads abort an interpreter that ends before them
    try:
        yield reader
    finally:
        reader.close()
        atexit.unregister(reader.close)


def _decompressed(
    file: BinaryIO, compression: str, location: str | Path, skip: int
) -> Iterator[bytes]:
    """Yield the text from byte `skip` on, of one stream or many. Zeros at the end are ignored."""

    def damaged(what: str) -> DamagedDump:
        return DamagedDump(
            f"{location} is damaged near byte {at:,}: {what}. "
            "What precedes was read; download the file again to have the rest."
        )

    def read_at(n: int, at: int) -> bytes:
        file.seek(at)
        return file.read(n)

    at, size = 0, os.fstat(file.fileno()).st_size
    magic = b"BZh" if compression == "bz2" else b"\x1f\x8b"
    while at < size:
        if not read_at(len(magic), at).startswith(magic):
            while zeros := read_at(_STEP, at):
                if zeros.strip(b"\0"):
                    raise damaged(f"what is not {compression} follows")
                at += len(zeros)
            return
        decoder = bz2.BZ2Decompressor() if compression == "bz2" else zlib.decompressobj(31)
        data = b""
        while not decoder.eof:
            if not data and getattr(decoder, "needs_input", True):
                data = read_at(_STEP, at)
                at += len(data)
                if not data:
                    raise damaged("the file ends inside its compressed data; it was cut short")
            try:
                text = decoder.decompress(data, _TEXT)
            except (OSError, zlib.error) as error:
                at -= len(data)
                raise damaged("the compressed data are broken") from error
            data = getattr(decoder, "unconsumed_tail", b"")
            if len(text) > skip:
                yield text[skip:]
            skip = max(0, skip - len(text))
        at -= len(decoder.unused_data)


def _refused(
    location: str | Path,
    got: str,
    fix: str = "Check the path, and that the download ended.",
) -> InputError:
    expected = "a dump: a file of text, plain or compressed with bz2 or gz"
    return InputError(got, expected=expected, fix=fix, where=str(location))
