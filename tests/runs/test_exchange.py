import pytest

import argus
from argus.errors import InputError
from tests.runs.test_record import expose


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("exchange") / "out"
    expose(out, lost=["elm-mill"])
    return argus.runs_of(out)["exposure"]


def test_scores_go_to_mlflow_and_come_back(run):
    scores = argus.to_mlflow(run)
    assert scores["metrics"]["exposure/ever retrieved"] == pytest.approx(39 / 40)
    assert scores["params"]["k"] == "5" and scores["tags"]["argus.job"] == "exposure"
    assert argus.from_mlflow({"data": {"metrics": scores["metrics"]}}) == scores["metrics"]
    rows = [{"key": k, "value": v, "timestamp": 1, "step": 0} for k, v in scores["metrics"].items()]
    older = [{"key": k, "value": 0.0, "step": -1} for k in scores["metrics"]]
    assert argus.from_mlflow({"run": {"data": {"metrics": rows + older}}}) == scores["metrics"]


def test_names_hold_only_what_mlflow_allows():
    record = {
        "job": "evaluation",
        "number": 1,
        "argus": "0",
        "corpus": None,
        "encoder": None,
        "key": "",
        "started": "",
        "finished": "",
        "settings": {},
        "means": {"nDCG@10": 0.5},
    }
    scores = argus.to_mlflow(argus.JobRun(record, None))
    assert scores["metrics"] == {"evaluation/nDCG_at_10": 0.5}


def test_scores_go_to_langfuse_and_come_back(run):
    rows = argus.to_langfuse(run)
    back = argus.from_langfuse(rows)
    assert back["ever retrieved"]["elm-mill"] == 0
    assert back == {name: dict(values) for name, values in run.items.items()}


def test_booleans_count_and_categories_do_not():
    rows = [
        {"name": "ok", "value": 1, "dataType": "BOOLEAN", "traceId": "t"},
        {"name": "tone", "stringValue": "kind", "dataType": "CATEGORICAL", "traceId": "t"},
    ]
    assert argus.from_langfuse(rows) == {"ok": {"t": 1.0}}


@pytest.mark.parametrize(
    "row",
    [
        {"value": 1, "traceId": "t"},
        {"name": "a", "value": 1},
        {"name": "a", "value": "high", "traceId": "t"},
        {"name": "a", "value": float("nan"), "traceId": "t"},
        {"name": "a", "value": 10**400, "traceId": "t"},
    ],
)
def test_rows_that_are_no_scores_are_refused(row):
    with pytest.raises(InputError):
        argus.from_langfuse([row])


@pytest.mark.parametrize(
    "run",
    [
        *({}, {"data": 7}, {"data": {"metrics": [7]}}, {"metrics": {"a": "b"}}),
        {"metrics": {"a": 10**400}},
        {"metrics": [{"key": "a", "value": 10**400, "step": 1}]},
        {"metrics": [{"key": "a", "value": 1.0, "step": float("inf")}]},
    ],
)
def test_what_is_no_run_of_mlflow_is_refused(run):
    with pytest.raises(InputError):
        argus.from_mlflow(run)
