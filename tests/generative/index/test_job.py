"""From a corpus to an n-gram index: what becomes of every passage, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from functools import partial

import pytest

from argus.corpora.opening import read_corpus
from argus.data.types import Document
from argus.errors import InputError
from argus.generative.folders import index_folder
from argus.generative.index import NgramIndex
from argus.generative.index.job import build_ngrams
from argus.generative.index.settings import NgramBuildConfig
from argus.generative.vocabulary import train_vocabulary
from tests.support.ngrams import QUERIES, ROWS, SIZE, write
from tests.support.results import shown

TRAINED = NgramBuildConfig(tokenizer=f"bpe:{SIZE}")
APPEND = NgramBuildConfig(append=True)


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
        "title_only": 1,
        "untitled": 1,
        "with_queries": len(QUERIES),
    }
    assert summary["pseudo_queries"] == {"documents": 2, "queries": 3, "elsewhere": 0}
    index = NgramIndex.open(ready.index / "ngrams")
    assert summary["tokens"]["total"] == index.n_tokens
    assert summary["tokens"]["unknown"] == 0
    assert summary["bytes_per_token"] == round(summary["bytes"] / index.n_tokens, 3)
    assert index.title_and_text(index.ids().index("old bern")) == (
        "Old city of Bern",
        "The old city lies in a bend.",
    )


def test_the_manifest_says_what_it_was_made_from(ready):
    manifest = json.loads((ready.index / "manifest.json").read_text())["generative_build"]
    assert manifest["config"] == {"tokenizer": f"bpe:{SIZE}", "titles": None, "limit": None}
    assert set(manifest["inputs"]) == {"corpus", "pseudo_queries"}
    assert manifest["encoder"]["fingerprint"].startswith("n-grams of tokenizer ")


def test_building_again_changes_nothing(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    before = {p: p.read_bytes() for p in (tmp_path / "ix" / "ngrams").rglob("*") if p.is_file()}
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    after = {p: p.read_bytes() for p in (tmp_path / "ix" / "ngrams").rglob("*") if p.is_file()}
    assert before == after


def test_a_changed_corpus_is_refused_and_fresh_replaces_it(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    changed = [{**row, "text": row["text"] + " Really."} if row["_id"] == "ada" else row
               for row in ROWS]  # fmt: skip
    write(corpus, changed)
    with pytest.raises(InputError, match=r"not the one that was indexed: 1 changed \(ada\)"):
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    index = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED, fresh=True).index
    assert index.title_and_text(index.ids().index("ada"))[1].endswith("Really.")


def test_a_corpus_that_grew_is_no_change_of_tokenizers(corpus, tmp_path):
    config, out = NgramBuildConfig(tokenizer="bpe:9000"), tmp_path / "out"
    documents = read_corpus(corpus)
    build_ngrams(documents, out=out, config=config)
    grown = [*documents, Document("grown", "quite other words about xylophones and zithers")]
    with pytest.raises(InputError, match=r"1 new \(grown\).*--append"):
        build_ngrams(grown, out=out, config=config)
    build_ngrams(grown, out=out, config=APPEND)
    assert "grown" in build_ngrams(grown, out=out, config=config).index.ids()
    with pytest.raises(InputError, match="another tokenizer"):
        build_ngrams(grown, out=out, config=NgramBuildConfig(tokenizer="bpe:300"))


def test_another_tokenizer_for_the_same_folder_is_refused(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    with pytest.raises(InputError, match="an index with another tokenizer"):
        build_ngrams(corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer="bpe:300"))


def test_the_tokenizer_of_a_model_is_taken_from_its_folder(corpus, ready, tmp_path):
    found = build_ngrams(
        corpus, out=tmp_path / "ix", config=NgramBuildConfig(tokenizer=str(ready.model))
    )
    kept = NgramIndex.open(ready.index / "ngrams").vocabulary.fingerprint
    assert found.index.vocabulary.fingerprint == kept
    assert found.summary["markers_added"] == 0


def test_a_tokenizer_without_markers_is_given_them(corpus, tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    words = ["<pad>", "</s>", "<unk>", "Bern", "is", "the", "city", "of", "a", "in"]
    plain = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="<unk>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    ).save_pretrained(tmp_path / "words")
    config = NgramBuildConfig(tokenizer=str(tmp_path / "words"))
    summary = build_ngrams(corpus, out=tmp_path / "ix", config=config).summary
    assert summary["markers_added"] == 2
    assert summary["tokens"]["unknown"] > 10


def test_new_passages_are_appended_and_known_ones_passed_over(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    more = write(tmp_path / "more.jsonl", [*ROWS, {"_id": "new", "title": "N", "text": "Newer."}])
    summary = build_ngrams(more, out=tmp_path / "ix", config=APPEND).summary
    assert summary["added"] == {"passages": 1, "unchanged": len(ROWS) - 1}
    assert summary["passages"]["total"] == len(ROWS)
    assert summary["segments"] == 2


def test_an_append_that_was_killed_tells_what_the_command_did(corpus, tmp_path, monkeypatch):
    from argus.generative.index import job

    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    more = write(tmp_path / "more.jsonl", [*ROWS, {"_id": "new", "title": "N", "text": "Newer."}])

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(job, "_summary", killed)
        with pytest.raises(KeyboardInterrupt):
            build_ngrams(more, out=tmp_path / "ix", config=APPEND)
    for passages in (1, 0):
        added = build_ngrams(more, out=tmp_path / "ix", config=APPEND).summary["added"]
        assert added == {"passages": passages, "unchanged": len(ROWS) - passages}


def test_two_appends_at_once_are_one_append_and_a_refusal(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    both = []
    for name in ("one", "two"):
        rows = [{"_id": f"{name}{i}", "title": "", "text": f"{name} {i}"} for i in range(200)]
        more = write(tmp_path / f"{name}.jsonl", rows)
        arguments = ["--out", tmp_path / "ix", "--append", "--corpus", more]
        code = "from argus.cli.main import main; main()"
        command = [sys.executable, "-c", code, "generative", "build", *map(str, arguments)]
        both.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
    told = [one.communicate(timeout=60)[1] for one in both]
    codes = [one.returncode for one in both]
    for code, text in zip(codes, told, strict=True):
        assert code == 0 or (code == 2 and "is being written to by another run" in text), text
    ids = set(NgramIndex.open(tmp_path / "ix" / "ngrams").ids())
    for name, code in zip(("one", "two"), codes, strict=True):
        assert {f"{name}{i}" for i in range(200)} <= ids or code == 2
    assert 0 in codes


def test_appending_what_has_changed_is_refused(corpus, tmp_path):
    build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    write(corpus, [{**ROWS[0], "text": "Other."}])
    with pytest.raises(InputError, match=r"1 changed \(bern\)"):
        build_ngrams(corpus, out=tmp_path / "ix", config=APPEND)


def test_passages_may_do_without_titles(corpus, tmp_path):
    config = NgramBuildConfig(tokenizer=f"bpe:{SIZE}", titles=False)
    found = build_ngrams(corpus, out=tmp_path / "ix", config=config)
    assert found.index.count([found.index.vocabulary.title_end]) == 0
    assert found.summary["passages"]["empty"] == 2, "the title-only passage has nothing left"
    with pytest.raises(InputError, match="--titles; expected passages without titles"):
        build_ngrams(corpus, out=tmp_path / "ix", config=NgramBuildConfig(append=True, titles=True))
    build_ngrams(corpus, out=tmp_path / "ix", config=APPEND)


def test_a_build_that_was_killed_goes_on(corpus, tmp_path, monkeypatch):
    from argus.generative.index import build as core

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(core, "write_segment", killed)
        with pytest.raises(KeyboardInterrupt):
            build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    with pytest.raises(InputError, match="its build was interrupted"):
        build_ngrams(corpus, out=tmp_path / "ix", config=APPEND)
    found = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    assert found.index.n_documents == len(ROWS) - 1
    assert found.summary["passages"]["empty"] == 1


def test_a_build_killed_before_its_first_segment_goes_on_with_whatever_is_asked_then(
    corpus, tmp_path, monkeypatch
):
    from argus.generative.index import build as core

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(core, "write_segment", killed)
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    write(corpus, [{**ROWS[0], "text": "Zurich, zurich, zurich: zurichs of zurich."}, *ROWS[1:]])
    found = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    alone = build_ngrams(corpus, out=tmp_path / "alone", config=TRAINED)
    assert found.index.vocabulary.fingerprint == alone.index.vocabulary.fingerprint
    assert found.summary["tokens"] == alone.summary["tokens"]


def test_a_corpus_changed_after_a_killed_build_is_refused(corpus, tmp_path, monkeypatch):
    from argus.generative import passages
    from argus.generative.index import build as core

    whole = core.write_segment

    def first_only(segment, folder):
        if folder.name != "0001":
            raise KeyboardInterrupt
        whole(segment, folder)

    monkeypatch.setattr(passages, "BLOCK", 2)
    short = partial(core.build_index, segment_tokens=5)
    monkeypatch.setattr("argus.generative.index.job.build_index", short)
    with monkeypatch.context() as broken, pytest.raises(KeyboardInterrupt):
        broken.setattr(core, "write_segment", first_only)
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    write(corpus, [{**ROWS[0], "text": "Other."}, *ROWS[1:]])
    tokenizer = NgramBuildConfig(tokenizer=str(tmp_path / "ix" / "ngrams" / "tokenizer"))
    with pytest.raises(InputError, match=r"1 changed \(bern\)"):
        build_ngrams(corpus, out=tmp_path / "ix", config=tokenizer)


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


def test_an_append_needs_an_index_and_takes_no_tokenizer(corpus, tmp_path):
    with pytest.raises(InputError, match="keeps the tokenizer"):
        NgramBuildConfig(tokenizer="bpe:300", append=True)
    with pytest.raises(InputError, match="--append with --fresh"):
        build_ngrams(corpus, out=tmp_path / "ix", config=APPEND, fresh=True)
    with pytest.raises(InputError, match="no n-gram index in it"):
        build_ngrams(corpus, out=tmp_path / "ix", config=APPEND)


def test_a_corpus_without_a_word_is_refused_and_nothing_written(tmp_path):
    with pytest.raises(InputError, match="1 documents, none with a title or a text"):
        build_ngrams([Document("a", " ")], out=tmp_path / "ix", config=TRAINED)
    no_titles = NgramBuildConfig(tokenizer=f"bpe:{SIZE}", titles=False)
    with pytest.raises(InputError, match="none with a text"):
        build_ngrams([Document("a", " ", "T")], out=tmp_path / "ix", config=no_titles)
    assert not (tmp_path / "ix").exists()


def test_pseudo_queries_of_another_corpus_are_refused(corpus, tmp_path):
    with pytest.raises(InputError, match="none of them in the corpus"):
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED, pseudo_queries={"x": ["q"]})
    summary = build_ngrams(
        corpus, out=tmp_path / "ix", config=TRAINED, pseudo_queries={"x": ["q"], "ada": ["r"]}
    ).summary
    assert summary["pseudo_queries"] == {"documents": 1, "queries": 1, "elsewhere": 1}


def test_pseudo_queries_that_changed_are_a_changed_corpus(corpus, ready, tmp_path):
    shutil.copytree(ready.index, tmp_path / "ix")
    with pytest.raises(InputError, match="2 changed"):
        build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)


def test_the_folder_of_an_index_is_found_in_that_of_its_build(ready, tmp_path):
    assert index_folder(ready.index) == index_folder(ready.index / "ngrams")
    assert index_folder(tmp_path) == tmp_path
    with pytest.raises(InputError, match="is a file"):
        index_folder(ready.corpus)


def test_a_trained_vocabulary_knows_the_pseudo_queries():
    from argus.generative.index.job import _texts

    texts = list(_texts([Document("a", "text", "title")], {"a": ["asked"]}))
    assert texts == ["title", "text", "asked"]
    assert train_vocabulary(texts, 300).size <= 300


def test_a_build_shows_its_figures(corpus, tmp_path):
    result = build_ngrams(corpus, out=tmp_path / "ix", config=TRAINED)
    assert shown(result)[0].startswith(f"{len(ROWS) - 1} passages, ")
