"""Dumps that break off, hold nonsense, or fill the disk."""

import random

import pytest

from argus.corpora.opening import read_corpus
from argus.data import kb as kb_module
from argus.engine import EngineConfig
from argus.errors import ArgusError, InputError
from argus.kb.build import build_kb
from argus.kb.reading import DumpParts, Dumps, KbConfig
from tests.contract.examples import invoke
from tests.support.dumps import pages_dump

PAGES = {
    f"Town {i}": f"'''Town {i}''' is a town on the river [[Town {i // 2}]] in the hills. "
    + random.Random(i).randbytes(300).hex()
    for i in range(1000)
}
SMALL = KbConfig(split_mib=30_000 / 2**20, words=False)
HERE = EngineConfig(workers=1)


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    path = pages_dump(tmp_path_factory.mktemp("dump") / "enwiki.xml.bz2", PAGES)
    assert path.stat().st_size > 10 * SMALL.split_bytes  # hex of random bytes does not shrink
    return path


def ids(folder):
    return {d.id for d in read_corpus(folder)}


def test_a_dump_that_was_cut_gives_what_precedes_and_says_where(dump, tmp_path):
    cut = tmp_path / "cut.xml.bz2"
    cut.write_bytes(dump.read_bytes()[: dump.stat().st_size * 2 // 3])
    built = build_kb(Dumps(wikipedia=str(cut)), out=tmp_path / "kb", config=SMALL)
    assert list(built.damage) == ["wikipedia"] and str(cut) in built.damage["wikipedia"]
    entity_ids = ids(tmp_path / "kb")
    assert 0 < len(entity_ids) < len(PAGES)
    assert entity_ids == set(list(PAGES)[: len(entity_ids)])  # a beginning, with no gap
    assert built.damage["wikipedia"] in (tmp_path / "kb" / "report.html").read_text()


def test_damage_exits_with_2_after_writing_what_precedes_it(dump, tmp_path):
    broken = bytearray(dump.read_bytes())
    middle = len(broken) // 2
    broken[middle : middle + 64] = bytes(64)
    (tmp_path / "broken.bz2").write_bytes(broken)
    given = ["--wikipedia", str(tmp_path / "broken.bz2"), "--out", str(tmp_path / "kb")]
    code, out, _ = invoke(["research", "kb", "build", *given, "--no-words", "--split-mib", "1"])
    assert code == 2 and "warning: wikipedia breaks off" in out
    entity_ids = ids(tmp_path / "kb")
    assert entity_ids == set(list(PAGES)[: len(entity_ids)]) and len(entity_ids) > 100


@pytest.mark.parametrize(
    ("owner", "method", "limit"), [(DumpParts, "add", 2_000), (kb_module, "write_whole", 20_000)]
)
def test_a_full_disk_leaves_nothing_half_and_the_build_goes_on(
    owner, method, limit, dump, tmp_path, full_disk, monkeypatch
):
    out = tmp_path / "kb"
    full_disk(owner, method, limit)
    with pytest.raises((ArgusError, OSError)):
        build_kb(Dumps(wikipedia=str(dump)), out=out, config=SMALL, engine=HERE)
    monkeypatch.undo()
    assert not (out / "kb.json").exists()
    with pytest.raises(InputError):
        read_corpus(out)
    build_kb(Dumps(wikipedia=str(dump)), out=out, config=SMALL, engine=HERE)
    assert ids(out) == PAGES.keys()


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.xml.bz2", b"", "empty"),
        ("page.html", b"<!doctype html><html><title>Index of /enwiki/</title></html>", "MediaWiki"),
        ("dump.7z", b"7z\xbc\xaf\x27\x1c" + bytes(50), "7z"),
        ("dump.sql", b"-- MySQL dump 10.19\nDROP TABLE IF EXISTS `page`;\n", "MediaWiki"),
    ],
)
def test_what_is_no_dump_is_told(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=words):
        build_kb(Dumps(wikipedia=str(tmp_path / name)), out=tmp_path / "kb")
    assert not (tmp_path / "kb").exists()
