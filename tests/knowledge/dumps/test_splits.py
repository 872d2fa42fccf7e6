import bz2
import gzip
import itertools
import json
import pickle
import random
import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.errors import InputError
from argus.knowledge.dumps import compressed
from argus.knowledge.dumps.splits import (
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
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_that_are_done_are_not_given_again(tmp_path, compression, kind):
    (tmp_path / "dump").write_bytes(PACK[compression](pages(40)))
    everything = list(blocks_of(tmp_path / "dump", kind, size=20_000))
    rest = list(blocks_of(tmp_path / "dump", kind, size=20_000, skip={0, 2}))
    assert [block.number for block in everything] == list(range(len(everything)))
    assert len(everything) > 4
    assert rest == [block for block in everything if block.number not in (0, 2)]


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
