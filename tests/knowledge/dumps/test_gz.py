import gzip
import random

import pytest

from argus.knowledge.dumps import gz
from argus.knowledge.dumps.compressed import DamagedDump, Source
from argus.knowledge.dumps.gz import inflated
from argus.knowledge.dumps.splits import Chunk, RecordKind, blocks_of, records_of

LINES = b"".join(
    b"%d %s\n" % (i, random.Random(i).randbytes(random.Random(i).randint(0, 900)).hex().encode())
    for i in range(1000)
)
PACKED = gzip.compress(LINES)


def text(path, data: bytes, threads: int) -> tuple[bytes, tuple[int, str] | None]:
    path.write_bytes(data)
    content = bytearray()
    with Source(path) as source:
        try:
            for piece in inflated(source, threads):
                content += piece.data
        except DamagedDump as error:
            return bytes(content), (error.damage.byte, error.damage.what)
    return bytes(content), None


@pytest.fixture(params=[1, 2], ids=["zlib", "rapidgzip"])
def threads(request) -> int:
    if request.param > 1:
        pytest.importorskip("rapidgzip")
    return request.param


@pytest.fixture
def path(tmp_path):
    return tmp_path / "dump"


def test_members_and_zeros_at_the_end_are_one_text(path, threads):
    assert text(path, PACKED, threads) == (LINES, None)
    assert text(path, gzip.compress(b"") + PACKED * 2, threads) == (LINES * 2, None)
    assert text(path, PACKED + bytes(3000), threads) == (LINES, None)
    assert text(path, gzip.compress(b""), threads) == (b"", None)


def test_a_file_that_is_cut_gives_all_text_before_the_cut(path, threads):
    for n in (len(PACKED) // 2, len(PACKED) - 3, 200):
        got, damage = text(path, PACKED[:n], threads)
        assert damage == (n, gz._CUT)
        assert LINES.startswith(got)
        assert len(got) > len(LINES) * n / len(PACKED) - 40_000
    got, damage = text(path, PACKED + PACKED[:1000], threads)
    assert damage == (len(PACKED) + 1000, gz._CUT)
    assert got.startswith(LINES)


def test_broken_data_are_located(path, threads):
    at = len(PACKED) // 2
    got, damage = text(path, PACKED[:at] + b"\xff" * 5000 + PACKED[at + 5000 :], threads)
    assert damage is not None
    assert damage[1] == gz._BROKEN
    assert at <= damage[0] < at + 5000
    assert got.startswith(LINES[: len(LINES) // 2 - 5000])
    got, damage = text(path, PACKED[:at] + bytes(at), threads)
    assert damage is not None
    assert damage[0] >= at - 1


@pytest.mark.parametrize("size", [500, 60_000, 1 << 30])
def test_the_last_chunk_names_the_damage_without_a_cut_record(path, size):
    path.write_bytes(PACKED[: len(PACKED) // 2])
    chunks = [block for block in blocks_of(path, RecordKind.LINE, size=size)]
    assert all(isinstance(chunk, Chunk) for chunk in chunks)
    assert all(chunk.damage is None for chunk in chunks[:-1])
    assert chunks[-1].damage is not None
    lines = []
    with pytest.raises(DamagedDump, match="cut short"):
        for chunk in chunks:
            lines.extend(records_of(chunk, RecordKind.LINE))
    assert lines == LINES.split(b"\n")[: len(lines)]
    assert len(lines) > 400
