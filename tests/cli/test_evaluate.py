"""`argus evaluate`, `compare` and `gate`: options, what they print, exit codes, messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from argus.cli.compare import compare
from argus.cli.measure import evaluate, gate
from argus.data.runs import write_run
from argus.errors import InputError

app = typer.Typer()
for command in (evaluate, compare, gate):
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


def test_two_runs_are_evaluated_and_the_gate_reads_the_result(
    files: list[object], tmp_path: Path
) -> None:
    runs = ["--run", tmp_path / "before.trec", "--run", tmp_path / "after.trec.gz"]
    result = run("evaluate", *files, *runs, "--out", tmp_path / "out", "--resamples", 1000)
    assert result.exit_code == 0, result.output
    assert "queries: 2 measured, 0 failed, 0 not applicable" in result.output
    assert (
        "RR: 0.5000 -> 0.7500 (+0.2500, no interval: only 2 of 2 queries changed, p="
        in result.output
    )
    assert "by nDCG@10: 1 queries improved, 1 harmed, 0 unchanged" in result.output

    passed = run("gate", tmp_path / "out", "--min-recall", 1, "--max-harmed-share", 0.5)
    assert passed.exit_code == 0
    assert passed.output.splitlines()[0] == (
        f"PASS         --min-recall: 1.0000, at least 1; recall (R@10), 2 queries [{tmp_path}/out]"
    )
    assert run("gate", tmp_path / "out", "--max-harmed-share", 0.4).exit_code == 1
    unmeasured = run("gate", tmp_path / "out", "--min-mean-rps", 0.1, "--markdown", "-")
    assert unmeasured.exit_code == 2
    assert unmeasured.output.startswith("**Argus gate: not measured**")
    machine = run("gate", tmp_path / "out", "--min-ndcg", 0.99, "--json")
    assert machine.exit_code == 1
    assert json.loads(machine.output)["outcomes"][0]["verdict"] == "fail"


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
    ("arguments", "got"),
    [
        ((), "nothing to compare; expected two folders"),
        (("a",), "1 folders; expected two folders"),
        (("a", "b", "--index", "i", "--index", "j"), "2 folders, 2 --index; expected"),
        (("--encoder", "x", "--encoder", "y"), "2 --encoder without --corpus; expected"),
        (("--index", "x"), "1 --index; expected"),
    ],
)
def test_compare_says_what_can_be_compared(arguments: tuple[str, ...], got: str) -> None:
    assert got in refused("compare", *arguments)


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


def test_a_run_that_broke_off_is_loud(files: list[object], tmp_path: Path) -> None:
    queries = "".join(f'{{"_id": "q{i}", "text": "t"}}\n' for i in range(84))
    (tmp_path / "queries.jsonl").write_text(queries)
    (tmp_path / "qrels.tsv").write_text(
        "query-id\tcorpus-id\tscore\n" + "".join(f"q{i}\td1\t1\n" for i in range(84))
    )
    (tmp_path / "cut.trec").write_text("q0 Q0 d1 1 1.0 x\n")
    result = run("evaluate", *files, "--run", tmp_path / "cut.trec", "--out", tmp_path / "out")
    assert (
        f"WARNING: {tmp_path}/cut.trec: 83 of 84 queries have no result; they count as 0"
        in result.output
    )
    assert "no list is longer than 1, so nDCG@5" in result.output


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--queries", "none"], "--queries: is not read when folders are compared"),
        (
            ["--k", "99"],
            "--k: is not read when folders are compared; expected --k with --run or --index or",
        ),
        (["--corpus", "none"], "--corpus: is not read when folders are compared"),
        (
            ["--lambda", "0.5"],
            "--lambda: is not read when folders are compared; expected --lambda w",
        ),
        (
            ["--index", "i", "--index", "j", "--relations", "x"],
            "--relations: is not read when --in",
        ),
    ],
)
def test_options_that_a_comparison_would_not_read_are_refused(
    tmp_path: Path, options: list[str], message: str
) -> None:
    folders = [] if "--index" in options else [tmp_path / "a", tmp_path / "b"]
    assert refused("compare", *folders, *options).startswith(message)
