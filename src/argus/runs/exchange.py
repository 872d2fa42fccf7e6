"""Scores as MLflow and Langfuse know them: plain dictionaries, no package of theirs needed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

from typing_extensions import TypedDict

from argus.errors import InputError
from argus.runs.run import JobRun

Scores = dict[str, dict[str, float]]
"""By figure, each item's value."""


class MlflowRun(TypedDict):
    """What `mlflow.log_metrics`, `log_params` and `set_tags` take."""

    metrics: dict[str, float]
    params: dict[str, str]
    tags: dict[str, str]


class LangfuseScore(TypedDict, total=False):
    """One score, as the body of `POST /api/public/scores` and of an export has it."""

    name: str
    value: float
    dataType: str
    traceId: str
    comment: str


def to_mlflow(run: JobRun) -> MlflowRun:
    """Return a run's means, settings and origin for MLflow; names hold only what it allows."""
    record = run.record
    tags = {"argus.job": run.job, "argus.version": record["argus"]}
    for name in ("encoder", "corpus"):
        if record[name]:
            tags[f"argus.{name}"] = str(record[name])
    return {
        "metrics": {f"{run.job}/{_plain(n)}": value for n, value in record["means"].items()},
        "params": {n: str(v) for n, v in record["settings"].items() if v is not None},
        "tags": tags,
    }


def from_mlflow(run: Mapping[str, Any]) -> dict[str, float]:
    """Return the metrics of an MLflow run: `Run.to_dictionary()`, or the answer of its REST API.

    Of a metric that was logged several times the last step counts. Raises InputError for anything
    that is no such dictionary.
    """
    data = run.get("run", run)
    data = data.get("data", data) if isinstance(data, Mapping) else {}
    metrics = data.get("metrics") if isinstance(data, Mapping) else None
    if isinstance(metrics, Mapping):
        return {str(n): _number(v, str(n)) for n, v in metrics.items()}
    if not isinstance(metrics, list):
        raise _foreign(run, "an MLflow run: data.metrics, an object or a list of key and value")
    try:
        rows = sorted(metrics, key=lambda row: int(row.get("step") or 0))
        return {str(row["key"]): _number(row["value"], str(row["key"])) for row in rows}
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise _foreign(run, "an MLflow run: metrics with key, value and step") from error


def to_langfuse(run: JobRun) -> list[LangfuseScore]:
    """Return a score per figure and item that was measured; `traceId` is the item's id."""
    comment = f"argus {run.job}, run {run.record['number']}"
    return [
        {
            "name": name, "value": value, "dataType": "NUMERIC", "traceId": item,
            "comment": comment,
        }
        for name, values in run.items.items()
        for item, value in values.items()
        if value is not None
    ]  # fmt: skip


def from_langfuse(scores: Iterable[Mapping[str, Any]]) -> Scores:
    """Return scores by name and trace. Booleans count 0 and 1; categories are left out.

    Of several scores of one name and trace the last counts. Raises InputError for a row without
    name, or without a trace.
    """
    out: Scores = {}
    for row in scores:
        kind = str(row.get("dataType", "NUMERIC")).upper()
        if kind == "CATEGORICAL":
            continue
        item = row.get("traceId") or row.get("trace_id")
        if not row.get("name") or not item:
            raise _foreign(row, "a score of Langfuse: name, value, traceId")
        name = str(row["name"])
        out.setdefault(name, {})[str(item)] = _number(row.get("value"), name)
    return out


def _plain(name: str) -> str:
    """Return a name of letters, digits, and what else MLflow allows."""
    return re.sub(r"[^\w\-./ ]", "_", name.replace("@", "_at_"))


def _number(value: object, name: str) -> float:
    try:
        number = float(value) if isinstance(value, int | float) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _foreign({name: value}, "a finite number")
    return number


def _foreign(value: object, expected: str) -> InputError:
    return InputError(
        str(value)[:80], expected=expected, fix="Export it again, as it is.", where="scores"
    )
