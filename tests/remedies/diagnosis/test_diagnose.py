from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus.data.types import Document, Span, State
from argus.encoders import EmbeddingStore
from argus.encoders.sentence_transformer import SentenceTransformerEncoder
from argus.errors import EncodingError, InputError
from argus.knowledge.capitals import CapitalisedNames
from argus.knowledge.gazetteer import Gazetteer
from argus.remedies.diagnosis.config import TAU
from argus.remedies.diagnosis.diagnose import (
    Diagnosis,
    Risk,
    check_tau,
    diagnose_documents,
    find_mentions,
    predicted,
    share_below,
)
from tests.support.diagnosing import (
    by_entity,
    surfaces,
    titled,
)


class Picky(SentenceTransformerEncoder):
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
    repeated = [key for key, at in expected.items() if len(at) > 1]
    assert len(expected) > 40 and repeated
    for key, risk in by_entity(found).items():
        assert risk.spans == tuple(span for span, _ in expected[key])
        assert risk.rps == pytest.approx(min(rps for _, rps in expected[key]), abs=1e-5)
        assert (risk.state, risk.reason, risk.unread) == (State.MEASURED, "", 0)


def test_an_entity_takes_its_least_rps_and_is_flagged_once(minilm, probe, store):
    text = "Bern is a city. We ate well. They flew to Bern. The canton of Bern is large."
    document = Document("d", text)
    found = diagnose_documents([document], titled("Bern"), minilm, store, probe, tau=1.0)
    [risk] = found.risks
    assert surfaces(risk, text) == ["Bern"] * 3
    each = probe.estimate(minilm.encode_spans([text] * 3, risk.spans))
    assert len({round(rps, 4) for rps in each.tolist()}) == 3, "contexts differ, so do scores"
    assert risk.rps == pytest.approx(each.min(), abs=1e-5)
    assert found.flagged() == {"d": [risk]}


def test_the_same_entity_counts_once_in_every_document(minilm, probe, store):
    documents = [Document("a", "Bern lies on the Aare."), Document("b", "Bern is old.")]
    found = diagnose_documents(documents, titled("Bern", "Aare"), minilm, store, probe, tau=1.0)
    assert [(r.doc_id, r.entity) for r in found.risks] == [
        ("a", "Bern"), ("a", "Aare"), ("b", "Bern"),
    ]  # fmt: skip
    assert {doc_id: len(risks) for doc_id, risks in found.flagged().items()} == {"a": 2, "b": 1}


def test_white_space_in_a_surface_makes_no_difference(minilm, probe, store):
    text = "New York is loud. New\n  York is large. He left New\u00a0York."
    [risk] = diagnose_documents(
        [Document("d", text)], titled("New York"), minilm, store, probe
    ).risks
    assert risk.entity == "New York"
    assert surfaces(risk, text) == ["New York", "New\n  York", "New\u00a0York"]


def test_the_title_is_part_of_what_is_read(minilm, probe, store):
    document = Document("d", "It is a river.", "Aare")
    [risk] = diagnose_documents([document], titled("Aare"), minilm, store, probe).risks
    assert surfaces(risk, document.content) == ["Aare"] and risk.spans[0].start == 0


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
    documents = SEAMS
    if read_back:
        documents = [Document(d.id, d.content, d.title) for d in SEAMS]
    contents = {d.id: d.content for d in documents}
    assert contents == {d.id: d.content for d in SEAMS}
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


def test_a_name_that_the_text_itself_has_stays_whole(minilm, probe, store):
    document = Document("d", "New York is a city. New York is large.", "York")
    found = diagnose_documents([document], titled("New York", "York"), minilm, store, probe)
    assert {r.entity: len(r.spans) for r in found.risks} == {"York": 1, "New York": 2}
    possessive = Document("d", "Bern's bears, Bern-Belp.", "Bern")
    found = diagnose_documents([possessive], CapitalisedNames(), minilm, store, probe)
    assert [r.entity for r in found.risks] == ["Bern", "Bern-Belp"]


def test_what_found_the_names_and_what_it_left_out_is_kept(minilm, probe, store):
    finder = titled("Bern", "It", "!!!")
    found = diagnose_documents([Document("d", "Bern")], finder, minilm, store, probe)
    assert found.finder == finder.name
    assert found.left_out == {"too short": 1, "without a letter or digit": 1}
    assert diagnose_documents([], CapitalisedNames(), minilm, store, probe).left_out == {}


def test_entity_ids_are_those_that_bear_the_name_once_each(minilm, probe, store):
    finder = titled("Mercury (planet)", "Mercury (god)")
    [risk] = diagnose_documents(
        [Document("d", "Mercury, o Mercury!")], finder, minilm, store, probe
    ).risks
    assert risk.entity_ids == ("p0", "p1") and len(risk.spans) == 2


def test_other_documents_and_their_order_change_no_score(wiki2, minilm, probe, tmp_path):
    finder = Gazetteer.from_documents(wiki2)
    results = []
    for number, documents in enumerate((wiki2[:12], wiki2[11::-1], wiki2[3:4])):
        with EmbeddingStore(
            tmp_path / str(number), fingerprint=minilm.fingerprint, dim=minilm.dim
        ) as store:
            results.append(by_entity(diagnose_documents(documents, finder, minilm, store, probe)))
    forwards, backwards, alone = results
    assert forwards.keys() == backwards.keys() and alone.keys() <= forwards.keys()
    for key, risk in forwards.items():
        for other in (backwards, alone):
            if key in other:
                assert other[key].rps == pytest.approx(risk.rps, abs=1e-5)
                assert other[key].spans == risk.spans


# ---- states and reasons --------------------------------------------------------------------------


def test_a_failed_occurrence_leaves_the_others_scored(minilm, probe, store):
    picky = Picky(minilm.model, name=minilm.name)
    text = "Bern, or: Bern and Bern"
    [risk] = diagnose_documents([Document("d", text)], titled("Bern"), picky, store, probe).risks
    assert risk.state is State.MEASURED and len(risk.spans) == 3
    assert risk.reason == "2 of 3 occurrences: the mention is not to its taste"
    first = probe.estimate(minilm.encode_spans([text], risk.spans[:1]))[0]
    assert risk.rps == pytest.approx(first, abs=1e-5)


def test_an_entity_without_a_score_is_never_flagged(minilm, probe, store):
    picky = Picky(minilm.model, name=minilm.name)
    documents = [Document("a", "Bern is old."), Document("b", "In the city of Bern")]
    found = diagnose_documents(documents, titled("Bern"), picky, store, probe, tau=1.0)
    scored, lost = found.risks
    assert scored.state is State.MEASURED
    assert (lost.state, lost.rps) == (State.FAILED, None)
    assert lost.reason == "the mention is not to its taste"
    assert list(found.flagged()) == ["a"]
    assert predicted(found).tolist() == [scored.rps]


def test_a_mention_longer_than_the_window_is_failed(minilm, probe, store):
    name = " ".join(f"Saint{i}" for i in range(120))
    documents = [Document("a", f"The church of {name} is old."), Document("b", "Bern is old.")]
    lost, scored = diagnose_documents(documents, titled(name, "Bern"), minilm, store, probe).risks
    assert lost.state is State.FAILED and scored.state is State.MEASURED
    assert "tokens long; the model reads 254." in lost.reason


def test_different_reasons_are_all_told(minilm, probe, store):
    text = "Bern, or: Bern. " + "They walked on and on and talked of home. " * 12 + "Bern"
    spans = [text.index("Bern"), text.index("Bern", 5), text.rindex("Bern")]
    picky = Picky(minilm.model, name=minilm.name)
    picky.refused_from = spans[1]
    scores = probe.domain.scores(minilm.encode_spans([text], [Span(0, 4)]))
    nowhere = replace(probe, domain=replace(probe.domain, threshold=float(scores[0]) - 1))
    [risk] = diagnose_documents([Document("d", text)], titled("Bern"), picky, store, nowhere).risks
    assert risk.rps is None and risk.state is State.NOT_APPLICABLE
    assert risk.reason == "beyond the probe's training region; the mention is not to its taste"


def test_an_encoder_that_always_fails_stops_the_diagnosis(minilm, probe, store):
    picky = Picky(minilm.model, name=minilm.name)
    picky.refused_from = 0
    with pytest.raises(EncodingError, match="not to its taste"):
        diagnose_documents([Document("d", "Bern")], titled("Bern"), picky, store, probe)


# ---- the threshold -------------------------------------------------------------------------------


@pytest.mark.parametrize("tau", [float("nan"), float("inf"), -1, -1e-9, 1.0001, 2])
def test_a_threshold_that_is_no_share_is_refused_before_any_work(minilm, probe, store, tau):
    with pytest.raises(InputError) as refused:
        diagnose_documents([Document("d", "Bern")], titled("Bern"), minilm, store, probe, tau=tau)
    assert str(refused.value) == (
        f"--tau: τ={tau}; expected a number from 0 to 1, since RPS is a probability. "
        "Leave it out for 0.3."
    )
    assert len(store) == 0


def test_at_risk_is_below_the_threshold_and_not_at_it():
    risk = Risk("d", "Bern", (Span(0, 4),), (), 0.3, State.MEASURED)
    assert not risk.below(0.3) and risk.below(0.30001)
    assert not replace(risk, rps=None).below(1.0)
    assert TAU == 0.3, "ARGUS §4.1"
    for tau in (0, 1, 0.3):
        check_tau(tau)


@given(
    st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=20),
    st.floats(0, 1),
    st.one_of(st.none(), st.floats(0, 1)),
)
def test_the_share_below_is_that_of_the_measured(values, tau, other):
    risks = [
        Risk(str(i), "x", (Span(0, 1),), (), rps, State.FAILED if rps is None else State.MEASURED)
        for i, rps in enumerate(values)
    ]
    found = Diagnosis(risks, tau, len(risks))
    measured = [rps for rps in values if rps is not None]
    threshold = tau if other is None else other
    below = [rps for rps in measured if rps < threshold]
    share = share_below(found, other)
    assert share == (pytest.approx(len(below) / len(measured)) if measured else None)
    assert list(found.flagged()) == [
        str(i) for i, rps in enumerate(values) if rps is not None and rps < tau
    ]


# ---- names and characters ------------------------------------------------------------------------


def test_names_with_regex_characters_are_found_as_they_are(minilm, probe, store):
    text = "He wrote C++ (language) and a.b* with [x] and C++ but not aXbb, x or C."
    finder = titled("C++ (language)", "a.b*", "[x]", "(", "\\d+")
    risks = diagnose_documents([Document("d", text)], finder, minilm, store, probe).risks
    assert [risk.entity for risk in risks] == ["C++ (language)", "a.b*", "[x]", "C++"]
    for risk in risks:
        assert surfaces(risk, text) == [risk.entity] and risk.state is State.MEASURED


def test_spans_index_the_original_despite_case_folding(minilm, probe, store):
    text = "ﬁrst İSTANBUL, the STRASSE, a Straße, i̇stanbul and Bern"
    finder = titled("İstanbul", "straße", "Bern", ignore_case=True, common_words=True)
    risks = diagnose_documents([Document("d", text)], finder, minilm, store, probe).risks
    assert [(risk.entity, *surfaces(risk, text)) for risk in risks] == [
        ("İSTANBUL", "İSTANBUL"),
        ("STRASSE", "STRASSE"),
        ("Straße", "Straße"),
        ("i̇stanbul", "i̇stanbul"),
        ("Bern", "Bern"),
    ]
    for risk in risks:
        vector = minilm.encode_spans([text], risk.spans)
        assert risk.rps == pytest.approx(probe.estimate(vector)[0], abs=1e-5)


def test_of_overlapping_names_the_longest_counts(minilm, probe, store):
    text = "New York City Hall is in New York City, York."
    finder = titled("New York", "New York City", "York", "City Hall", "York City Hall")
    risks = diagnose_documents([Document("d", text)], finder, minilm, store, probe).risks
    assert [(risk.entity, len(risk.spans)) for risk in risks] == [("New York City", 2), ("York", 1)]
    assert surfaces(risks[1], text) == ["York"] and risks[1].spans[0].start == len(text) - 5


@pytest.mark.parametrize("finder", [titled("Aare"), CapitalisedNames()], ids=["names", "capitals"])
def test_halves_of_a_character_are_read_as_unknown_ones(minilm, probe, store, finder):
    text = "They swam in the Aare \ud800 and in the Aare \udfff"
    risks = diagnose_documents([Document("d", text)], finder, minilm, store, probe).risks
    [risk] = [risk for risk in risks if risk.entity == "Aare"]
    assert surfaces(risk, text) == ["Aare", "Aare"] and risk.state is State.MEASURED
    readable = text.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    expected = probe.estimate(minilm.encode_spans([readable] * 2, risk.spans)).min()
    assert risk.rps == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("text", ["", " \n\t", "\ud800", "nothing is named here"])
def test_a_document_without_entities_is_counted(minilm, probe, store, text):
    finder = titled("Bern")
    found = diagnose_documents([Document("d", text)], finder, minilm, store, probe)
    assert found == Diagnosis([], TAU, 1, finder.name)
    assert found.flagged() == {} and share_below(found) is None and predicted(found).shape == (0,)
    assert len(store) == 0


def test_no_document_at_all_is_an_empty_diagnosis(minilm, probe, store):
    finder = titled("Bern")
    assert diagnose_documents([], finder, minilm, store, probe) == Diagnosis(
        [], TAU, 0, finder.name
    )


def test_a_finder_that_looks_at_all_texts_is_given_all_of_them():
    """A word is a name, or is not, whatever the position of the text that has it in lower case."""
    texts = ["Jaws. They ran.", *["It rained. We met Ada Byron."] * 400, "the jaws of a shark"]
    found = find_mentions(texts, CapitalisedNames())
    assert len(found) == len(texts) and found[0] == []
    assert [m.surface for m in found[1]] == ["Ada Byron"]
    assert [m.surface for m in find_mentions(texts[:1], CapitalisedNames())[0]] == ["Jaws"]
