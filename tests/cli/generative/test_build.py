"""`argus generative build`: what it prints, and what it refuses."""

from __future__ import annotations

import json

import pytest

from tests.support.ngrams import ROWS, SIZE, write


@pytest.fixture
def corpus(tmp_path):
    return write(tmp_path / "corpus.jsonl", ROWS)


def test_what_became_of_the_passages_is_printed(argus, ready):
    ran = argus("generative", "build", "--corpus", ready.corpus, "--tokenizer", f"bpe:{SIZE}",
                "--pseudo-queries", ready.pseudo_queries, "--out", "ix")  # fmt: skip
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].startswith("10 passages, ")
    assert lines[1:5] == [
        "left out: 1 without text or title (empty)",
        "1 passages have a title alone",
        "1 have no title",
        "pseudo-queries: 3 of 2 documents",
    ]
    assert lines[5].startswith("index: ix/ngrams (")


def test_the_summary_is_printed_as_json(argus, corpus):
    ran = argus("generative", "build", "--corpus", corpus, "--tokenizer", "bpe:300", "--no-titles",
                "--out", "ix", "--json")  # fmt: skip
    summary = json.loads(ran.out)
    assert summary["titles"] is False
    assert summary["passages"]["empty_ids"] == ["alone", "empty"]


def test_a_corpus_is_appended_to(argus, corpus):
    argus("generative", "build", "--corpus", corpus, "--tokenizer", "bpe:300", "--out", "ix")
    write(corpus, [*ROWS, {"_id": "new", "title": "New", "text": "Newer."}])
    ran = argus("generative", "build", "--corpus", corpus, "--out", "ix", "--append")
    assert ran.code == 0
    assert ran.out.splitlines()[0] == "added 1 passages, 10 were there"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "argus: --tokenizer: no tokenizer; expected the folder of the model that will search"),
        (("--tokenizer", "bpe:x"), "argus: --tokenizer: 'bpe:x'; expected bpe:SIZE"),
        (("--tokenizer", "none"), "argus: none: no such folder; expected a folder with tokenizer"),
        (("--append",), "argus: ix/ngrams: no n-gram index in it"),
        (("--append", "--tokenizer", "bpe:300"), "argus: --tokenizer: 'bpe:300' with --append"),
        (
            ("--tokenizer", "bpe:300", "--pseudo-queries", "corpus.jsonl"),
            "argus: corpus.jsonl, line 1: no queries field",
        ),
        (
            ("--tokenizer", "bpe:300", "--pseudo-queries", "none.jsonl"),
            "argus: none.jsonl: no such file",
        ),
    ],
)
def test_bad_options_are_refused_and_leave_no_folder(argus, corpus, tmp_path, options, message):
    ran = argus("generative", "build", "--corpus", corpus, "--out", "ix", *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(message)
    assert not (tmp_path / "ix").exists()


def test_a_changed_corpus_is_refused(argus, corpus):
    build = ("generative", "build", "--corpus", corpus, "--tokenizer", "bpe:300", "--out", "ix")
    argus(*build)
    write(corpus, [{**ROWS[0], "text": "Other."}, *ROWS[1:]])
    ran = argus(*build)
    assert ran.code == 2
    assert "the corpus is not the one that was indexed: 1 changed (bern)" in ran.err
    assert ran.err.strip().endswith("Build it again with --fresh.")
    assert argus(*build, "--fresh").code == 0
