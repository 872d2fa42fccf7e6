"""What is there already is told from what another build, or a killed one, has left."""

import json
import os
import shutil

import pytest

import argus.kb.build as keys_module
from argus.corpora.opening import corpus_file, read_corpus
from argus.data.kb import KnowledgeFolder
from argus.engine import EngineConfig
from argus.errors import InputError
from argus.indexes.lexical import LexicalIndex
from argus.kb import build as steps
from argus.kb.build import build_kb, build_key, reading_key, state_of
from argus.kb.config import Dumps, KbConfig
from argus.knowledge.sources import EntityRows, TripleFiles
from argus.remedies.config import ReferenceConfig
from argus.remedies.reference import read_words
from tests.support.dumps import pages_dump
from tests.support.s3 import s3_store

A, B = KbConfig(min_words=3), KbConfig(min_words=8)


class Killed(BaseException):
    pass


def killed(*_, **__):
    raise Killed


@pytest.fixture
def source(tmp_path):
    rows = [{"id": f"e{i}", "label": f"Entity {i}", "text": f"Entity {i} is" + " far" * i}
            for i in range(1, 9)]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return EntityRows(tmp_path / "rows.jsonl")


@pytest.fixture
def store(monkeypatch):
    with s3_store() as store:
        for name in [name for name in os.environ if name.startswith("AWS_")]:
            monkeypatch.delenv(name)
        for name, value in {"ENDPOINT_URL": store.url, "ACCESS_KEY_ID": "id",
                            "SECRET_ACCESS_KEY": "secret"}.items():  # fmt: skip
            monkeypatch.setenv(f"AWS_{name}", value)
        yield store


def build(source, out, config=A, **options):
    return build_kb(source, out=out, config=config, engine=EngineConfig(workers=1), **options)


@pytest.mark.parametrize("step", ["write_words", "findings", "write_report"])
@pytest.mark.parametrize("words", [True, False])
def test_a_build_is_made_again_over_shards_of_a_killed_one(
    step, words, source, tmp_path, monkeypatch
):
    first, second = (KbConfig(min_words=n, words=words) for n in (3, 8))
    n = build(source, tmp_path / "kb", first).summary["counts"]["entities"]
    with monkeypatch.context() as patch:
        patch.setattr(steps, step, killed)
        if words or step != "write_words":
            with pytest.raises(Killed):
                build(source, tmp_path / "kb", second)
    again = build(source, tmp_path / "kb", first)
    assert again.unchanged == (not words and step == "write_words")
    assert len(read_corpus(tmp_path / "kb")) == n
    assert build(source, tmp_path / "kb", first).unchanged


def test_a_build_killed_before_words_or_report_is_not_finished(source, tmp_path, monkeypatch):
    for step in ("write_words", "write_report"):
        build(source, tmp_path / "kb")  # its summary stays
        for config, stopped_at in ((B, "findings"), (A, step)):
            with monkeypatch.context() as patch, pytest.raises(Killed):
                patch.setattr(steps, stopped_at, killed)
                build(source, tmp_path / "kb", config)
        assert not build(source, tmp_path / "kb").unchanged
    for name in ("words", "entities"):
        shutil.rmtree(tmp_path / "kb" / name)
        assert not build(source, tmp_path / "kb").unchanged
    (tmp_path / "kb" / "report.html").unlink()
    assert not build(source, tmp_path / "kb").unchanged
    assert build(source, tmp_path / "kb").unchanged


def test_folders_that_share_a_place_for_shards_know_their_own(source, tmp_path):
    place = str(tmp_path / "shards")
    build(source, tmp_path / "a", A, shards=place)
    theirs = build(source, tmp_path / "b", B, shards=place)
    with pytest.raises(InputError, match="its shards were replaced by another build"):
        read_corpus(tmp_path / "a")
    assert len(read_corpus(tmp_path / "b")) == theirs.summary["counts"]["entities"] == 4
    assert not build(source, tmp_path / "a", A, shards=place).unchanged
    assert len(read_corpus(tmp_path / "a")) == 8


def test_a_folder_that_was_moved_is_still_finished(source, tmp_path):
    build(source, tmp_path / "kb")
    (tmp_path / "kb").rename(tmp_path / "moved")
    again = build(source, tmp_path / "moved")
    assert again.unchanged and again.open().storage.local == tmp_path / "moved"


def test_words_of_another_build_are_never_left_beside_shards(source, tmp_path, monkeypatch):
    out = tmp_path / "kb"
    build(source, out)
    assert read_words(ReferenceConfig(kb=(out,))) is not None
    with monkeypatch.context() as patch:
        patch.setattr(steps, "write_words", killed)
        with pytest.raises(Killed):
            build(source, out, B)
    assert not (out / "words").exists()
    build(source, out)
    build(source, out, KbConfig(min_words=3, words=False))
    assert not (out / "words").exists() and read_words(ReferenceConfig(kb=(out,))) is None


def test_words_of_other_paragraphs_are_not_used(source, tmp_path):
    build(source, tmp_path / "kb")
    LexicalIndex.build([f"e{i}" for i in range(1, 9)], ["old"] * 8).save(tmp_path / "kb" / "words")
    assert read_words(ReferenceConfig(kb=(tmp_path / "kb",))) is None


def test_words_lie_beside_shards_that_are_elsewhere(source, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    built = build(source, "out", shards="shards")
    assert built.summary["shards"] == str(tmp_path / "shards")
    monkeypatch.chdir("/")
    assert not (tmp_path / "out" / "words").exists()
    for place in (tmp_path / "out", tmp_path / "shards"):
        assert KnowledgeFolder.open(place).rows("entities") == 8
        assert corpus_file(place) == tmp_path / "shards" / "kb.json"
        assert read_words(ReferenceConfig(kb=(place,))).search(["entity"], 1).ids == [["e1"]]
    shutil.rmtree(tmp_path / "shards")
    with pytest.raises(InputError, match=r"no kb\.json in it") as caught:
        read_corpus(tmp_path / "out")
    assert str(tmp_path / "shards") in str(caught.value)


def test_shards_in_a_store_have_no_words(source, tmp_path, store):
    built = build(source, tmp_path / "out", shards="s3://bucket/kb")
    assert built.summary["words"] is None and not (tmp_path / "out" / "words").exists()
    assert not any("words" in name for name in store.objects)
    assert len(read_corpus(tmp_path / "out")) == 8
    assert KnowledgeFolder.open(tmp_path / "out").storage.location == "s3://bucket/kb"
    assert read_words(ReferenceConfig(kb=(tmp_path / "out",))) is None
    assert build(source, tmp_path / "out", shards="s3://bucket/kb").unchanged


def test_a_file_that_was_replaced_is_another_wherever_it_is(tmp_path, store):
    path = tmp_path / "a.txt"
    path.write_text("one")
    url = path.as_uri()
    before = state_of(path), state_of(url)
    assert before[0] == before[1]
    os.utime(path, ns=(1, 1))
    assert state_of(path) == state_of(url) != before[0]
    store.objects["bucket/dump"] = b"one"
    before = state_of("s3://bucket/dump")
    store.objects["bucket/dump"] = b"three"
    assert state_of("s3://bucket/dump") != before
    folder = state_of(tmp_path)
    path.write_text("longer")
    os.utime(path, ns=(1, 1))
    assert state_of(tmp_path) != folder


def test_keys_know_the_version_and_not_the_memory(source, tmp_path, monkeypatch):
    config = KbConfig()
    (tmp_path / "t.tsv").write_text("a\tb\tc\n")
    small, large = (TripleFiles(tmp_path / "t.tsv", memory_bytes=n << 28) for n in (1, 2))
    for key in (lambda s: build_key(s, config, None), lambda s: reading_key(s, config)):
        assert key(small) == key(large) != key(source)
        before = key(source)
        with monkeypatch.context() as patch:
            patch.setattr(keys_module, "__version__", "0.0.0")
            assert key(source) != before


def test_paths_of_dumps_are_absolute_and_addresses_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dumps = Dumps(wikipedia="enwiki.xml.bz2", wikidata="s3://bucket/all.json.bz2?region=eu-west-1")
    assert dumps.wikipedia == str(tmp_path / "enwiki.xml.bz2")
    assert dumps.wikidata == "s3://bucket/all.json.bz2?region=eu-west-1"
    path = pages_dump(tmp_path / "x.xml", {"A": "'''A''' is a letter of the alphabet."})
    assert Dumps(wikipedia=path.as_uri()).wikipedia == path.as_uri()


def test_parts_that_a_kill_left_behind_the_report_are_removed(source, tmp_path, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("argus.kb.build._Build.clear", stop)
        build(source, tmp_path / "kb")
    assert list((tmp_path / "kb" / "work").rglob("*.parquet"))
    assert build(source, tmp_path / "kb").unchanged
    assert not (tmp_path / "kb" / "work").exists()
