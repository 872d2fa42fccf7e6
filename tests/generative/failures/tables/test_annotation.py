import pyarrow as pa
import pytest

from argus.generative.failures.measures import COLUMNS
from argus.generative.failures.tables import figures
from argus.measures.intervals import wilson

OUTCOMES = ["hit"] * 4 + ["unannotated"] * 5 + ["absent", None]
JUDGED = [None] * 4 + ["YES", "YES", "PARTIAL", "NO", "failed"] + [None, None]


def annotation(outcomes, verdicts):
    n = len(outcomes)
    columns = {
        "query_id": [f"q{i:02d}" for i in range(n)], "question": ["who?"] * n,
        "positives": [1] * n, "answer_hit_1": [0] * n, "answer_outcome": outcomes,
        "judged": verdicts,
    }  # fmt: skip
    table = pa.table({name: pa.array(v, COLUMNS[name]) for name, v in columns.items()})
    return figures(table, k=10, seed=0)["annotation"]


def test_adjusted_hits_add_verdicts():
    found = annotation(OUTCOMES, JUDGED)["t11_adjusted_hits"]
    assert found["n"] == 10
    made = {row[0]: row[1:] for row in found["rows"]}
    low, high = wilson(0.6, 10)
    assert made["hit_k"][:2] == [4, 0.4]
    assert made["yes"] == pytest.approx([6, 0.6, float(low), float(high)])
    assert made["yes_and_partial"][:2] == [7, 0.7]


def test_a_case_without_a_judge_is_counted_apart():
    found = annotation(["hit", "unannotated", "unannotated"], [None, "NO", None])
    assert found["t10_verdicts"]["rows"][-1][:2] == ["not_judged", 1]
    assert found["t11_adjusted_hits"]["rows"][1][1] == 1
