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
from argus.indexes.header import IndexHeader, write_header

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


def test_json_is_the_summary_as_it_was_written(files: list[object], tmp_path: Path) -> None:
    result = run(
        "evaluate", *files, "--run", tmp_path / "before.trec", "--out", tmp_path / "out", "--json"
    )
    written = json.loads((tmp_path / "out" / "summary.json").read_text())["evaluation"]
    assert json.loads(result.output) == written


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


def test_an_index_that_is_none_is_refused(files: list[object], tmp_path: Path) -> None:
    assert "no such folder; expected an index folder" in refused(
        "evaluate", *files, "--index", tmp_path / "none", "--out", tmp_path / "out"
    )
    assert not (tmp_path / "out").exists()


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


def test_compare_of_two_indexes_that_are_none_is_refused(tmp_path: Path) -> None:
    given = ["--index", tmp_path / "a", "--index", tmp_path / "b", "--out", tmp_path / "out"]
    assert "no such folder" in refused("compare", *given)
    assert not (tmp_path / "out").exists()


def test_a_gate_without_a_check_is_no_pass(tmp_path: Path) -> None:
    assert refused("gate", tmp_path).startswith("argus gate: no check; expected at least one bound")
    assert "no such folder" in refused("gate", tmp_path / "none", "--min-ndcg", 0.5)


def test_the_gate_reads_a_diagnosis(tmp_path: Path) -> None:
    counts = {"total": 5, "measured": 4, "failed": 0, "not applicable": 1, "reasons": {}}
    section = {"tau": 0.3, "share_flagged": 0.25, "entities": counts}
    (tmp_path / "summary.json").write_text(json.dumps({"diagnosis": section}))
    passed = run("gate", tmp_path, "--max-at-risk-share", 0.4)
    assert passed.exit_code == 0
    assert passed.output == (
        "PASS         --max-at-risk-share: 0.2500, at most 0.4; entities at risk (predicted RPS "
        f"below 0.3), 4 entities and 1 without a prediction [{tmp_path}]\nverdict: pass\n"
    )
    assert run("gate", tmp_path, "--max-at-risk-share", 0.25).exit_code == 2
    assert run("gate", tmp_path, "--max-at-risk-share", 0.15).exit_code == 1


def test_hybrid_goes_with_an_index(files: list[object], tmp_path: Path) -> None:
    runs = ["--run", tmp_path / "before.trec", "--hybrid", "rrf"]
    assert "--hybrid: 1 rankings for 0 indexes" in refused(
        "evaluate", *files, *runs, "--out", tmp_path / "out"
    )
    assert (
        "--hybrid: is not read when folders are compared; expected --hybrid with --index"
        in refused("compare", tmp_path, tmp_path, "--hybrid", "rrf")
    )
    write_header(tmp_path, IndexHeader(fingerprint="of an encoder", dim=3))
    indexes = ["--index", tmp_path, "--index", tmp_path]
    asked = [*indexes, "--hybrid", "sum", "--out", tmp_path / "out"]
    for command in (["evaluate", *files], ["compare"]):
        assert "fusion 'sum'" in refused(*command, *asked)


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


def test_fewer_resamples_than_an_interval_needs_are_refused(files, tmp_path):
    given = ["evaluate", *files, "--run", tmp_path / "before.trec", "--out", tmp_path / "out"]
    result = run(*given, "--resamples", 999)
    assert result.exit_code == 2 and "--resamples" in result.output
    assert not (tmp_path / "out").exists()


def test_a_measure_spelt_otherwise_is_the_same_one(files: list[object], tmp_path: Path) -> None:
    runs = ["--run", tmp_path / "before.trec", "--run", tmp_path / "after.trec.gz"]
    spelt = ["--measures", "NDCG@10,nDCG@10,Recall@10", "--headline", "NDCG@10"]
    result = run("evaluate", *files, *runs, *spelt, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.output.count("nDCG@10: ") == 2, "once as a measure, once as the headline"
    assert (tmp_path / "out" / "report.html").is_file()
    assert (
        run("gate", tmp_path / "out", "--min-ndcg", 0.1, "--ndcg-measure", "NDCG@10").exit_code == 0
    )


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
