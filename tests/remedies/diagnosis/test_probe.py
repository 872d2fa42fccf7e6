"""The probe of a diagnosis, and encoders without token vectors."""

from dataclasses import replace

import pytest

from argus.data.types import Document, Span, State
from argus.remedies.diagnosis import diagnose_documents
from argus.retrievability.probes.probe import fit_domain
from tests.support.diagnosing import probe_for, titled

# ---- the probe -----------------------------------------------------------------------------------


def test_the_occurrences_within_the_region_decide(minilm, probe, store):
    text = "Bern is the capital city of Switzerland. int Bern = 0x7F;"
    spans = (Span(0, 4), Span(text.index("Bern", 5), text.index("Bern", 5) + 4))
    domain = fit_domain(minilm.encode_documents([f"Bern {i}" for i in range(12)]),
                        minilm.encode_spans([text], spans[:1]))  # fmt: skip
    inner, outer = domain.scores(minilm.encode_spans([text] * 2, spans))
    assert inner != outer
    narrow = replace(probe, domain=replace(domain, threshold=float((inner + outer) / 2)))
    [risk] = diagnose_documents([Document("d", text)], titled("Bern"), minilm, store, narrow).risks
    assert risk.spans == spans and risk.state is State.MEASURED
    assert risk.reason == "1 of 2 occurrences: beyond the probe's training region"
    inside = spans[0] if inner < outer else spans[1]
    expected = probe.estimate(minilm.encode_spans([text], [inside]))[0]
    assert risk.rps == pytest.approx(expected, abs=1e-5)


# ---- encoders that pool sentences ----------------------------------------------------------------


def test_without_token_vectors_a_document_gives_the_score(sentences, store):
    probe = probe_for(sentences)
    documents = [
        Document("a", "Bern lies on the Aare. Bern is old."),
        Document("b", "The Aare is a river."),
    ]
    found = diagnose_documents(documents, titled("Bern", "Aare"), sentences, store, probe)
    expected = probe.estimate(sentences.encode_documents([d.content for d in documents]))
    assert [risk.rps for risk in found.risks] == pytest.approx(
        [expected[0], expected[0], expected[1]], abs=1e-5
    )
    assert len(store) == 2, "one vector per document, however many mentions it has"
