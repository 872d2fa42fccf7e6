"""Every text of a suite is embedded once, also those that remedies make."""

import pytest

from argus.suite import retrievers as asking
from argus.suite.job import run_suite
from tests.support.suites import draw

SUITE = """
retrievers = [{ name = "plain", encoder = "all-MiniLM-L6-v2", precision = "float32" }]
tasks = [{ task = "beir:{task}" }]
remedies = [
  { name = "blend" }, { name = "sentences", kind = "blend", lambda = 0.5, bm25 = 0.0 },
  { name = "expansion", kind = "expand", kb = ["{kb}"] },
  { name = "published", kind = "expand", preset = "paper", mentions = "gazetteer", kb = ["{kb}"] },
]
"""


@pytest.mark.slow
def test_every_text_is_embedded_once_also_those_that_remedies_make(tmp_path, shared, monkeypatch):
    texts, load = [], asking.load_encoder

    def counting(*config, **options):
        loaded = load(*config, **options)
        for role in ("queries", "documents", "spans"):
            count(loaded.encoder, role, getattr(loaded.encoder, f"encode_{role}"))
        return loaded

    def count(encoder, role, encode):
        def counted(batch, *rest):
            texts.extend((role, *row) for row in zip(batch, *rest, strict=True))
            return encode(batch, *rest)

        setattr(encoder, f"encode_{role}", counted)

    monkeypatch.setattr(asking, "load_encoder", counting)
    draw(shared("hotpot100"), tmp_path / "task", 4, 10)
    corpus = str(shared("hotpot100") / "corpus.jsonl")
    suite = SUITE.replace("{task}", str(tmp_path / "task")).replace("{kb}", corpus)
    (tmp_path / "s.toml").write_text(suite)
    summary = run_suite(tmp_path / "s.toml", out=tmp_path / "out").summary
    assert (summary["cells"]["measured"], summary["cells"]["failed"]) == (5, 0)
    assert len(texts) == len(set(texts)) > 50
    assert not [row for row in summary["rows"] if row["scope"] == "task" and row["reason"]]
    texts.clear()
    assert run_suite(tmp_path / "s.toml", out=tmp_path / "out") and not texts
