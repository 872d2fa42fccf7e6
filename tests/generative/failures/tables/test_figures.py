import json
import random
from typing import Any

import pyarrow as pa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.generative.failures.measures import COLUMNS
from argus.generative.failures.tables import declared, figures
from tests.support.draws import examples

CHOICES = {
    "outcome": ["PP", "PN", "NP", "NN"],
    "answer_outcome": ["hit", "unannotated", "absent"],
    "judged": ["YES", "PARTIAL", "NO", "failed"],
}
ZERO_OR_ONE = ("hit", "answer_hit", "answer_ngram", "gold_holds", "gold_adjacent")


def made_up(n: int, seed: int, missing: float) -> pa.Table:
    """Rows of random values in every column, some of them missing."""
    rng = random.Random(seed)

    def value(name: str, kind: pa.DataType) -> Any:
        if rng.random() < missing:
            return None
        if kind == pa.string():
            return rng.choice(CHOICES.get(name, ["some", "text"]))
        if kind == pa.int64():
            return rng.randint(0, 1) if name.startswith(ZERO_OR_ONE) else rng.randint(1, 30)
        return rng.random()

    columns = {
        name: pa.array([value(name, kind) for _ in range(n)], kind)
        for name, kind in COLUMNS.items()
    }
    columns["query_id"] = pa.array([f"q{i}" for i in range(n)])
    return pa.table(columns)


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.integers(0, 40), st.integers(0, 99), st.sampled_from([0.0, 0.3, 1.0]))
def test_the_order_of_rows_changes_nothing_and_all_is_plain_json(n, seed, missing):
    table = made_up(n, seed, missing)
    found = figures(table, k=10, seed=0)
    shuffled = table.take(pa.array(random.Random(seed).sample(range(n), n), pa.int64()))
    assert figures(shuffled, k=10, seed=0) == found
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    for shown in declared()["table"]:
        made = found[shown.section][shown.name]
        assert ("not_applicable" in made) ^ (made.get("n", 0) > 0), shown.name
        for row in made.get("rows", []):
            assert len(row) == len(made["columns"]), shown.name
