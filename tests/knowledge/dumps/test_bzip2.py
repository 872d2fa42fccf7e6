import bz2
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus.knowledge.dumps import bzip2
from argus.knowledge.dumps.bzip2 import Mark, Window, blocks
from argus.knowledge.dumps.compressed import Damage, DamagedDump, Source
from argus.knowledge.dumps.splits import RecordKind, blocks_of, records_of
from tests.support.draws import examples

LINES = b"".join(
    b"%d %s\n" % (i, random.Random(i).randbytes(random.Random(i).randint(0, 900)).hex().encode())
    for i in range(450)
)
PACKED = bz2.compress(LINES, 1)  # four blocks in one stream
STREAMS = b"".join(bz2.compress(LINES[i : i + 90_000], 9) for i in range(0, len(LINES), 90_000))


def opened(path, data: bytes) -> Source:
    path.write_bytes(data)
    return Source(path)


def marks(path, data: bytes) -> list[Mark]:
    with opened(path, data) as source:
        window = Window(source, 0)
        window.reach(len(data))
        return window.marks


def lines(path, data: bytes, size: int) -> tuple[list[bytes], list[Damage]]:
    """What the blocks give, and every damage; the blocks behind one are read, too."""
    path.write_bytes(data)
    records: list[bytes] = []
    damage: list[Damage] = []
    for block in blocks_of(path, RecordKind.LINE, size=size):
        try:
            records.extend(records_of(block, RecordKind.LINE))
        except DamagedDump as error:
            damage.append(error.damage)
    return records, damage


def flipped(data: bytes, bit: int) -> bytes:
    changed = bytearray(data)
    changed[bit // 8] ^= 128 >> bit % 8
    return bytes(changed)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "dump"


@given(st.binary(max_size=40), st.binary(max_size=40), st.integers(0, 7), st.booleans())
@settings(max_examples=examples(25), deadline=None)
def test_a_mark_is_found_at_any_bit(tmp_path_factory, before, after, shift, block):
    magic = bzip2._BLOCK if block else bzip2._END
    bits = int.from_bytes(before, "big") << (48 + 8 * len(after) + 8)
    bits |= (magic << (8 - shift) << 8 * len(after)) | int.from_bytes(after, "big")
    data = bits.to_bytes(len(before) + 7 + len(after), "big")
    path = tmp_path_factory.getbasetemp() / "marks"
    expected = Mark(len(before) * 8 + shift, "block" if block else "end")
    assert expected in marks(path, data)
    for step in (1, 2, 5, 8):  # wherever what is read at once ends
        with opened(path, data) as source:
            window = Window(source, 0)
            for byte in range(0, len(data) + step, step):
                window.reach(byte, least=1)
            assert window.marks.count(expected) == 1


def test_blocks_are_those_of_the_stream_wherever_they_begin(path):
    with opened(path, PACKED) as source:
        pieces = list(blocks(source, 0, len(PACKED)))
        assert len(pieces) == 4
        assert b"".join(piece.data for piece in pieces) == LINES
        assert {mark.bit % 8 for mark in marks(path, PACKED)} > {0}
        for i, piece in enumerate(pieces[1:], 1):
            before = pieces[i - 1].at
            assert list(blocks(source, before + 1, piece.at + 1)) == pieces[i:]
            assert list(blocks(source, piece.at, piece.at + 1)) == pieces[i:]
            assert list(blocks(source, before + 1, piece.at)) == []


@pytest.mark.parametrize("size", [500, 10_000, 60_000, 1 << 20])
def test_streams_of_several_levels_and_empty_ones_are_one_text(path, size):
    packed = b"".join(
        bz2.compress(b"") * (level % 3) + bz2.compress(LINES[i : i + 40_000], level)
        for level, i in zip((1, 9, 5, 2), range(0, 160_000, 40_000), strict=True)
    )
    expected = [line for line in LINES[:160_000].split(b"\n") if line]
    assert lines(path, packed + bz2.compress(b""), size) == (expected, [])
    assert lines(path, bz2.compress(b"") * 3, size) == ([], [])


@pytest.mark.parametrize(
    ("block", "place", "size"),
    [
        *((1, place, 9_000) for place in (0, 47, 60, 90, 20_000)),
        *((block, place, 1 << 30) for block in (0, 3) for place in (0, 60, 20_000)),
    ],
)
def test_what_precedes_a_flipped_bit_is_given(path, block, place, size):
    bits = [mark.bit for mark in marks(path, PACKED)]
    packed = flipped(PACKED, bits[block] + place)
    with opened(path, PACKED) as source:
        before = b"".join(p.data for p in list(blocks(source, 0, 1))[:block])
    got, damage = lines(path, packed, size)
    whole = before.split(b"\n")[:-1]
    assert damage[0].byte - bits[block] // 8 in (0, 1)
    assert damage[0].what in (bzip2._BROKEN, bzip2._ASTRAY)
    assert got[: len(whole)] == whole
    assert set(got) <= set(LINES.split(b"\n"))
    assert len({d.byte for d in damage}) == 1


@pytest.mark.parametrize("size", [9_000, 1 << 30])
@pytest.mark.parametrize("packed", [PACKED, STREAMS], ids=["one stream", "streams"])
@pytest.mark.parametrize("left", [-1, -3, -11, -14, 0.99, 0.5, 20, 12, 8, 5])
def test_a_file_that_is_cut_says_so(path, size, packed, left):
    n = left if isinstance(left, int) else int(len(packed) * left)
    cut = packed[:n]
    got, damage = lines(path, cut, size)
    assert "cut short" in damage[0].what
    assert 0 <= damage[0].byte <= len(cut)
    decoder, text = bz2.BZ2Decompressor(), b""
    while cut:  # the plain reader gives all blocks that are whole
        text += decoder.decompress(cut)
        cut = decoder.unused_data
        if decoder.eof:
            decoder = bz2.BZ2Decompressor()
    whole = text.split(b"\n")[:-1]
    assert got == whole
