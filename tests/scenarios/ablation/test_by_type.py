"""Types of documents in a grid whose values are made: which λ is recommended, and when."""

import numpy as np
import pytest

from argus.data.types import Document
from argus.measures import Evaluation
from argus.measures.slices import slicings
from argus.scenarios.ablation.findings import AblateConfig, Ablation, compare_types
from argus.scenarios.ablation.grid import Cell
from argus.scenarios.profile import Component

N = 30
CELLS = [Cell(c, w) for c in (Component.ME, Component.I) for w in (0.5, 0.7, 0.9)]
IDS = [f"{kind}{i}" for kind in ("prose", "math") for i in range(N)] + ["none", "both"]
KINDS = {"none": None, "both": ["prose", "math"]}
DOCUMENTS = [
    Document(d, "text", metadata={"type": KINDS.get(d, d.rstrip("0123456789"))}) for d in IDS
]
GOLD = {f"q-{d}": [d] for d in IDS if d != "none"} | {"q-out": ["elsewhere"]}
# Of M+E; in mathematics 0.7 and 0.9 differ by noise alone.
GAINS = {"prose": {0.5: 0.3, 0.7: 0.1, 0.9: 0.0}, "math": {0.5: -0.1, 0.7: 0.1, 0.9: 0.1}}


def evaluation(value):
    values = {query: {"nDCG@10": value(query)} for query in sorted(GOLD)}
    return Evaluation({"nDCG@10": float(np.mean([v["nDCG@10"] for v in values.values()]))}, values)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    noise = {(q, c): rng.normal(0, 0.02) for q in sorted(GOLD) for c in CELLS}

    def of(cell):
        def value(query):
            kind = "math" if "math" in query else "prose"
            gain = GAINS[kind][cell.weight] if cell.component is Component.ME else 0.05
            return 0.4 + gain + noise[query, cell]

        return evaluation(value)

    config = AblateConfig(measures=("nDCG@10",), resamples=1000)
    ablation = Ablation(evaluation(lambda q: 0.4), {c: of(c) for c in CELLS}, config)
    slices = slicings(DOCUMENTS, ("type",))
    found = compare_types(ablation, slices, IDS, GOLD)
    return {row["type"]: row for row in found}


def test_a_question_is_of_the_types_of_its_documents(rows):
    assert {name: row["questions"] for name, row in rows.items()} == {
        "prose": N + 1, "math": N + 1, "(none)": 0
    }  # fmt: skip
    assert rows["prose"]["documents"] == N + 1 and rows["(none)"]["documents"] == 1


def test_means_are_those_of_the_types_own_questions(rows):
    cells = {(c["component"], c["lambda"]): c["mean"] for c in rows["prose"]["grid"]}
    assert cells["M+E", 0.5] == pytest.approx(0.7, abs=0.01)
    assert rows["prose"]["alone"] == pytest.approx(0.4)
    assert rows["prose"]["usual"]["mean_difference"] == pytest.approx(0.1, abs=0.01)
