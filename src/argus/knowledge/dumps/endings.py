"""Whether a dump's text ends as it should: one that was cut as plain text tells nothing else."""

from __future__ import annotations

from pathlib import Path

from argus.knowledge.dumps import bzip2
from argus.knowledge.dumps.cutting import RecordKind
from argus.knowledge.dumps.source import Damage, DamagedDump, Source
from argus.knowledge.dumps.splits import compression_of

LAST_BYTES = 1 << 16
"""Of the text: an export's end stands in them, and so does what somebody wrote behind it."""
_BLOCKS = 4 << 20  # compressed bytes from the end of a bz2 file: the last blocks, whatever they are

_NO_END = "the text ends without </mediawiki>; it was cut short between two pages"
_OPEN_ARRAY = "the text ends with a comma, without the array's ]; it was cut short between items"
_CUT_LINE = "the text ends inside a line; it was cut short"


def cut_short(location: str | Path, kind: RecordKind) -> Damage | None:
    """Return where the text of a dump breaks off, None where it ends as a dump does.

    Pages end with </mediawiki>; lines, which are JSON here, with "]" or "}". For a dump that was
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
