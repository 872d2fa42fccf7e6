"""From a corpus to an n-gram index: what becomes of every passage, and what is refused."""

from __future__ import annotations

import json

import pytest

from argus.errors import InputError
from argus.generative.index import NgramIndex
from argus.generative.index.job import build_ngrams
from argus.generative.settings import NgramBuildConfig
from tests.support.ngrams import ROWS, SIZE, write

TRAINED = NgramBuildConfig(tokenizer=f"bpe:{SIZE}")


@pytest.fixture
def corpus(tmp_path):
    return write(tmp_path / "corpus.jsonl", ROWS)


def test_every_passage_is_indexed_or_told(ready):
    summary = json.loads((ready.index / "summary.json").read_text())["generative_build"]
    counts = {name: n for name, n in summary["passages"].items()}
    assert counts == {
        "total": len(ROWS) - 1,
        "empty": 1,
        "empty_ids": ["empty"],
    }
    assert summary["pseudo_queries"] == {"documents": 2, "queries": 3}
    index = NgramIndex.open(ready.index / "ngrams")
    assert summary["tokens"]["total"] == index.n_tokens
    assert summary["tokens"]["unknown"] == 0
    assert summary["bytes_per_token"] == round(summary["bytes"] / index.n_tokens, 3)
    assert index.title_and_text(index.ids().index("old bern")) == (
        "Old city of Bern",
        "The old city lies in a bend.",
    )


def test_a_changed_corpus_is_refused_and_fresh_replaces_it(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    changed = [{**row, "text": row["text"] + " Really."} if row["_id"] == "ada" else row
               for row in ROWS]  # fmt: skip
    write(corpus, changed)
    with pytest.raises(InputError, match=r"not the one that was indexed: 1 changed \(ada\)"):
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    index = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED, fresh=True).index
    assert index.title_and_text(index.ids().index("ada"))[1].endswith("Really.")


def test_a_build_that_was_killed_goes_on(corpus, tmp_path, monkeypatch):
    from argus.generative.index import build as core

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(core, "write_segment", killed)
        with pytest.raises(KeyboardInterrupt):
            build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    with pytest.raises(InputError, match="its build was interrupted"):
        NgramIndex.open(tmp_path / "ix" / "ngrams")
    found = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    assert found.index.n_documents == len(ROWS) - 1
    assert found.summary["passages"]["empty"] == 1


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (None, "no tokenizer; expected the folder of the model that will search, or bpe:SIZE"),
        ("", "no tokenizer"),
        ("bpe:many", "'bpe:many'; expected bpe:SIZE, a whole number"),
        ("bpe:10", "at least 262"),
        ("nowhere", "nowhere: no such folder"),
    ],
)
def test_a_missing_tokenizer_is_refused_and_nothing_written(corpus, tmp_path, tokenizer, message):
    with pytest.raises(InputError, match=message):
        build_ngrams(corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer=tokenizer))
    assert not (tmp_path / "ix").exists()
