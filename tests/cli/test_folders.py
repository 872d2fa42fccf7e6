"""Folders of results: what is there stays, whatever goes wrong."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

SMALL = ("--k", "2", "--pool", "5", "--precision", "float32")


def test_an_output_that_is_a_file_is_refused_and_kept(text, argus, corpus: Path) -> None:
    path = text(corpus.parent / "notes", "mine")
    ran = argus("audit", "--corpus", corpus, "--out", path, *SMALL)
    assert ran.code == 2
    assert ran.err == (
        f"argus: {path}: is a file; expected a folder for results. Give another --out.\n"
    )
    assert path.read_text() == "mine"


@pytest.mark.parametrize("command", ["audit", "exposure"])
def test_fresh_deletes_nothing_in_a_foreign_folder(
    text, argus, corpus: Path, tmp_path: Path, command: str
) -> None:
    foreign = tmp_path / "thesis"
    foreign.mkdir()
    text(foreign / "chapter1.tex", "years of work")
    options = SMALL if command == "audit" else ("--precision", "float32")
    ran = argus(command, "--corpus", corpus, "--out", foreign, "--fresh", *options)
    assert ran.code == 2
    assert ran.err.startswith(f"argus: {foreign}: holds files that Argus did not write")
    assert "give another --out, or clear it" in ran.err
    assert (foreign / "chapter1.tex").read_text() == "years of work"


@pytest.mark.parametrize("exists", [True, False])
def test_a_report_needs_results(argus, tmp_path: Path, exists: bool) -> None:
    folder = tmp_path / "results"
    if exists:
        folder.mkdir()
    ran = argus("report", folder)
    assert ran.code == 2
    assert ran.err == (
        f"argus: {folder}: no summary.json and manifest.json in it; expected a folder that argus "
        "audit, exposure or demo wrote. Run one of them with --out set to this folder.\n"
    )


@pytest.fixture
def earlier(argus, corpus: Path, tmp_path: Path) -> dict[str, bytes]:
    """Run a good audit into `out`; return every file that it left."""
    assert argus("audit", "--corpus", corpus, "--out", "out", *SMALL).code == 0
    return contents(tmp_path / "out")


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
    }


def test_fresh_on_a_broken_corpus_leaves_earlier_results(
    text, argus, earlier: dict[str, bytes], corpus: Path, tmp_path: Path
) -> None:
    assert {"summary.json", "manifest.json", "report.html", "retrievability.parquet"} <= set(
        earlier
    )
    text(corpus, corpus.read_text() + "{broken\n")
    ran = argus("audit", "--corpus", corpus, "--out", "out", *SMALL, "--fresh")
    assert ran.code == 2
    assert ran.err.startswith(f"argus: {corpus}, line 13: broken JSON")
    assert contents(tmp_path / "out") == earlier
    assert pq.read_table(tmp_path / "out" / "retrievability.parquet").num_rows == 12
    assert argus("report", "out").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--pool", "0"),
        ("--pooling", "mean"),
        ("--precision", "int3"),
        ("--relations", "none.tsv"),
        ("--entities", "none.tsv"),
        pytest.param(
            ("--encoder", "no-such/model"),
        ),
        pytest.param(
            ("--pool", "50"),
        ),
    ],
)
def test_fresh_with_a_bad_option_leaves_earlier_results(
    argus,
    earlier: dict[str, bytes],
    corpus: Path,
    tmp_path: Path,
    arguments: tuple[str, str],
) -> None:
    assert (
        argus("audit", "--corpus", corpus, "--out", "out", *SMALL, "--fresh", *arguments).code == 2
    )
    assert contents(tmp_path / "out") == earlier


@pytest.mark.parametrize(
    ("summary", "file"), [("{", "summary.json"), ('{"audit": {}}', "manifest.json")]
)
def test_a_report_on_damaged_results_names_the_file(
    text, argus, tmp_path: Path, summary: str, file: str
) -> None:
    text(tmp_path / "summary.json", summary)
    text(tmp_path / "manifest.json", "{}")
    ran = argus("report", tmp_path)
    assert ran.code == 2
    assert str(tmp_path / file) in ran.err


def test_fresh_does_not_empty_the_folder_that_holds_the_input(
    jsonl, text, argus, tmp_path: Path
) -> None:
    out = tmp_path / "project"
    (out / "corpus").mkdir(parents=True)
    source = jsonl(out / "corpus" / "corpus.jsonl")
    table = text(out / "exposure.csv", "mine\n")
    assert argus("audit", "--corpus", source, "--out", out, *SMALL).code == 0
    ran = argus("audit", "--corpus", source, "--out", out, *SMALL, "--fresh")
    assert ran.code == 2 and "--fresh would empty the folder that holds" in ran.err
    assert source.is_file() and table.read_text() == "mine\n"


def test_two_corpora_do_not_share_a_report(
    jsonl, documents, argus, corpus: Path, tmp_path: Path
) -> None:
    out, other = tmp_path / "out", jsonl(tmp_path / "other.jsonl", documents[:8])
    assert argus("audit", "--corpus", corpus, "--out", out, *SMALL).code == 0
    ran = argus("exposure", "--corpus", other, "--out", out, "--precision", "float32")
    assert ran.code == 2
    assert "holds the audit of another corpus" in ran.err and "Give another --out" in ran.err


def test_a_broken_summary_is_found_before_the_work(
    text, argus, corpus: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert argus("audit", "--corpus", corpus, "--out", out, *SMALL).code == 0
    text(out / "summary.json", "{broken")
    ran = argus("audit", "--corpus", corpus, "--out", out, *SMALL)
    assert ran.code == 2 and f"argus: {out / 'summary.json'}: broken JSON" in ran.err
