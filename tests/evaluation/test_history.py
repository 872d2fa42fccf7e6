import pytest

import argus
from argus.errors import InputError
from argus.evaluation.history import MAX_RESAMPLED, paired
from tests.runs.test_record import LOST, expose, two  # noqa: F401


def test_what_changed_is_told_with_a_test_and_by_name(two):  # noqa: F811
    (change,) = argus.history([two]).summary["changes"]
    assert (change["before"], change["after"], change["settings"]) == (1, 2, [])
    by_name = {figure["figure"]: figure for figure in change["figures"]}
    figure = by_name["ever retrieved"]
    assert figure["verdict"] == "worse" and figure["test"]["harmed"] == len(LOST)
    assert {item["id"] for item in figure["worse"]} == set(LOST)
    assert figure["common"] == 40 and not figure["better"]


def test_runs_without_a_common_document_are_not_compared(two, tmp_path):  # noqa: F811
    import pyarrow as pa
    import pyarrow.parquet as pq

    items = two / "history" / "000001-exposure" / "items.parquet"
    table = pq.read_table(items)
    others = pa.array([f"other-{id_}" for id_ in table["id"].to_pylist()])
    pq.write_table(table.set_column(0, "id", others), items)
    assert argus.history([two]).summary["changes"] == []
    with pytest.raises(InputError, match="no such folder"):
        argus.history([tmp_path / "none"])


def test_of_many_items_students_t_agrees_with_resampling():
    before = {f"d{i}": float(i % 3 > 0) for i in range(MAX_RESAMPLED)}
    after = {id_: float(i % 7 > 0) * value for i, (id_, value) in enumerate(before.items())}
    slow = paired(before, after)
    before["last"], after["last"] = 1.0, 1.0
    fast = paired(before, after)
    assert (slow.exact, fast.exact) == (False, False) and fast.verdict == slow.verdict == "worse"
    assert fast.low == pytest.approx(slow.low, abs=5e-4)
    assert fast.high == pytest.approx(slow.high, abs=5e-4)
