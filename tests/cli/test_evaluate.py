"""`argus evaluate` and `gate`: options, what they print, exit codes, messages."""

from __future__ import annotations

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from argus.cli.evaluate import evaluate
from argus.cli.gate import gate
from argus.data.runs import write_run
from argus.errors import InputError

app = typer.Typer()
for command in (evaluate, gate):
    app.command()(command)

BEFORE = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}
AFTER = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d2": 1.0}}


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def refused(*arguments: object) -> str:
    """Return the message of the InputError that `argus` prints before it exits 2."""
    result = run(*arguments)
    assert isinstance(result.exception, InputError), result.output
    return str(result.exception)


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    (tmp_path / "queries.jsonl").write_text(
        '{"_id": "q1", "text": "first"}\n{"_id": "q2", "text": "second"}\n'
    )
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\n")
    write_run(tmp_path / "before.trec", BEFORE)
    write_run(tmp_path / "after.trec.gz", AFTER)
    return ["--queries", tmp_path / "queries.jsonl", "--qrels", tmp_path / "qrels.tsv"]


def test_bad_input_names_file_line_and_field(files: list[object], tmp_path: Path) -> None:
    bad = tmp_path / "bad.trec"
    bad.write_text("q1 Q0 d1 1 1.0 x\nq1 Q0 d2 2 nan x\n")
    assert refused("evaluate", *files, "--run", bad) == (
        f"{bad}, line 2, field 'score': 'nan'; expected a finite number. Leave out what has no "
        "score: a result without one has no rank."
    )
    (tmp_path / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t0.5\n")
    message = refused("evaluate", *files, "--run", tmp_path / "before.trec")
    assert message.startswith(f"{tmp_path / 'qrels.tsv'}, line 2, field 'score': '0.5'; expected a")
    assert "expected one system, or two" in refused("evaluate", *files[:3], files[3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--measures", "nDCG@0"], "measure 'nDCG@0' has the cutoff 0"),
        (["--measures", "RBP", "--headline", "RBP"], "measure 'RBP' cannot be computed"),
        (["--measures", ","], "--measures: no measure"),
    ],
)
def test_measures_and_resamples_that_give_no_figure_are_refused(
    files: list[object], tmp_path: Path, options: list[str], message: str
) -> None:
    given = [*files, "--run", tmp_path / "before.trec", "--out", tmp_path / "out", *options]
    assert refused("evaluate", *given).startswith(message)
    assert not (tmp_path / "out").exists()


def test_options_that_a_comparison_would_not_read_are_refused() -> None:
    options = ("--index", "i", "--index", "j", "--depth", "900")
    assert refused("evaluate", *options).startswith("--depth: is not read where two")
