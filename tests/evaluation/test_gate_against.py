"""A gate against a baseline: it fails on what is worse beyond noise, and on nothing else."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import argus
from argus.data import ArtifactFolder, Query
from argus.errors import InputError
from argus.evaluation.gate import GateResult, Outcome, Verdict, holm
from tests.runs.test_record import LOST, expose
from tests.support.words import ByWords, corpus

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


@pytest.mark.parametrize(
    ("name", "baseline", "tolerance", "code"),
    [("same", "baseline", 0, 0), ("one-lost", "baseline", 0, 0), ("baseline", "worse", 0, 0),
     ("worse", "baseline", 0.3, 0), ("failing", "baseline", 0, 2)],
)  # fmt: skip
def test_only_a_loss_beyond_chance_and_tolerance_fails(folders, name, baseline, tolerance, code):
    bounds = argus.GateBounds(tolerance=tolerance)
    assert argus.gate([folders / name], bounds, baseline=folders / baseline).exit_code == code


@pytest.mark.parametrize(
    ("change", "k", "reason"),
    [(lambda d: d, 3, "k 5 → 3"), (lambda d: d[:12], 5, "only 12 of 40 documents"),
     (lambda d: [replace(x, id=f"x-{x.id}") for x in d], 5, "no documents in common")],
)  # fmt: skip
def test_another_setting_or_corpus_is_not_measured(folders, tmp_path, change, k, reason):
    documents, config = change(corpus()), argus.ExposureConfig(k=k)
    argus.exposure(documents, out=tmp_path, retriever=ByWords(documents), config=config)
    result = argus.gate([tmp_path], NONE, baseline=folders / "baseline")
    assert result.exit_code == 2 and reason in result.outcomes[0].detail


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


def test_another_jobs_baseline_is_not_measured(folders, tmp_path):
    shutil.copytree(folders / "baseline" / "history" / "000001-exposure", tmp_path / "run")
    record = tmp_path / "run" / "run.json"
    record.write_text(json.dumps(json.loads(record.read_text()) | {"job": "audit"}))
    result = argus.gate([folders / "same"], NONE, baseline=tmp_path / "run")
    assert result.exit_code == 2 and "audit" in result.outcomes[0].detail


@pytest.mark.parametrize("file", ["exposure.parquet", "manifest.json", "summary.json"])
def test_a_damaged_baseline_is_refused(folders, tmp_path, file):
    shutil.copytree(folders / "baseline", tmp_path / "damaged")
    (tmp_path / "damaged" / file).write_bytes(b"{ no")
    with pytest.raises(InputError, match=file.replace(".", r"\.")):
        argus.gate([folders / "same"], NONE, baseline=tmp_path / "damaged")


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


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
