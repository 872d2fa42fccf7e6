"""`argus research generative search`: hits in words, results in files, and what is refused."""

from __future__ import annotations

import pytest

SMALL = ("--beams", "3", "--tokens", "4", "--title-tokens", "6", "--smoothing", "0.05")


@pytest.fixture
def search(argus, ready):
    def run(*options, model=ready.model):
        given = () if model is None else ("--model", model)
        return argus("research", "generative", "search", ready.index, *given, *SMALL, *options)

    return run


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "--queries: neither --queries nor --query; expected one of them"),
        (("--query", "a", "--queries", "b"), "--queries: --queries and --query; expected one"),
        (("--query", " "), "--query: an empty query"),
        (("--queries", "none.json"), "none.json: no such file; expected a file of questions"),
        (("--queries", "."), ".: the folder holds no queries file"),
        (("--query", "a", "--mode", "sael"), "--mode: 'sael'; expected one of seal, minder"),
        (("--query", "a", "--length-penalty", "1"), "--length-penalty: 1.0; expected a number"),
        (("--query", "a", "--length-penalty", "1.5"), "--length-penalty: 1.5; expected a number"),
        (("--queries", "x", "--topics", "t"), "--topics: 't'; expected one of auto, dpr, dpr_qas"),
    ],
)
def test_bad_options_are_refused_and_leave_no_folder(search, tmp_path, options, message):
    ran = search(*options)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith(f"argus: {message}")
    assert not (tmp_path / "argus-out").exists()
