"""A gate against a baseline: it fails on what is worse beyond noise, and on nothing else."""

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

import argus
from argus.data import ArtifactFolder, Query
from argus.errors import InputError
from argus.evaluation.gate import Change, GateResult, Outcome, Verdict, holm
from tests.runs.test_record import LOST, expose

NONE = argus.GateBounds()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("gate")
    expose(home / "baseline")
    expose(home / "same")
    expose(home / "worse", lost=LOST)
    expose(home / "one-lost", lost=LOST[:1])
    expose(home / "failing", failing=LOST)
    return home


def check(folders, name, **bounds):
    return argus.gate([folders / name], argus.GateBounds(**bounds), baseline=folders / "baseline")


def test_the_same_passes(folders):
    result = check(folders, "same")
    assert result.exit_code == 0 and len(result.outcomes) == 2


def test_what_is_worse_beyond_noise_fails(folders):
    result = check(folders, "worse")
    assert result.exit_code == 1
    (line,) = [o.line for o in result.outcomes if "ever retrieved" in o.detail]
    assert line.startswith("FAIL") and "0.8250, was 1" in line and "40 documents" in line


def judge(out, *, found, queries=50):
    """Evaluate a run that finds each query's only document, or none."""
    questions = [Query(f"q{i}", "?") for i in range(queries)]
    run = {q.id: {"d" if found else "x": 1.0} for q in questions}
    return argus.evaluate(questions, {q.id: {"d": 1} for q in questions}, runs=[run], out=out)


def test_a_loss_of_everything_fails(tmp_path):
    judge(tmp_path / "before", found=True)
    judge(tmp_path / "after", found=False)
    result = argus.gate([tmp_path / "after"], NONE, baseline=tmp_path / "before")
    assert result.exit_code == 1
    assert {o.verdict for o in result.outcomes} == {Verdict.FAIL}
    back = argus.gate([tmp_path / "before"], NONE, baseline=tmp_path / "after")
    assert back.exit_code == 0


def test_many_figures_hide_no_loss():
    before = {str(i): 1.0 for i in range(50)}
    change = Change.of(before, dict.fromkeys(before, 0.0))
    assert change.difference.verdict == "worse"
    assert max(holm([change.p_value] * 1000)) < 0.05


def test_too_few_items_for_so_many_figures_are_not_measured(tmp_path):
    judge(tmp_path / "before", found=True, queries=8)
    judge(tmp_path / "after", found=False, queries=8)
    result = argus.gate([tmp_path / "after"], NONE, baseline=tmp_path / "before")
    figures = len(result.outcomes)
    assert result.exit_code == 2 and figures == 8
    assert "8 questions are too few for 8 figures: at least 9" in result.outcomes[0].detail


def test_a_folder_named_twice_counts_once(folders, monkeypatch):
    monkeypatch.chdir(folders)
    names = [Path("worse"), folders / "worse", Path("same/../worse")]
    result = argus.gate(names, NONE, baseline=folders / "baseline")
    assert [o.folder for o in result.outcomes] == ["worse"] * 2


def test_what_chance_may_do_passes(folders):
    assert check(folders, "one-lost").exit_code == 0


def test_what_is_better_passes(folders):
    result = argus.gate([folders / "baseline"], NONE, baseline=folders / "worse")
    assert result.exit_code == 0


def test_a_loss_within_the_tolerance_passes(folders):
    assert check(folders, "worse", tolerance=0.3).exit_code == 0


def test_what_failed_since_is_not_measured(folders):
    result = check(folders, "failing")
    assert result.exit_code == 2
    assert any("that failed" in o.detail for o in result.outcomes)


def test_a_run_of_the_history_is_a_baseline_too(folders):
    run = folders / "baseline" / "history" / "000001-exposure"
    assert argus.gate([folders / "worse"], NONE, baseline=run).exit_code == 1
    assert argus.gate([folders / "same"], NONE, baseline=run.parent).exit_code == 0


def test_a_run_that_was_stopped_while_it_wrote_is_refused_until_it_runs_again(
    folders, tmp_path, monkeypatch, caplog
):
    shutil.copytree(folders / "baseline", tmp_path / "out")

    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as stopped, pytest.raises(KeyboardInterrupt):
        stopped.setattr(ArtifactFolder, "write_results", stop)
        expose(tmp_path / "out", lost=LOST)
    for read in (
        lambda: argus.gate([tmp_path / "out"], argus.GateBounds(min_self_retrieval=0.1)),
        lambda: argus.gate([folders / "same"], NONE, baseline=tmp_path / "out"),
        lambda: argus.write_report(tmp_path / "out"),
    ):
        with pytest.raises(InputError, match=r"exposure\.parquet: is not of the run of exposure"):
            read()
    judge(tmp_path / "out", found=True)  # another job goes on, and leaves it out
    assert "left out of the report: exposure" in caplog.text
    expose(tmp_path / "out", lost=LOST)
    assert argus.gate([tmp_path / "out"], NONE, baseline=folders / "baseline").exit_code == 1


def test_bounds_stand_beside_the_baseline(folders):
    assert check(folders, "same", max_never_retrieved_share=0.5).exit_code == 0
    assert check(folders, "same", min_self_retrieval=1.0).exit_code in (0, 1)
    assert {o.check for o in check(folders, "same", max_never_retrieved_share=0.5).outcomes} == {
        "against", "max_never_retrieved_share",
    }  # fmt: skip


def test_another_jobs_baseline_is_not_measured(folders, tmp_path):
    shutil.copytree(folders / "baseline" / "history" / "000001-exposure", tmp_path / "run")
    record = tmp_path / "run" / "run.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"job": "audit"}))
    result = argus.gate([folders / "same"], NONE, baseline=tmp_path / "run")
    assert result.exit_code == 2 and "audit" in result.outcomes[0].detail


def test_another_setting_is_not_measured(folders, tmp_path):
    from tests.support.words import ByWords, corpus

    config = argus.ExposureConfig(k=3)
    argus.exposure(corpus(), out=tmp_path, retriever=ByWords(corpus()), config=config)
    result = argus.gate([tmp_path], NONE, baseline=folders / "baseline")
    assert result.exit_code == 2 and "k 5 → 3" in result.outcomes[0].detail


def test_a_baseline_of_other_documents_is_not_measured(folders, tmp_path):
    from argus.data import Document
    from tests.support.words import ByWords, corpus

    others = [Document(f"x-{d.id}", d.text, d.title) for d in corpus()]
    config = argus.ExposureConfig(k=5)
    argus.exposure(others, out=tmp_path, retriever=ByWords(others), config=config)
    result = argus.gate([tmp_path], NONE, baseline=folders / "baseline")
    assert result.exit_code == 2 and "no documents in common" in result.outcomes[0].detail


def test_fewer_than_half_of_the_baselines_documents_are_not_enough(folders, tmp_path):
    from tests.support.words import ByWords, corpus

    few = corpus()[:12]
    config = argus.ExposureConfig(k=5)
    argus.exposure(few, out=tmp_path, retriever=ByWords(few), config=config)
    result = argus.gate([tmp_path], NONE, baseline=folders / "baseline")
    assert result.exit_code == 2 and "only 12 of 40 documents" in result.outcomes[0].detail


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_baseline_without_a_run_is_refused(folders, tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no such folder|no run in it"):
        argus.gate([folders / "same"], NONE, baseline=tmp_path / name)


@pytest.mark.parametrize("file", ["exposure.parquet", "manifest.json", "summary.json"])
def test_a_damaged_baseline_is_refused(folders, tmp_path, file):
    shutil.copytree(folders / "baseline", tmp_path / "damaged")
    (tmp_path / "damaged" / file).write_bytes(b"{ no")
    with pytest.raises(InputError, match=file.replace(".", r"\.")):
        argus.gate([folders / "same"], NONE, baseline=tmp_path / "damaged")


def test_a_run_of_the_history_whose_items_are_damaged_is_refused(folders, tmp_path):
    shutil.copytree(folders / "baseline" / "history" / "000001-exposure", tmp_path / "run")
    items = tmp_path / "run" / "items.parquet"
    items.write_bytes(items.read_bytes()[:100])
    with pytest.raises(InputError, match=r"items\.parquet: cannot be read"):
        argus.gate([folders / "same"], NONE, baseline=tmp_path / "run")


def test_neither_bound_nor_baseline_is_refused(folders):
    with pytest.raises(InputError, match="no check"):
        argus.gate([folders / "same"], NONE)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_is_never_below_and_never_above_bonferroni(values):
    for p, corrected in zip(values, holm(values), strict=True):
        assert p - 1e-12 <= corrected <= min(1, p * len(values)) + 1e-12 or corrected <= 1


def test_the_rate_of_false_alarms_is_low():
    import numpy as np

    from argus.evaluation.history import paired

    rng, alarms = np.random.default_rng(1), 0
    for _ in range(60):
        before, after = (rng.random(60) < 0.7 for _ in range(2))
        first = {str(i): float(v) for i, v in enumerate(before)}
        second = {str(i): float(v) for i, v in enumerate(after)}
        alarms += paired(first, second).verdict == "worse"
    assert alarms <= 5  # 2.5% expected: 1.5 of 60


def test_junit_says_failures_errors_and_passes(folders):
    outcomes = [
        *check(folders, "worse").outcomes, *check(folders, "failing").outcomes,
        *check(folders, "same").outcomes,
    ]  # fmt: skip
    suite = ET.fromstring(GateResult(outcomes).junit()).find("testsuite")
    verdicts = [o.verdict for o in outcomes]
    assert int(suite.get("tests")) == len(outcomes) == len(suite.findall("testcase"))
    assert int(suite.get("failures")) == verdicts.count(Verdict.FAIL) > 0
    assert int(suite.get("errors")) == verdicts.count(Verdict.NOT_MEASURED) > 0
    assert "ever retrieved" in suite.find("testcase/failure").get("message") or any(
        "ever retrieved" in case.get("name") for case in suite
    )


def test_junit_holds_whatever_stands_in_a_name():
    odd = Outcome("against", "a\x00\ufffe<&\"'>\ud800", Verdict.FAIL, 0.1, 0.2, "job\x1b: ]]>")
    (case,) = ET.fromstring(GateResult([odd]).junit().encode("utf-8")).iter("testcase")
    assert "<&" in case.get("classname")


def test_no_name_turns_what_a_gate_says():
    odd = Outcome("against", "a\u202eb\nc", Verdict.FAIL, 0.1, 0.2, "job\x1b: x")
    text = GateResult([odd]).markdown()
    assert r"job\\u001b: x (`a\u202eb\u000ac`)" in text
    assert not {"\u202e", "\x1b"} & set(text + GateResult([odd]).junit())


def test_markdown_is_a_table(folders):
    result = check(folders, "worse")
    text = result.markdown()
    assert text.startswith("**Argus gate: fail**")
    assert all(line.count("|") >= 6 for line in text.splitlines()[2:])


def test_files_are_written_by_the_command(folders, tmp_path):
    from typer.testing import CliRunner

    from argus.cli.main import app

    names = ["--junit", str(tmp_path / "deep" / "j.xml"), "--markdown", str(tmp_path / "s.md")]
    ran = CliRunner().invoke(
        app, ["gate", str(folders / "worse"), "--against", str(folders / "baseline"), *names]
    )
    assert ran.exit_code == 1 and "verdict: fail" in ran.output
    assert ET.parse(tmp_path / "deep" / "j.xml").getroot().tag == "testsuites"
    assert (tmp_path / "s.md").read_text().startswith("**Argus gate: fail**")
