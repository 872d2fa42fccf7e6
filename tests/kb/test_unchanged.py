"""What is there already is told from what another build, or a killed one, has left."""

import json

import pytest

from argus.corpora.opening import read_corpus
from argus.data.writing import remove
from argus.engine import EngineConfig
from argus.kb import build as steps
from argus.kb.build import build_kb
from argus.kb.reading import KbConfig
from argus.knowledge.triples import EntityRows

A, B = KbConfig(min_words=3), KbConfig(min_words=8)


class Killed(BaseException):
    """A build was killed."""


def killed(*_, **__):
    raise Killed


@pytest.fixture
def source(tmp_path):
    rows = [{"id": f"e{i}", "label": f"Entity {i}", "text": f"Entity {i} is" + " far" * i}
            for i in range(1, 9)]  # fmt: skip
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return EntityRows(tmp_path / "rows.jsonl")


def build(source, out, config=A, **options):
    return build_kb(source, out=out, config=config, engine=EngineConfig(workers=1), **options)


@pytest.mark.parametrize("words", [True, False])
def test_a_build_is_made_again_over_shards_of_a_killed_one(words, source, tmp_path, monkeypatch):
    first, second = (KbConfig(min_words=n, words=words) for n in (3, 8))
    n = build(source, tmp_path / "kb", first).summary["counts"]["entities"]
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(steps, "findings", killed)
        build(source, tmp_path / "kb", second)
    assert not build(source, tmp_path / "kb", first).unchanged
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
        remove(tmp_path / "kb" / name)
        assert not build(source, tmp_path / "kb").unchanged
    (tmp_path / "kb" / "report.html").unlink()
    assert not build(source, tmp_path / "kb").unchanged
    assert build(source, tmp_path / "kb").unchanged
