"""The gate on what a store brings back of itself."""

from __future__ import annotations

import copy
import json

import pytest

from argus.evaluation.gate import GateBounds, Verdict, gate
from argus.reach import reach
from tests.support.stores import N, lancedb


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("reach")
    store = lancedb(home / "store")
    reach(store.spec, out=home / "out")
    return home / "out"


def outcome(folder, **bound):
    (one,) = gate([folder], GateBounds(**bound)).outcomes
    return one


def test_a_store_that_finds_all_its_records_passes(folder):
    unreachable = outcome(folder, max_unreachable_share=0.0)
    assert (unreachable.verdict, unreachable.value) == (Verdict.PASS, 0)
    assert unreachable.detail.endswith(f"in the top 10, {N} records")
    recall = outcome(folder, min_index_recall=1.0)
    assert (recall.verdict, recall.value) == (Verdict.PASS, 1)


def test_lost_and_broken_records_count_alike(folder, tmp_path):
    sections = json.loads((folder / "summary.json").read_text())
    section = copy.deepcopy(sections["reach"])
    section["reached"] |= {"asked": 40, "reached": 38, "share": 0.95}
    section |= {"reachable": 50, "broken": {"no vector": 10}, "recall": None}
    (tmp_path / "summary.json").write_text(json.dumps({"reach": section}))
    unreachable = outcome(tmp_path, max_unreachable_share=0.1)
    assert unreachable.value == pytest.approx((10 + 50 * 0.05) / 60)
    assert unreachable.verdict is Verdict.FAIL and "; 40 of them were asked" in unreachable.detail
    assert outcome(tmp_path, min_index_recall=0.5).verdict is Verdict.NOT_MEASURED
    section["reached"] |= {"asked": 0, "reached": 0, "share": 0.0}
    (tmp_path / "summary.json").write_text(json.dumps({"reach": section}))
    assert outcome(tmp_path, max_unreachable_share=1).verdict is Verdict.NOT_MEASURED
    section["reached"]["share"] = "all"
    section["reached"]["asked"] = 1
    (tmp_path / "summary.json").write_text(json.dumps({"reach": section}))
    wrong = outcome(tmp_path, max_unreachable_share=1)
    assert wrong.verdict is Verdict.NOT_MEASURED and "reached.share" in wrong.detail


def test_recall_of_real_queries_comes_first(folder, tmp_path):
    section = json.loads((folder / "summary.json").read_text())["reach"]
    section["recall_of_queries"] = {"queries": 7, "recall": 0.5, "low": 0.3, "high": 0.7}
    (tmp_path / "summary.json").write_text(json.dumps({"reach": section}))
    one = outcome(tmp_path, min_index_recall=0.6)
    assert (one.value, one.verdict) == (0.5, Verdict.FAIL) and one.detail.endswith("7 queries")
