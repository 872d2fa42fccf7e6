"""A gate against a baseline: it fails on what is worse beyond noise, and on nothing else."""

import re
import shutil
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

import argus
from argus.data import Query
from argus.errors import InputError
from argus.evaluation.gate import GateResult, Outcome, Verdict, holm
from tests.runs.test_record import LOST, expose
from tests.support.words import ByWords, corpus

NONE = argus.evaluation.GateBounds()


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("gate")
    expose(home / "baseline")
    expose(home / "same")
    expose(home / "worse", lost=LOST)
    expose(home / "one-lost", lost=LOST[:1])
    expose(home / "failing", failing=LOST)
    return home


def check(folders, name):
    return argus.gate([folders / name], NONE, baseline=folders / "baseline").outcomes


@pytest.mark.parametrize(
    ("name", "baseline", "tolerance", "code"),
    [("same", "baseline", 0, 0), ("one-lost", "baseline", 0, 0), ("baseline", "worse", 0, 0),
     ("worse", "baseline", 0.3, 0), ("failing", "baseline", 0, 2)],
)  # fmt: skip
def test_only_a_loss_beyond_chance_and_tolerance_fails(folders, name, baseline, tolerance, code):
    bounds = argus.evaluation.GateBounds(tolerance=tolerance)
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


def judge(out, *, found, queries=50):
    """Evaluate a run that finds each query's only document, or none."""
    questions = [Query(f"q{i}", "?") for i in range(queries)]
    run = {q.id: {"d" if found else "x": 1.0} for q in questions}
    return argus.evaluate(questions, {q.id: {"d": 1} for q in questions}, runs=[run], out=out)


def test_a_loss_of_everything_fails(tmp_path):
    judge(tmp_path / "before", found=True)
    judge(tmp_path / "after", found=False)
    result = argus.gate([tmp_path / "after"], NONE, baseline=tmp_path / "before")
    assert {o.verdict for o in result.outcomes} == {Verdict.FAIL}


@pytest.mark.parametrize("file", ["exposure.parquet", "manifest.json", "summary.json"])
def test_a_damaged_baseline_is_refused(folders, tmp_path, file):
    damaged = shutil.copytree(folders / "baseline", tmp_path / "damaged")
    (damaged / file).write_bytes(b"{ no")
    with pytest.raises(InputError, match=re.escape(file)):
        argus.gate([folders / "same"], NONE, baseline=damaged)


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


def test_junit_says_failures_errors_and_passes_whatever_stands_in_a_name(folders):
    outcomes = [o for name in ("worse", "failing", "same") for o in check(folders, name)]
    suite = ET.fromstring(GateResult(outcomes).junit()).find("testsuite")
    verdicts = [o.verdict for o in outcomes]
    assert int(suite.get("tests")) == len(outcomes) == len(suite.findall("testcase"))
    assert int(suite.get("failures")) == verdicts.count(Verdict.FAIL) > 0
    assert int(suite.get("errors")) == verdicts.count(Verdict.NOT_MEASURED) > 0
    odd = Outcome("against", "a\x00\ufffe<&\"'>\ud800", Verdict.FAIL, 0.1, 0.2, "job\x1b: ]]>")
    (case,) = ET.fromstring(GateResult([odd]).junit().encode("utf-8")).iter("testcase")
    assert "<&" in case.get("classname")
