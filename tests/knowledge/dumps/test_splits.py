import bz2
import gzip
import itertools
import json
import pickle
import random
import re
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge.dumps import bzip2, compressed, splits
from argus.knowledge.dumps.splits import (
    Chunk,
    Damage,
    DamagedDump,
    RecordKind,
    Split,
    blocks_of,
    compression_of,
    head_of,
    records_of,
)
from tests.support.draws import examples

KINDS = (RecordKind.PAGE, RecordKind.LINE)
PACK = {"bz2": bz2.compress, "gz": gzip.compress, "plain": bytes}


def plain_reader(text: bytes, kind: RecordKind) -> list[bytes]:
    if kind is RecordKind.PAGE:
        return re.findall(rb"<page>.*?</page>", text, re.DOTALL)
    return [line for line in text.split(b"\n") if line]


def read(path, kind, size, **options) -> tuple[list[bytes], Damage | None]:
    """All records of a file's blocks in order, up to the first damage."""
    texts: list[bytes] = []
    for block in blocks_of(path, kind, size=size, **options):
        try:
            texts.extend(records_of(pickle.loads(pickle.dumps(block)), kind))
        except DamagedDump as error:
            return texts, error.damage
    return texts, None


def pages(n: int, seed: int = 0, longest: int = 4000) -> bytes:
    """Pages that hardly compress, so that few of them make a block."""
    rng = random.Random(seed)
    texts = [rng.randbytes(rng.randint(1, longest)).hex() for _ in range(n)]
    body = "".join(
        f"  <page>\n<id>{i}</id>\n<text>{text}</text>\n</page>\n" for i, text in enumerate(texts)
    )
    return f"<mediawiki>\n<siteinfo>&lt;page&gt;</siteinfo>\n{body}</mediawiki>\n".encode()


@pytest.fixture(scope="module")
def real(shared) -> bytes:
    """The first 700 kB of a real Wikipedia dump: half a page is at the end."""
    [path] = shared("enwiki_excerpt").glob("*.bz2")
    return bz2.BZ2Decompressor().decompress(path.read_bytes(), 700_000)


def test_a_real_dump_gives_the_pages_of_the_plain_reader(shared):
    [path] = shared("enwiki_excerpt").glob("*.bz2")
    pages, damage = read(path, RecordKind.PAGE, 600_000)
    assert damage is None
    assert len(pages) == 206
    assert pages == plain_reader(bz2.decompress(path.read_bytes()), RecordKind.PAGE)


def test_a_real_wikidata_dump_gives_a_line_per_item(shared):
    [path] = shared("wikidata_excerpt").glob("*.bz2")
    lines, damage = read(path, RecordKind.LINE, 400_000)
    assert damage is None
    assert (lines[0], lines[-1], len(lines)) == (b"[", b"]", 102)
    items = [json.loads(line.rstrip(b",")) for line in lines[1:-1]]
    assert len({item["id"] for item in items}) == 100


@pytest.mark.parametrize("size", [7_000, 40_000, 61_234, 1 << 30])
@pytest.mark.parametrize("kind", KINDS)
def test_the_size_of_splits_changes_nothing(real, tmp_path, kind, size):
    text = real[: real.rindex(b"</page>") + 7]
    (tmp_path / "dump").write_bytes(bz2.compress(text, 1))
    assert read(tmp_path / "dump", kind, size) == (plain_reader(text, kind), None)


@pytest.mark.parametrize("compression", ["gz", "plain"])
@pytest.mark.parametrize("size", [100, 30_000, 1 << 30])
@pytest.mark.parametrize("kind", KINDS)
def test_plain_and_gz_dumps_give_the_same_records(real, tmp_path, compression, kind, size):
    text = real[: real[:300_000].rindex(b"</page>") + 7]
    (tmp_path / "dump").write_bytes(PACK[compression](text))
    assert read(tmp_path / "dump", kind, size) == (plain_reader(text, kind), None)


records = st.lists(
    st.sampled_from([b"<page>", b"</page>", b"\n", b"a", b"<", b"page>", b"x" * 50, b"\n\n", b"/"]),
    max_size=60,
)


@given(parts=records, cuts=st.lists(st.integers(0, 400), max_size=6), data=st.data())
@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_cut_alike_by_splits_of_any_size(tmp_path_factory, kind, **case):
    text = b"".join(case["parts"]) or b"x"
    borders = sorted({0, len(text), *(cut % (len(text) + 1) for cut in case["cuts"])})
    streams = [text[a:b] for a, b in itertools.pairwise(borders)]
    data, folder = case["data"], tmp_path_factory.getbasetemp()
    packed = b"".join(
        bz2.compress(b"") * data.draw(st.integers(0, 1))
        + bz2.compress(stream, data.draw(st.integers(1, 9)))
        for stream in streams
    )
    files = {"any.bz2": packed, "any.gz": b"".join(map(gzip.compress, streams)), "any": text}
    whole = None
    for name, content in files.items():
        path = folder / name
        path.write_bytes(content)
        size = data.draw(st.sampled_from([1, 3, 17, 60, 1000]))
        texts, damage = read(path, kind, size)
        whole = texts if whole is None else whole
        assert texts == whole
        if kind is RecordKind.LINE:
            assert (texts, damage) == (plain_reader(text, kind), None)
        else:
            cut = text.rfind(b"<page>") > text.rfind(b"</page>")
            assert (damage.what if damage else None) == (compressed.CUT_PAGE if cut else None)
            closed = [page for page in texts if page.endswith(b"</page>")]
            expected = plain_reader(text, kind)
            assert closed == [page[page.rindex(b"<page>") :] for page in expected]


@pytest.mark.parametrize("compression", PACK)
def test_a_page_that_is_not_closed_ends_where_the_next_begins(tmp_path, compression):
    text = b"<page>a</page><page>b<page>c</page>"
    (tmp_path / "dump").write_bytes(PACK[compression](text))
    for size in (1, 5, 14, 20, 1000):
        pages, _ = read(tmp_path / "dump", RecordKind.PAGE, size)
        assert pages == [b"<page>a</page>", b"<page>b", b"<page>c</page>"]


@pytest.mark.parametrize("compression", PACK)
def test_lines_may_end_with_a_carriage_return_or_the_file(tmp_path, compression):
    (tmp_path / "dump").write_bytes(PACK[compression](b"a\r\n\r\n\nb\nc"))
    for size in (1, 4, 1000):
        assert read(tmp_path / "dump", RecordKind.LINE, size) == ([b"a", b"b", b"c"], None)


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_that_are_done_are_not_given_again(tmp_path, compression, kind):
    (tmp_path / "dump").write_bytes(PACK[compression](pages(40)))
    everything = list(blocks_of(tmp_path / "dump", kind, size=20_000))
    rest = list(blocks_of(tmp_path / "dump", kind, size=20_000, skip={0, 2}))
    assert [block.number for block in everything] == list(range(len(everything)))
    assert len(everything) > 4
    assert rest == [block for block in everything if block.number not in (0, 2)]


def test_splits_cover_the_file_and_chunks_hold_whole_records(tmp_path):
    (tmp_path / "a").write_bytes(bz2.compress(pages(20)))
    (tmp_path / "b").write_bytes(gzip.compress(pages(20)))
    splits = list(blocks_of(tmp_path / "a", RecordKind.PAGE, size=9_000))
    assert all(isinstance(s, Split) and s.compression == "bz2" for s in splits)
    assert [s.end for s in splits[:-1]] == [s.start for s in splits[1:]]
    assert (splits[0].start, splits[-1].end) == (0, (tmp_path / "a").stat().st_size)
    chunks = list(blocks_of(tmp_path / "b", RecordKind.PAGE, size=9_000))
    assert all(isinstance(c, Chunk) for c in chunks)
    assert b"".join(c.text for c in chunks) == pages(20)
    assert all(c.text.startswith(b"<page>") for c in chunks[1:])
    assert all(9_000 <= len(c.text) < 9_000 + 9_000 for c in chunks[:-1])


@pytest.mark.parametrize("compression", PACK)
def test_compression_is_told_by_content_and_not_by_name(tmp_path, compression):
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(PACK[compression](pages(3)))
    assert compression_of(path) == compression
    assert len(read(path, RecordKind.PAGE, 1000)[0]) == 3
    assert head_of(path, 11) == b"<mediawiki>"
    assert head_of(str(path)) == pages(3)[:65536]
    assert compression_of(path.as_uri()) == compression
    assert len(read(path.as_uri(), RecordKind.PAGE, 1000)[0]) == 3


def test_a_compression_that_is_not_read_says_how_to_convert_it(tmp_path):
    path = tmp_path / "dump.bz2"
    for magic, command in (
        (b"\x28\xb5\x2f\xfd", "zstd -dc"),
        (b"\xfd7zXZ\0", "xz -dc"),
        (b"PK\x03\x04", "unzip -p"),
        (b"7z\xbc\xaf\x27\x1c", "7z x -so"),
    ):
        path.write_bytes(magic + b"more")
        with pytest.raises(InputError, match=rf"(?s)expected .*{command} .*dump.bz2 \| bzip2"):
            compression_of(path)
    path.write_bytes("<mediawiki>".encode("utf-16"))
    with pytest.raises(InputError, match="not text"):
        blocks_of(path, RecordKind.PAGE)


def test_what_is_no_dump_is_refused_before_anything_is_read(tmp_path):
    (tmp_path / "empty").touch()
    for name, got in (("empty", "is empty"), ("", "is a folder"), ("none", "no such file")):
        for use in (compression_of, head_of, lambda path: blocks_of(path, RecordKind.LINE)):
            with pytest.raises(InputError, match=f"{got}; expected a dump") as error:
                use(tmp_path / name)
            assert str(tmp_path / name) in str(error.value)
    gone = Split(0, str(tmp_path / "gone"), 0, 10, "plain")
    with pytest.raises(InputError, match="gone: no such file"):
        list(records_of(gone, RecordKind.LINE))
    (tmp_path / "a").write_text("a")
    with pytest.raises(InputError, match="splits of 0 bytes"):
        blocks_of(tmp_path / "a", RecordKind.LINE, size=0)


def test_a_file_that_may_not_be_read_is_refused(tmp_path, monkeypatch):
    import pyarrow.fs

    path = tmp_path / "dump"
    path.write_text("a")
    path.chmod(0)
    try:
        path.open().close()
    except PermissionError:
        pass
    else:  # the superuser may read everything

        def refuse(*_):
            raise PermissionError(13, "denied")

        class Guarded:
            get_file_info = pyarrow.fs.LocalFileSystem().get_file_info
            open_input_file = refuse

        monkeypatch.setattr(compressed, "open_storage", lambda at: (Guarded(), str(at)))
    with pytest.raises(InputError, match="may not be read by this user"):
        compression_of(path)


def test_a_damage_is_a_sentence_and_goes_to_another_process():
    error = pickle.loads(pickle.dumps(DamagedDump(Damage("s3://b/d.bz2", 1234567, "it is cut"))))
    assert str(error) == (
        "s3://b/d.bz2 is damaged at byte 1,234,567: it is cut. "
        "What precedes was read; download the file again to have the rest."
    )
    assert error.damage.byte == 1234567


@pytest.mark.parametrize("compression", PACK)
def test_a_dump_that_ends_inside_a_page_gives_the_pages_before(tmp_path, compression):
    text = pages(9)[:-400]
    packed = PACK[compression](text)
    (tmp_path / "dump").write_bytes(packed)
    for size in (2_000, 1 << 20):
        texts, damage = read(tmp_path / "dump", RecordKind.PAGE, size)
        assert texts == plain_reader(text, RecordKind.PAGE)
        assert damage == Damage(str(tmp_path / "dump"), len(packed), "the file ends inside a page")


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize("kind", KINDS)
def test_a_record_without_end_does_not_eat_the_memory(tmp_path, monkeypatch, compression, kind):
    monkeypatch.setattr(compressed, "LONGEST", 3 << 20)
    pack = PACK[compression]
    begin, more = pack(b"<page>\na</page>\n<page>"), pack(b"x" * (1 << 20))
    (tmp_path / "dump").write_bytes(begin + more * 9)
    texts, damage = read(tmp_path / "dump", kind, 1 << 20)
    assert texts[0] == (b"<page>\na</page>" if kind is RecordKind.PAGE else b"<page>")
    assert damage is not None
    assert damage.what == f"a {kind} that does not end within 3 MiB"


def test_what_stands_between_pages_may_be_long(tmp_path, monkeypatch):
    monkeypatch.setattr(compressed, "LONGEST", 3 << 20)
    for compression, pack in PACK.items():
        between = pack(b"\n" * (1 << 20)) * 6
        page = pack(b"<page>1</page>")
        (tmp_path / "dump").write_bytes(between + page + between + page)
        for size in (10 if compression == "gz" else 1 << 18, 1 << 20, 1 << 30):
            pages = read(tmp_path / "dump", RecordKind.PAGE, size)
            assert pages == ([b"<page>1</page>"] * 2, None)


def test_a_page_of_ten_megabytes_is_read_whole(tmp_path):
    part = b"long text " * 100_000
    for compression, pack in PACK.items():
        begin, end = pack(b"<page>1</page>\n<page>"), pack(b"</page><page>3</page>")
        (tmp_path / compression).write_bytes(begin + pack(part) * 10 + end)
        for size in (3_000_000, 1 << 30):
            pages, damage = read(tmp_path / compression, RecordKind.PAGE, size)
            assert [len(record) for record in pages] == [14, 10_000_013, 14]
            assert damage is None


@pytest.mark.parametrize("compression", PACK)
def test_memory_does_not_grow_with_the_file(tmp_path, monkeypatch, compression):
    for module, name in ((bzip2, "_LARGEST"), (splits, "_STEP")):
        monkeypatch.setattr(module, name, 100_000)
    monkeypatch.setattr(bzip2.Window.reach, "__kwdefaults__", {"least": 100_000})
    stream = PACK[compression](pages(20, longest=3000))
    path = Path(tmp_path / "dump")

    def peak(copies: int) -> int:
        path.write_bytes(stream * copies)
        tracemalloc.start()
        n = sum(
            1
            for block in blocks_of(path, RecordKind.PAGE, size=100_000)
            for _ in records_of(block, RecordKind.PAGE)
        )
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert n == 20 * copies
        return most

    peak(1)  # imports
    small = peak(20)
    assert path.stat().st_size > 500_000
    assert peak(60) < small + 100_000


def test_splits_of_a_relative_path_are_read_from_any_folder(tmp_path, monkeypatch):
    (tmp_path / "dump.json").write_bytes(b'{"a": 1}\n{"b": 2}\n')
    monkeypatch.chdir(tmp_path)
    blocks = list(blocks_of("dump.json", RecordKind.LINE, size=4))
    monkeypatch.chdir("/")
    assert [r for b in blocks for r in records_of(b, RecordKind.LINE)] == [
        b'{"a": 1}', b'{"b": 2}',
    ]  # fmt: skip
