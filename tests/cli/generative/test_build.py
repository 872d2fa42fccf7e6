"""`argus research generative build`: what it prints, and what it refuses."""

from __future__ import annotations

import pytest

from tests.support.ngrams import ROWS, write


@pytest.fixture
def corpus(tmp_path):
    return write(tmp_path / "corpus.jsonl", ROWS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "argus: --tokenizer: no tokenizer; expected the folder of the model that will search"),
        (("--tokenizer", "bpe:x"), "argus: --tokenizer: 'bpe:x'; expected bpe:SIZE"),
        (("--tokenizer", "none"), "argus: none: no such folder; expected a folder with tokenizer"),
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
    ran = argus("research", "generative", "build", "--corpus", corpus, "--out", "ix", *options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(message)
    assert not (tmp_path / "ix").exists()
