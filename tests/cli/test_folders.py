"""Folders of results: what is there stays, whatever goes wrong."""

import pytest

SMALL = ("--k", "2", "--pool", "5")


@pytest.mark.parametrize("command", ["research audit", "check"])
def test_fresh_deletes_nothing_in_a_foreign_folder(text, argus, corpus, tmp_path, command):
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    text(foreign / "chapter1.tex", "years of work")
    options = SMALL if command == "research audit" else ()
    ran = argus(*command.split(), "--corpus", corpus, "--out", foreign, "--fresh", *options)
    assert ran.code == 2
    assert ran.err.startswith(f"argus: {foreign}: holds files that Argus did not write")
    assert "give another --out, or clear it" in ran.err
    assert (foreign / "chapter1.tex").read_text() == "years of work"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_fresh_with_a_bad_option_leaves_earlier_results(argus, corpus, tmp_path):
    run = ("research", "audit", "--corpus", corpus, "--out", "out", *SMALL)
    assert argus(*run).code == 0
    earlier = contents(tmp_path / "out")
    for bad in ("--pool 0", "--relations none.tsv", "--encoder no-such/model", "--pool 50"):
        assert argus(*run, "--fresh", *bad.split()).code == 2
        assert contents(tmp_path / "out") == earlier


def test_fresh_does_not_empty_the_folder_that_holds_the_input(jsonl, text, argus, tmp_path):
    out = tmp_path / "project"
    (out / "corpus").mkdir(parents=True)
    source = jsonl(out / "corpus" / "corpus.jsonl")
    table = text(out / "exposure.csv", "mine\n")
    assert argus("research", "audit", "--corpus", source, "--out", out, *SMALL).code == 0
    ran = argus("research", "audit", "--corpus", source, "--out", out, *SMALL, "--fresh")
    assert ran.code == 2 and "--fresh would empty the folder that holds" in ran.err
    assert source.is_file() and table.read_text() == "mine\n"
