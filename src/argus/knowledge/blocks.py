"""Split a dump (plain, bz2 or gz) into blocks of whole pages or lines, for workers to parse.

Used by `argus.kb.reading`. One process reads the file from its beginning and hands the blocks on.
On a machine of several cores rapidgzip decompresses in parallel. The standard library does it
elsewhere, and takes over where rapidgzip stops at something, because it tells damage from an end.
`argus.knowledge.dumps` parses the blocks.
"""

from __future__ import annotations

import atexit
import bz2
import gzip
import zlib
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from argus.cores import available_cores
from argus.data.reading import no_file
from argus.errors import ArgusError, InputError
from argus.extras import naming_extras

RecordKind = Literal["page", "line"]
"""A page is all from `<page>` to `</page>`. A line is one that is not empty."""
# Bytes of text that a worker gets at once.
SPLIT_SIZE = 16 << 20
_STEP = 1 << 18  # bytes that are read at once


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
    """Return the first `n` bytes of a dump's text. Raises InputError, DamagedDump."""
    head = b""
    for text in _texts(location, parallel=False):
        head += text
        if len(head) >= n:
            break
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
    text, searched, number, damage = bytearray(), 0, 0, None
    try:
        for piece in _texts(location):
            text += piece
            while (at := text.find(closing, max(searched, size - len(closing)))) >= 0:
                whole = at + len(closing)
                if number not in skip:
                    yield Block(number, bytes(text[:whole]))
                del text[:whole]
                searched, number = 0, number + 1
            searched = max(0, len(text) - len(closing) + 1)
    except DamagedDump as error:  # a record that is cut goes
        damage = str(error)
        del text[text.rfind(closing) + len(closing) if closing in text else 0 :]
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
                with naming_extras():
                    import rapidgzip
                reader = rapidgzip.RapidgzipFile(str(location), parallelization=threads)
                atexit.register(reader.close)  # its threads abort an interpreter that ends first
                try:
                    while text := bytes(reader.read(4 * _STEP)):
                        given += len(text)
                        yield text
                    if given and reader.tell_compressed() == 8 * size:
                        return
                except (OSError, RuntimeError, ValueError):
                    pass  # the standard library goes on, and says what is wrong
                finally:
                    reader.close()
                    atexit.unregister(reader.close)
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


def _refused(location: str | Path, got: str) -> InputError:
    expected = "a dump: a file of text, plain or compressed with bz2 or gz"
    fix = "Check the path, and that the download ended; convert what is compressed otherwise."
    return InputError(got, expected=expected, fix=fix, where=str(location))
