"""The demo's information needs, on a draw of its documents, by a real encoder."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from argus.data.types import Document, Query
from argus.indexes.job import build_index
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from argus.knowledge.stdlib import standard_library, standard_scenarios
from argus.measures import evaluate
from argus.remedies.undo import rollback
from argus.scenarios.adapt.config import AdaptConfig
from argus.scenarios.adapt.job import adapt_index
from argus.scenarios.files import read_fields

CONFIG = replace(AdaptConfig(), folds=3, epochs=12)


@pytest.mark.campaign
def test_needs_of_two_thirds_bring_back_the_others(minilm, tmp_path):
    base = standard_library()
    rows = standard_scenarios(base)
    rows = [rows[i] for i in np.random.default_rng(0).permutation(len(rows))]
    documents = [
        Document(row["_id"], base.entities[base.index[row["_id"]]].paragraph, row["_id"])
        for row in rows
    ]
    build_index(documents, out=tmp_path / "ix", encoder=minilm)
    learnt, others = rows[:330], rows[330:]
    needs = [
        Query(f"{row['_id']}/{i}", scenario["information_need"])
        for row in others
        for i, scenario in enumerate(row["scenarios"])
    ]
    qrels = {need.id: {need.id.rpartition("/")[0]: 1} for need in needs}

    def mrr():
        run = IndexRetriever(ViewIndex.open(tmp_path / "ix"), minilm).search(needs, 100)
        return evaluate(run, qrels, ["RR"]).aggregate["RR"]

    before = mrr()
    result = adapt_index(
        tmp_path / "ix", encoder=minilm, config=CONFIG,
        profiles={row["_id"]: read_fields(row["_id"], row) for row in learnt},
    )  # fmt: skip
    assert result.summary["prescribed"] and result.summary["learnt"]["held_out"]["low"] > 0
    assert mrr() > before + 0.01
    rollback(tmp_path / "ix", result.remedy)
    assert mrr() == before
