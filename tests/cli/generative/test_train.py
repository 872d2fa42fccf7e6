"""`argus research generative train`: what it writes and says, and what it refuses."""

import pytest

QUICK = ("--d-model", "32", "--layers", "1", "--epochs", "1", "--batch", "8", "--device", "cpu")


@pytest.fixture
def train(argus, ready):
    def run(*more, index=ready.index):
        return argus(
            "research", "generative", "train", "--index", index, "--corpus", ready.corpus, "--out",
            "out",
            *QUICK, *more,
        )  # fmt: skip

    return run


def said(ran):
    assert ran.code == 2 and ran.out == ""
    return ran.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--d-model", "40"), "--d-model: 40; expected a multiple of 16"),
        (("--model", "no/such"), "no model in it"),
        (("--label-smoothing", "1"), "--label-smoothing: 1.0; expected a number from 0, below 1"),
        (("--dtype", "int8"), "--dtype: 'int8'; expected one of float32, bfloat16"),
        (("--minutes", "0"), "--minutes: 0.0; expected a number above 0"),
        (("--device", "abacus"), "--device: 'abacus' is no device"),
        (("--questions", "q.jsonl"), "--questions: given without --qrels"),
    ],
)
def test_an_option_that_cannot_be_meant_is_refused(train, tmp_path, options, message):
    assert message in said(train(*options))
    assert not (tmp_path / "out").exists()
