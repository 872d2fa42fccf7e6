"""Compare each part of a blend with a search without that part."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from argus.cli.explain import describe
from argus.data.types import Query, View
from argus.explanation.config import ExplainConfig
from argus.explanation.evidence import Cause, Verdict
from argus.explanation.job import explain
from argus.indexes.blend import Blend
from argus.indexes.recipe import DocumentNumbers
from argus.indexes.retriever import IndexRetriever
from argus.indexes.views import ViewIndex
from tests.support.blended import REMEDY, UnitWords, blended_index, queries

N = 60


@pytest.fixture(scope="module", params=["dense", None], ids=["dense", "fused"])
def blended(request, tmp_path_factory):
    """An index with a blend and a correction, searched by vectors alone or fused with BM25."""
    folder = tmp_path_factory.mktemp("blend")
    retriever = blended_index(folder / "index", N, Blend(hubs=0.5), corrects=True)
    return IndexRetriever(retriever.index, retriever.encoder, hybrid=request.param)


def rank_in(retriever, query, document):
    ranked = list(retriever.search([query], N)["query"])
    return ranked.index(document) + 1 if document in ranked else None


def test_ranks_without_a_part_are_those_of_such_a_search(blended, of):
    blend = Blend(hubs=0.5)
    cases = [(Query("query", q.text), f"d{7 * i:03}") for i, q in enumerate(queries(4))]
    explained = [explain(q.text, d, blended, ExplainConfig(k=5)) for q, d in cases]
    others = {
        "sentences": (replace(blend, weight=1), True, blended.hybrid),
        "hubs": (replace(blend, hubs=0), True, blended.hybrid),
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
        parts = {"sentences", "hubs", "correction"} | ({"bm25"} if blended.hybrid else set())
        assert evidence["rank_without"] == {part: expected[part][i] for part in parts}


def test_parts_add_up_to_the_score_of_a_search(blended, of):
    for query, document in zip(queries(4), ("d003", "d020", "d033", "d051"), strict=True):
        evidence = of(explain(query.text, document, blended), Cause.BLEND).evidence
        dense = IndexRetriever(blended.index, blended.encoder, hybrid="dense")
        scores = dense.search([query], N)[query.id]
        fused = blended.search([query], N)[query.id]
        rival = next(d for d in list(fused)[9:] if d != document)
        assert evidence["rival"]["id"] == rival
        for parts, id_ in ((evidence["document"], document), (evidence["rival"], rival)):
            score = parts["own"] + parts["sentences_add"] - parts["hubness_takes"]
            assert score == pytest.approx(scores[id_], abs=2e-4)
            assert parts["hubness_takes"] == pytest.approx(0.5 * parts["hubness"], abs=1e-4)
            if blended.hybrid:
                assert parts["vectors_scaled"] + parts["bm25_adds"] == pytest.approx(
                    fused[id_], abs=2e-4
                )
        hubness = blended.index.snapshot().hubness
        assert evidence["median_hubness"] == pytest.approx(float(np.median(hubness)), abs=1e-4)


def made(folder, hubness, blend):
    """Twelve documents about steam of whom one says something else in its second sentence."""
    encoder, index = UnitWords(), None
    texts = {f"d{i:02}": f"steam engine number {['one', 'two', 'three', 'four'][i % 4]} valve"
             for i in range(12)}  # fmt: skip
    texts["odd"] = "flour oven bread seed field"
    index = ViewIndex.create(folder, fingerprint=encoder.fingerprint, dim=encoder.dim)
    own = [View(i, i, "original", text) for i, text in texts.items()]
    index.add(own, encoder.encode_documents([view.text for view in own]))
    views = [View(f"{i}#{REMEDY}-0", i, "sentence", text) for i, text in texts.items()]
    views.append(View(f"odd#{REMEDY}-1", "odd", "sentence", "steam engine valve"))
    index.add(views, encoder.encode_documents([view.text for view in views]), remedy=REMEDY)
    home = index.path / "remedies" / REMEDY
    home.mkdir(parents=True)
    DocumentNumbers(list(texts), np.array([hubness.get(i, 0.1) for i in texts], np.float32)).save(
        home
    )
    index.prescribe(REMEDY, blend=blend)
    return IndexRetriever(index, encoder)


QUESTION = "steam engine valve"


def test_hubness_that_keeps_a_document_out_is_the_cause(tmp_path, of):
    retriever = made(tmp_path / "index", {"d04": 0.9}, Blend(hubs=1.0, bm25=0))
    found = explain(QUESTION, "d04", retriever)
    finding = of(found, Cause.BLEND)
    assert found.cause is Cause.BLEND and finding.state is Verdict.FOUND and finding.decisive
    assert "hubness keeps it out" in found.verdict and "--hubs" in finding.advice
    assert finding.evidence["rank_without"]["hubs"] <= 10 < finding.evidence["rank"]
    assert (
        finding.evidence["document"]["hubness"] == 0.9 and finding.evidence["median_hubness"] == 0.1
    )


def test_a_sentence_that_lifts_a_document_is_named(tmp_path, of):
    retriever = made(tmp_path / "index", {}, Blend(weight=0.0, hubs=0, bm25=0))
    found = explain(QUESTION, "odd", retriever, ExplainConfig(k=3))
    finding = of(found, Cause.BLEND)
    assert found.came_back and finding.state is Verdict.RULED_OUT
    assert "its sentences lift it to 1: without, rank 13" in finding.summary
    parts = finding.evidence["document"]
    assert parts["sentence"] == "odd#blend-1-1" and parts["sentence_text"] == QUESTION
    lines = "\n".join(describe(found))
    assert "its best sentence is odd#blend-1-1 (1.0000, 'steam engine valve')" in lines


def test_what_a_wrong_vector_costs_is_reckoned_by_the_blend(tmp_path, of):
    retriever = made(tmp_path / "index", {}, Blend(hubs=0.3, bm25=0))
    wrong = UnitWords().encode_documents(["storm cloud"])
    retriever.index.delete_documents(["d04"])
    retriever.index.add([View("d04", "d04", "original", "steam engine number one valve")], wrong)
    found = explain(QUESTION, "d04", retriever, ExplainConfig(k=5))
    evidence = of(found, Cause.VECTOR).evidence
    snapshot = retriever.index.snapshot()
    at, own = snapshot.positions(["d04"])[0], evidence["score_with_its_own_vector"]
    scores = snapshot.document_scores(UnitWords().encode_queries([QUESTION]))[0]
    mended = own - 0.3 * float(snapshot.hubness[at])
    others = np.delete(scores, at)
    assert evidence["rank_with_its_own_vector"] == 1 + int((others > mended).sum())
