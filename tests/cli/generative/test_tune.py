"""`argus research generative tune`: what it writes and says, and what it refuses."""

import pytest

from tests.support.ngrams import write

ASKED = {"a": ("Which city is the capital?", "bern"), "b": ("Who wrote the program?", "ada"),
         "c": ("river into the Rhine", "aare"), "d": ("music from Jamaica", "ska")}  # fmt: skip


@pytest.fixture
def tune(argus, ready, tmp_path):
    rows = [f"{i}\t{doc}\t1" for i, (_, doc) in ASKED.items()]
    questions = write(tmp_path / "q.jsonl", [{"_id": i, "text": t} for i, (t, _) in ASKED.items()])
    qrels = tmp_path / "qrels.tsv"
    qrels.write_text("\n".join(["query-id\tcorpus-id\tscore", *rows, ""]))

    def run(*more):
        return argus(
            "research", "generative", "tune", ready.index, "--model", ready.model,
            "--corpus", ready.corpus, "--questions", questions, "--qrels", qrels, "--out", "out",
            "--beams", "3", "--smoothing", "0.01", "--epochs", "1", "--device", "cpu", *more,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--keys", "0"), "Input should be greater than or equal to 1"),
        (("--passages", "1"), "Input should be greater than or equal to 2"),
        (("--margin", "-1"), "Input should be greater than or equal to 0"),
        (("--rank-weight", "-1"), "Input should be greater than or equal to 0"),
        (("--model", "none"), "no model in it"),
        (("--questions", "none.jsonl"), "none.jsonl"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(tune, tmp_path, options, message):
    ran = tune(*options)
    assert ran.code == 2 and message in ran.err
    assert not (tmp_path / "out").exists()
