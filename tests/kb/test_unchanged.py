"""What is there already is told from what another build, or a killed one, has left."""

import json
import os
import shutil

import pytest

import argus.kb.build as keys_module
from argus.corpora.opening import read_corpus
from argus.engine import EngineConfig
from argus.kb import build as steps
from argus.kb.build import build_kb, build_key, reading_key
from argus.kb.config import KbConfig
from argus.knowledge.sources import EntityRows, TripleFiles
from argus.remedies.config import ReferenceConfig
from argus.remedies.reference import read_words
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


def test_parts_that_a_kill_left_behind_the_report_are_removed(source, tmp_path, monkeypatch):
    def stop(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("argus.kb.build._Build.clear", stop)
        build(source, tmp_path / "kb")
    assert list((tmp_path / "kb" / "work").rglob("*.parquet"))
    assert build(source, tmp_path / "kb").unchanged
    assert not (tmp_path / "kb" / "work").exists()
