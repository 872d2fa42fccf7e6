import json
import shutil

import pytest

import argus
from argus.errors import InputError
from argus.evaluation.history import MAX_RESAMPLED, Pairs, paired
from argus.reports.html import write_report
from tests.runs.test_record import LOST, expose, two  # noqa: F401


def test_what_changed_is_told_with_a_test_and_by_name(two):  # noqa: F811
    (change,) = argus.history([two]).summary["changes"]
    assert (change["before"], change["after"], change["settings"]) == (1, 2, [])
    by_name = {figure["figure"]: figure for figure in change["figures"]}
    figure = by_name["ever retrieved"]
    assert figure["verdict"] == "worse" and figure["test"]["harmed"] == len(LOST)
    assert {item["id"] for item in figure["worse"]} == set(LOST)
    assert figure["common"] == 40 and not figure["better"]
    lines = "\n".join(argus.history([two]).headline())
    assert "worse" in lines and "exposure, run 1 to run 2" in lines


def test_runs_are_chosen_by_their_numbers(two):  # noqa: F811
    (change,) = argus.history([two], before=2, after=1).summary["changes"]
    assert {f["verdict"] for f in change["figures"]} == {"better"}
    with pytest.raises(InputError, match="no run 9"):
        argus.history([two], before=1, after=9)


def test_a_clock_that_runs_backwards_changes_no_order(two):  # noqa: F811
    record = two / "history" / "000002-exposure" / "run.json"
    content = json.loads(record.read_text())
    record.write_text(json.dumps(content | {"finished": "1999-01-01T00:00:00+00:00"}))
    result = argus.history([two])
    assert [run["number"] for run in result.summary["runs"]] == [1, 2]
    assert [run["clock_ran_back"] for run in result.summary["runs"]] == [False, True]
    assert "the clock ran back" in "\n".join(result.headline())


def test_runs_without_a_common_document_are_not_compared(two):  # noqa: F811
    import pyarrow as pa
    import pyarrow.parquet as pq

    items = two / "history" / "000001-exposure" / "items.parquet"
    table = pq.read_table(items)
    others = pa.array([f"other-{id_}" for id_ in table["id"].to_pylist()])
    pq.write_table(table.set_column(0, "id", others), items)
    assert argus.history([two]).summary["changes"] == []
    with pytest.raises(InputError, match="no documents in common"):
        argus.history([two], before=1, after=2)


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_folder_without_runs_is_refused(tmp_path, name):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no such folder|no run in it"):
        argus.history([tmp_path / name])


def test_runs_that_are_all_damaged_are_named(two):  # noqa: F811
    for run in (two / "history").glob("*/run.json"):
        run.write_text("{")
    damaged = r"none of its 2 runs can be read: 000001-exposure, 000002-exposure; .+ argus report"
    for folder in (two, two / "history"):
        with pytest.raises(InputError, match=damaged):
            argus.history([folder])
    for run in (two / "history").iterdir():
        shutil.rmtree(run)
    write_report(two)
    assert len(argus.history([two]).summary["runs"]) == 1


def test_pairs_tell_what_failed_what_is_gone_and_what_is_new():
    pairs = Pairs.of(
        {"a": 1.0, "b": 0.5, "c": 1.0, "n": None}, {"a": 0.0, "b": None, "n": 1.0, "d": 1.0}
    )
    assert (pairs.before, pairs.after) == ({"a": 1.0}, {"a": 0.0})
    assert (pairs.failed, pairs.only_before, pairs.only_after) == (("b",), 1, 2)
    worst = pairs.with_failed({"a": 1.0, "b": 0.5})
    assert worst.after == {"a": 0.0, "b": 0.0} and worst.before["b"] == 0.5


def test_of_many_items_students_t_agrees_with_resampling():
    before = {f"d{i}": float(i % 3 > 0) for i in range(MAX_RESAMPLED)}
    after = {id_: float(i % 7 > 0) * value for i, (id_, value) in enumerate(before.items())}
    slow = paired(before, after)
    before["last"], after["last"] = 1.0, 1.0
    fast = paired(before, after)
    assert (slow.exact, fast.exact) == (False, False) and fast.verdict == slow.verdict == "worse"
    assert fast.low == pytest.approx(slow.low, abs=5e-4)
    assert fast.high == pytest.approx(slow.high, abs=5e-4)


def test_a_loss_of_everything_is_worse_however_many_the_items():
    before = {f"d{i}": 1.0 for i in range(MAX_RESAMPLED + 1)}
    change = paired(before, dict.fromkeys(before, 0.0))
    assert change.verdict == "worse" and change.p_value < 1e-9
    assert change.no_interval == "every query changed by the same amount"
