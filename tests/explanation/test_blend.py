"""Compare each part of a blend with a search without that part."""

from __future__ import annotations

from dataclasses import replace

import pytest

from argus.data.types import Query
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause
from argus.explanation.job import explain
from argus.indexes.blend import Blend
from argus.indexes.retriever import IndexRetriever
from tests.support.blended import REMEDY, blended_index, queries

N = 60


@pytest.fixture(scope="module", params=["dense", None], ids=["dense", "fused"])
def blended(request, tmp_path_factory):
    """An index with a blend and a correction, searched by vectors alone or fused with BM25."""
    folder = tmp_path_factory.mktemp("blend")
    retriever = blended_index(folder / "index", N, Blend(), corrects=True)
    return IndexRetriever(retriever.index, retriever.encoder, hybrid=request.param)


def rank_in(retriever, query, document):
    ranked = list(retriever.search([query], N)["query"])
    return ranked.index(document) + 1 if document in ranked else None


def test_ranks_without_a_part_are_those_of_such_a_search(blended, of):
    blend = Blend()
    cases = [(Query("query", q.text), f"d{7 * i:03}") for i, q in enumerate(queries(4))]
    explained = [explain(q.text, d, blended, ExplainConfig(k=5)) for q, d in cases]
    others = {
        "sentences": (replace(blend, weight=1), True, blended.hybrid),
        "correction": (blend, False, blended.hybrid),
        "bm25": (blend, True, "dense"),
    }
    expected = {}
    for part, (other, corrects, hybrid) in others.items():
        blended.index.prescribe(REMEDY, blend=other, corrects=corrects)
        without = IndexRetriever(blended.index, blended.encoder, hybrid=hybrid or "dense")
        expected[part] = [rank_in(without, q, d) for q, d in cases]
    blended.index.prescribe(REMEDY, blend=blend, corrects=True)
    for i, ((query, document), explanation) in enumerate(zip(cases, explained, strict=True)):
        evidence = of(explanation, Cause.BLEND).evidence
        assert evidence["rank"] == rank_in(blended, query, document) == explanation.standing.rank
        parts = {"sentences", "correction"} | ({"bm25"} if blended.hybrid else set())
        assert evidence["rank_without"] == {part: expected[part][i] for part in parts}
