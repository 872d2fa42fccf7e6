from copy import copy

import pytest

from argus.data.types import Document, State
from argus.encoders.models import OnnxEncoder
from argus.errors import EncodingError
from argus.knowledge.gazetteer import CapitalisedNames, Gazetteer
from argus.remedies.diagnosis import diagnose_documents
from tests.support.diagnosing import by_entity, surfaces, titled


class Picky(OnnxEncoder):
    """The real model, refusing mentions that begin at or behind a place."""

    refused_from = 10

    def encode_spans(self, texts, spans):
        if any(span.start >= self.refused_from for span in spans):
            raise EncodingError("the mention is not to its taste", retryable=False)
        return super().encode_spans(texts, spans)


# ---- spans to scores -----------------------------------------------------------------------------


def test_a_real_corpus_is_scored_as_mention_by_mention(wiki2, minilm, probe, store):
    documents = wiki2[:30]
    finder = Gazetteer.from_documents(wiki2)
    found = diagnose_documents(documents, finder, minilm, store, probe)
    expected = {}
    for document in documents:
        for mention in next(finder.find([document.content])):
            vector = minilm.encode_spans([document.content], [mention.span])
            rps = float(probe.estimate(vector)[0])
            expected.setdefault((document.id, " ".join(mention.surface.split())), []).append(
                (mention.span, rps)
            )
    assert list(by_entity(found)) == list(expected)
    assert len(expected) > 40 and any(len(at) > 1 for at in expected.values())
    for key, risk in by_entity(found).items():
        assert risk.spans == tuple(span for span, _ in expected[key])
        assert risk.rps == pytest.approx(min(rps for _, rps in expected[key]), abs=1e-5)
        assert (risk.state, risk.reason) == (State.MEASURED, "")


SEAMS = [
    Document("a", "Bern lies on the Aare. Rain fell, and rain came.", "Doc 0"),
    Document("b", "Rain fell on Thun.", "Doc 1"),
    Document("c", "York is a city.", "New"),
    Document("d", "It is a river.", "Aare"),
    Document("e", "Bern is a city."),
]


@pytest.mark.parametrize("read_back", [False, True], ids=["a corpus", "an index"])
def test_no_mention_runs_from_the_title_into_the_text(minilm, probe, store, read_back):
    """An index gives documents back with title and text in one, and the title."""
    documents = [Document(d.id, d.content, d.title) for d in SEAMS] if read_back else SEAMS
    contents = {d.id: d.content for d in SEAMS}
    found = diagnose_documents(documents, CapitalisedNames(), minilm, store, probe)
    for one in found.risks:
        assert set(surfaces(one, contents[one.doc_id])) == {one.entity}
    assert list(by_entity(found)) == [
        ("a", "Doc 0"), ("a", "Bern"), ("a", "Aare"),
        ("b", "Doc 1"), ("b", "Thun"),  # "Rain" is a common word of another document
        ("c", "New"), ("c", "York"),
        ("d", "Aare"),
        ("e", "Bern"),
    ]  # fmt: skip
    linked = diagnose_documents(documents, titled("New York", "York", "Bern"), minilm, store, probe)
    assert [(r.doc_id, r.entity, r.entity_ids) for r in linked.risks] == [
        ("a", "Bern", ("p2",)), ("c", "York", ("p1",)), ("e", "Bern", ("p2",)),
    ]  # fmt: skip
    assert surfaces(linked.risks[1], contents["c"]) == ["York"]


# ---- states and reasons --------------------------------------------------------------------------


def test_a_failed_occurrence_leaves_the_others_scored(minilm, probe, store):
    picky = copy(minilm)
    picky.__class__ = Picky
    text = "Bern, or: Bern and Bern"
    [risk] = diagnose_documents([Document("d", text)], titled("Bern"), picky, store, probe).risks
    assert risk.state is State.MEASURED and len(risk.spans) == 3
    assert risk.reason == "2 of 3 occurrences: the mention is not to its taste"
    first = probe.estimate(minilm.encode_spans([text], risk.spans[:1]))[0]
    assert risk.rps == pytest.approx(first, abs=1e-5)
