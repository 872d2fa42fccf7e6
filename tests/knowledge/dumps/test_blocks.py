import bz2
import gzip
import pickle
import random
import re
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge import blocks
from argus.knowledge.blocks import DamagedDump, blocks_of, head_of, records_of
from tests.support.draws import examples

KINDS = ("page", "line")
PACK = {"bz2": partial(bz2.compress, compresslevel=1), "gz": gzip.compress, "plain": bytes}
LINES = b"".join(
    b"%d %s\n" % (i, random.Random(i).randbytes(random.Random(i).randint(0, 900)).hex().encode())
    for i in range(1000)
)
PAGES = b"".join(b"<page>\n%s\n</page>\n" % line for line in LINES.splitlines())
WHOLE = {"page": b"<mediawiki>\n" + PAGES + b"</mediawiki>\n", "line": LINES + b"]\n"}


def plain_reader(text: bytes, kind: str) -> list[bytes]:
    if kind == "page":
        return re.findall(rb"<page>.*?</page>", text, re.DOTALL)
    return [line for line in text.split(b"\n") if line]


def read(path, kind, size=60_000, **options) -> tuple[list[bytes], str | None]:
    """All records of a file's blocks in order, and the damage of the last."""
    found = list(blocks_of(path, kind, size=size, **options))
    assert all(block.damage is None for block in found[:-1])
    sent = pickle.loads(pickle.dumps(found))
    return [r for b in sent for r in records_of(b, kind)], found[-1].damage if found else None


@pytest.fixture
def path(tmp_path):
    return tmp_path / "dump"


@pytest.fixture(params=[1, 16], ids=["standard library", "rapidgzip"])
def _cores(request, monkeypatch):
    monkeypatch.setattr(blocks, "available_cores", lambda: request.param)


def test_a_real_dump_gives_the_pages_of_the_plain_reader(shared):
    [path] = shared("enwiki_excerpt").glob("*.bz2")
    pages, damage = read(path, "page", 600_000)
    assert damage is None and len(pages) == 206
    assert pages == plain_reader(bz2.decompress(path.read_bytes()), "page")


@pytest.mark.usefixtures("_cores")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compression", PACK)
def test_any_compression_in_one_stream_or_many_gives_the_same_records(path, compression, kind):
    text, pack = WHOLE[kind], PACK[compression]
    streams = [text[i : i + 90_000] for i in range(0, len(text), 90_000)]
    zeros = b"" if compression == "plain" else bytes(3000)
    for packed in (pack(text), b"".join([pack(b""), *map(pack, streams), pack(b"")]) + zeros):
        path.write_bytes(packed)
        for size in (10_000, 1 << 30):
            assert read(path, kind, size) == (plain_reader(text, kind), None)


@pytest.mark.usefixtures("_cores")
@pytest.mark.parametrize("left", [-3, -11, 0.99, 0.5, 200])
@pytest.mark.parametrize("compression", ["bz2", "gz"])
def test_a_file_that_is_cut_gives_the_records_before_the_cut(path, compression, left):
    packed = PACK[compression](WHOLE["line"])
    cut = packed[: left if isinstance(left, int) else int(len(packed) * left)]
    path.write_bytes(cut)
    got, damage = read(path, "line")
    assert f"near byte {len(cut):,}" in damage and str(path) in damage
    assert got == WHOLE["line"].split(b"\n")[: len(got)]
    assert sum(map(len, got)) > len(LINES) * len(cut) / len(packed) - 110_000


@pytest.mark.usefixtures("_cores")
@pytest.mark.parametrize("compression", ["bz2", "gz"])
def test_broken_data_end_the_dump_near_their_place(path, compression):
    pack = PACK[compression]
    packed = pack(LINES[:400_000]) + pack(LINES[400_000:])
    middle = len(packed) // 2
    path.write_bytes(packed[:middle] + b"\xff" * 5000 + packed[middle + 5000 :])
    got, damage = read(path, "line")
    assert "near byte" in damage
    assert got == LINES.split(b"\n")[: len(got)]
    assert sum(map(len, got)) > len(LINES) / 2 - 200_000


parts = st.lists(
    st.sampled_from([b"<page>", b"</page>", b"\n", b"a", b"<", b"page>", b"x" * 50, b"\n\n", b"/"]),
    max_size=60,
)


@given(parts=parts, cuts=st.lists(st.integers(0, 400), max_size=6), data=st.data())
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_cut_alike_by_blocks_of_any_size(tmp_path_factory, kind, parts, cuts, data):
    text = b"".join(parts) + {"page": b"</mediawiki>", "line": b"]"}[kind]
    borders = sorted({0, len(text), *(cut % (len(text) + 1) for cut in cuts)})
    streams = [text[a:b] for a, b in pairwise(borders)]
    for compression, pack in PACK.items():
        path = tmp_path_factory.getbasetemp() / "any"
        path.write_bytes(b"".join(map(pack, streams)))
        size = data.draw(st.sampled_from([1, 3, 17, 60, 1000]))
        texts, damage = read(path, kind, size)
        assert damage is None, compression
        expected = plain_reader(text, kind)
        if kind == "page":
            expected = [page[page.rindex(b"<page>") :] for page in expected]
            texts = [page for page in texts if page.endswith(b"</page>")]
        assert texts == expected


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_that_are_done_are_not_given_again(path, compression, kind):
    path.write_bytes(PACK[compression](WHOLE[kind]))
    everything = list(blocks_of(path, kind, size=20_000))
    rest = list(blocks_of(path, kind, size=20_000, skip={0, 2}))
    assert [block.number for block in everything] == list(range(len(everything)))
    assert len(everything) > 4
    assert rest == [block for block in everything if block.number not in (0, 2)]


def test_what_is_no_dump_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "empty").touch()
    (tmp_path / "zeros").write_bytes(b"a\0b")
    for name, got in (
        ("empty", "is empty"), ("", "is a folder"), ("none", "no such file"),
        ("zeros", "is not text"),
    ):  # fmt: skip
        for use in (head_of, lambda path: list(blocks_of(path, "line"))):
            with pytest.raises(InputError, match=f"{tmp_path / name}.*{got}"):
                use(tmp_path / name)


def test_a_dump_without_text_before_the_damage_has_no_head(path):
    path.write_bytes(bz2.compress(LINES)[:200])
    with pytest.raises(DamagedDump, match="near byte 200"):
        head_of(path)


@pytest.mark.parametrize("compression", ["bz2", "gz"])
def test_a_small_file_of_many_megabytes_is_unpacked_a_piece_at_a_time(path, compression):
    path.write_bytes(PACK[compression](b"\n" * (12 << 20)))
    assert path.stat().st_size < 1 << 18
    pieces = blocks._texts(path, parallel=False)
    assert all(len(next(pieces)) <= 1 << 20 for _ in range(8))
