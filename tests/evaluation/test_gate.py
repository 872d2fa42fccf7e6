import copy
import json

import pytest

from argus.errors import InputError
from argus.evaluation.gate import GateBounds, Verdict, gate

AUDIT = {
    "k": 50, "pool": 800, "mean_rps": 0.6, "share_below_0.33": 0.1,
    "entities": {"total": 110, "measured": 100, "failed": 0, "not applicable": 10, "reasons": {}},
}  # fmt: skip
EXPOSURE = {
    "k": 10, "never_retrieved": 5, "probes_failed": 0,
    "documents": {"total": 52, "measured": 50, "failed": 0, "not applicable": 2,
                  "reasons": {"no text": 2}},
    "title": {"probes": 50, "success_at_k": 1.0},
    "sentence": {"probes": 50, "success_at_k": 0.5},
}  # fmt: skip
EVALUATION = {
    "queries": {"total": 40, "measured": 40, "failed": 0, "not applicable": 0},
    "systems": [{"measures": {"R@10": 0.7, "nDCG@10": 0.5}},
                {"measures": {"R@10": 0.8, "nDCG@10": 0.45}}],
    "comparison": {"nDCG@10": {"queries": 40, "mean_difference": -0.05, "harmed": 4}},
}  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    def write(name="results", **sections):
        path = tmp_path / name
        path.mkdir(exist_ok=True)
        (path / "summary.json").write_text(json.dumps(sections))
        return path

    return write


def changed(section, **fields):
    section = copy.deepcopy(section)
    for name, value in fields.items():
        *parts, key = name.split("__")
        (section[parts[0]] if parts else section)[key] = value
    return section


def test_rounding_fails_no_bound(folder):
    path = folder(evaluation=changed(EVALUATION, systems=[{"measures": {"R@10": 0.55 - 1e-16}}]))
    assert gate([path], GateBounds(min_recall=0.55)).exit_code == 0
    assert gate([path], GateBounds(min_recall=0.5501)).exit_code == 1


@pytest.mark.parametrize(
    ("bound", "value"),
    [
        ("max_low_rps_share", 0.1),
        ("min_mean_rps", 0.6),
        ("min_recall", 0.8),
        ("min_ndcg", 0.45),
        ("max_ndcg_drop", 0.05),
        ("max_never_retrieved_share", 0.1),
        ("min_self_retrieval", 0.75),
    ],
)
def test_every_check_passes_at_its_bound_and_fails_beyond_it(folder, bound, value):
    path = folder(audit=AUDIT, exposure=EXPOSURE, evaluation=EVALUATION)
    passed = gate([path], GateBounds(**{bound: value}))
    assert (passed.verdict, passed.exit_code) == (Verdict.PASS, 0)
    assert passed.outcomes[0].value == pytest.approx(value)
    beyond = value - 0.01 if bound.startswith("max") else value + 0.01
    failed = gate([path], GateBounds(**{bound: beyond}))
    assert (failed.verdict, failed.exit_code) == (Verdict.FAIL, 1)
    assert failed.outcomes[0].line.startswith("FAIL         --" + bound.replace("_", "-"))
    assert str(path) in failed.outcomes[0].line


def test_what_failed_to_be_measured_is_never_a_pass(folder):
    # 100 measured at 0.6; with 20 failed the mean lies between 0.5 and 0.667.
    path = folder(audit=changed(AUDIT, entities__failed=20))
    assert gate([path], GateBounds(min_mean_rps=0.5)).exit_code == 0
    assert gate([path], GateBounds(min_mean_rps=0.55)).exit_code == 2
    assert gate([path], GateBounds(min_mean_rps=0.61)).exit_code == 2, "the failed might be good"
    assert gate([path], GateBounds(min_mean_rps=0.7)).exit_code == 1, "not even then"
    # Low RPS: 10 of 100; with the failed ones 10 to 30 of 120.
    assert gate([path], GateBounds(max_low_rps_share=0.25)).exit_code == 0
    assert gate([path], GateBounds(max_low_rps_share=0.2)).exit_code == 2
    assert gate([path], GateBounds(max_low_rps_share=0.08)).exit_code == 1
    broken = folder(exposure=changed(EXPOSURE, probes_failed=100))
    assert gate([broken], GateBounds(min_self_retrieval=0.7)).exit_code == 2


def test_a_failed_check_decides_over_one_that_was_not_measured(folder):
    path = folder(audit=AUDIT)
    both = gate([path], GateBounds(min_mean_rps=0.9, min_recall=0.5))
    assert [o.verdict for o in both.outcomes] == [Verdict.FAIL, Verdict.NOT_MEASURED]
    assert both.exit_code == 1
    assert gate([path], GateBounds(min_mean_rps=0.5, min_recall=0.5)).exit_code == 2


def test_no_share_no_check_and_an_empty_folder_are_refused(folder, tmp_path):
    for value in (10, -0.1, float("nan")):
        with pytest.raises(InputError, match="expected a number from 0 to 1"):
            GateBounds(max_low_rps_share=value)
    with pytest.raises(InputError, match="no check; expected at least one bound"):
        gate([folder(audit=AUDIT)], GateBounds())
    with pytest.raises(InputError, match=r"no summary\.json in it"):
        gate([tmp_path], GateBounds(min_ndcg=0.5))
