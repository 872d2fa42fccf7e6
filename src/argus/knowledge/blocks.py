"""Read a dump, plain or compressed with bz2 or gz, in blocks of whole pages or lines.

One process reads the file from its beginning and hands the blocks to workers. On a machine of
several cores rapidgzip decompresses in parallel. The standard library does it elsewhere, and takes
over where rapidgzip stops at something, because it tells damage from an end.
"""

from __future__ import annotations

import atexit
import bz2
import gzip
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from argus.cores import available_cores
from argus.data.reading import no_file
from argus.errors import ArgusError, InputError
from argus.extras import naming_extras

if TYPE_CHECKING:
    from rapidgzip import RapidgzipFile

RecordKind = Literal["page", "line"]
"""A page is all from `<page>` to `</page>`. A line is one that is not empty."""
SPLIT_SIZE = 16 << 20
"""Bytes of text that a worker gets at once."""
MAX_RECORD = 256 << 20
"""Bytes after which a record is taken to have no end."""
_STEP = 1 << 18  # bytes that are read at once
_END = 4096  # bytes at the end of a text that show whether it is whole


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
        if what := _missing_end(end, kind):
            damage = f"{location} is damaged at its end: {what}. What precedes was read."
    if damage is not None:  # a record that is cut goes
        last = text.rfind(closing)
        text = text[: last + len(closing)] if last >= 0 else bytearray()
    if number not in skip and (damage is not None or text.strip()):
        yield Block(number, bytes(text), damage)


def records_of(block: Block, kind: RecordKind) -> Iterator[bytes]:
    """Yield the records of a block."""
    if kind == "page":
        for part in block.text.split(b"<page>")[1:]:
            body, closed, _ = part.partition(b"</page>")
            yield b"<page>" + body + closed
    else:
        yield from filter(None, (line.rstrip(b"\r") for line in block.text.split(b"\n")))


def _missing_end(end: bytes, kind: RecordKind) -> str:
    """Return how a text shows that it was cut before it was compressed, "" for a whole one."""
    if kind == "page":
        return "" if b"</mediawiki>" in end else "it ends without </mediawiki>"
    end = end.rstrip()
    return "" if not end or end.endswith((b"]", b"}")) else "it ends inside a line or an array"


def _texts(location: str | Path, *, parallel: bool = True) -> Iterator[bytes]:
    """Yield the text of a dump in pieces. Raises InputError, DamagedDump."""
    path = Path(location)
    try:
        if not path.is_file():
            raise _refused(location, no_file(path))
        with path.open("rb") as file:
            head, size = file.read(512), path.stat().st_size
            file.seek(0)
            # A thread of rapidgzip takes the time of two of the standard library, which
            # decompresses gz twenty times as fast as bz2.
            if head.startswith(b"\x1f\x8b"):
                is_gz, threads = True, available_cores() // 8
            elif head.startswith(b"BZh"):
                is_gz, threads = False, available_cores() // 2
            elif not head or b"\0" in head:
                raise _refused(location, "is not text" if head else "is empty")
            else:
                yield from iter(partial(file.read, _STEP), b"")
                return
            given = 0
            if parallel and threads > 1:
                try:
                    with _rapidgzip(str(location), threads) as reader:
                        while text := bytes(reader.read(4 * _STEP)):
                            given += len(text)
                            yield text
                        if given and reader.tell_compressed() == 8 * size:
                            return
                except (OSError, RuntimeError, ValueError):
                    pass  # the standard library goes on, and says what is wrong
            try:
                with gzip.open(file) if is_gz else bz2.open(file) as unpacked:
                    unpacked.seek(given)
                    yield from iter(partial(unpacked.read1, _STEP), b"")
            except (OSError, EOFError, zlib.error) as error:
                raise DamagedDump(
                    f"{location} is damaged near byte {file.tell():,}: {error}. "
                    "What precedes was read; download the file again to have the rest."
                ) from error
    except OSError as error:
        raise _refused(location, f"cannot be read ({error.strerror})") from error


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


def _refused(location: str | Path, got: str) -> InputError:
    expected = "a dump: a file of text, plain or compressed with bz2 or gz"
    fix = "Check the path, and that the download ended; convert what is compressed otherwise."
    return InputError(got, expected=expected, fix=fix, where=str(location))
