"""The probe of a diagnosis, encoders without token vectors, and the end of what is read."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from argus.data.types import Document, Span, State
from argus.errors import InputError
from argus.knowledge.gazetteer import Gazetteer
from argus.remedies.diagnosis.config import TAU
from argus.remedies.diagnosis.diagnose import (
    UNREAD,
    beyond_window,
    diagnose_documents,
    predicted,
    share_below,
)
from argus.retrievability.probes import Probe, load_default
from argus.retrievability.probes.domain import fit_domain
from argus.retrievability.probes.estimators import RidgeProbe
from argus.retrievability.probes.probe import ProbeMismatch
from tests.support.diagnosing import (
    by_entity,
    probe_for,
    surfaces,
    titled,
)
from tests.support.draws import examples

# ---- the probe -----------------------------------------------------------------------------------

LONG = "The river runs past the old mill and the church on the hill. " * 40
FAR = f"{LONG}Near its end lies Lake Geneva."


def test_a_fitted_probe_abstains_from_unlike_texts(wiki2, minilm, store):
    once = [d for d in wiki2[:300] if "(" not in d.title and d.text.count(d.title) == 1][:120]
    documents = [Document(d.id, d.text) for d in once]
    starts = [d.text.index(d.title) for d in once]
    spans = [Span(at, at + len(d.title)) for at, d in zip(starts, once, strict=True)]
    vectors = minilm.encode_spans([d.content for d in documents], spans)
    lengths = np.array([min(len(d.content) / 1000, 1) for d in documents])
    model = RidgeProbe(alpha=0.1).fit(vectors, lengths).model_
    domain = fit_domain(vectors[:80], vectors[80:])  # one in a hundred of the held out is outside
    probe = Probe(model, domain, minilm.fingerprint, "span", minilm.dim, 50, 800)
    outside = int(np.argmax(domain.scores(vectors[80:]))) + 80
    usual = int(np.argmin(domain.scores(vectors[80:]))) + 80
    chosen = [documents[usual], documents[outside]]
    finder = titled(once[usual].title, once[outside].title, common_words=True)
    found = diagnose_documents(chosen, finder, minilm, store, probe, tau=1.0)
    inside, silent = found.risks
    assert inside.rps == pytest.approx(probe.estimate(vectors[[usual]])[0], abs=1e-5)
    assert inside.state is State.MEASURED
    assert (silent.state, silent.rps) == (State.NOT_APPLICABLE, None)
    assert silent.reason == "beyond the probe's training region"
    assert list(found.flagged()) == [inside.doc_id], "where the probe is silent nothing is flagged"


def test_the_shipped_probe_abstains_from_source_code(minilm, store):
    text = "He wrote C++ (language) and a.b* with [x] in code."
    finder = titled("C++ (language)", "a.b*")
    found = diagnose_documents(
        [Document("d", text)], finder, minilm, store, load_default(minilm.fingerprint)
    )
    assert [risk.state for risk in found.risks] == [State.NOT_APPLICABLE] * 2
    assert found.flagged() == {} and share_below(found) is None


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


def test_a_probe_of_another_encoder_is_refused(minilm, probe, store):
    other = replace(probe, fingerprint="sentence-transformers:other@1 dim=384 precision=float32 x")
    with pytest.raises(ProbeMismatch) as refused:
        diagnose_documents([Document("d", "Bern")], titled("Bern"), minilm, store, other)
    message = str(refused.value)
    assert message.startswith("the probe given is a probe of another encoder")
    assert other.fingerprint in message and minilm.fingerprint in message
    assert "argus probe fit" in message
    assert len(store) == 0


def test_a_probe_of_another_pooling_is_refused(minilm, probe, sentences, store):
    for encoder, given_probe, named in (
        (minilm, probe_for(sentences), "a probe of sentence-pooled vectors, given span-pooled"),
        (sentences, probe, "a probe of span-pooled vectors, given sentence-pooled"),
    ):
        with pytest.raises(InputError, match=named):
            diagnose_documents([Document("d", "Bern")], titled("Bern"), encoder, store, given_probe)


def test_the_shipped_probe_serves_the_default_encoder(wiki2, minilm, store):
    shipped = load_default(minilm.fingerprint)
    found = diagnose_documents(wiki2[:40], Gazetteer.from_documents(wiki2), minilm, store, shipped)
    values = predicted(found)
    assert len(values) > 0.8 * len(found.risks), "wiki text is within its region"
    assert 0 <= values.min() < TAU < values.max() <= 1


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


# ---- documents longer than the window ------------------------------------------------------------


def test_a_mention_beyond_the_window_is_scored_and_counted(minilm, probe, store):
    near = f"Lake Geneva is deep. {LONG}"
    both = f"Lake Geneva is deep. {FAR}"
    documents = [Document("far", FAR), Document("near", near), Document("both", both)]
    risks = by_entity(diagnose_documents(documents, titled("Lake Geneva"), minilm, store, probe))
    assert [risks[name, "Lake Geneva"].unread for name in ("far", "near", "both")] == [1, 0, 1]
    far = risks["far", "Lake Geneva"]
    assert surfaces(far, FAR) == ["Lake Geneva"] and far.state is State.MEASURED
    end = FAR[-400:]
    at = end.index("Lake Geneva")
    close = minilm.encode_spans([end], [Span(at, at + 11)])
    opening = minilm.encode_documents([FAR])
    vector = minilm.encode_spans([FAR], far.spans)
    assert float((vector @ close.T)[0, 0]) > 0.85, "read at its end, not at the beginning"
    assert float((vector @ opening.T)[0, 0]) < 0.6
    assert far.rps == pytest.approx(probe.estimate(vector)[0], abs=1e-5)


def test_without_token_vectors_an_unread_mention_is_failed(sentences, store):
    both = f"Lake Geneva is deep. {FAR}"
    documents = [Document("far", FAR), Document("both", both)]
    finder, probe = titled("Lake Geneva"), probe_for(sentences)
    far, twice = diagnose_documents(documents, finder, sentences, store, probe, tau=1.0).risks
    assert (far.state, far.rps, far.reason, far.unread) == (State.FAILED, None, UNREAD, 1)
    assert UNREAD == "beyond what the model reads of the document"
    assert twice.state is State.MEASURED and twice.unread == 1
    assert twice.reason == f"1 of 2 occurrences: {UNREAD}"


@settings(
    max_examples=examples(30),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    st.lists(st.sampled_from(["Zürich", "a", "antidisestablishmentarianism", "漢字", "2,718.28",
                              "river\n", "—"]), min_size=1, max_size=400),
    st.data(),
)  # fmt: skip
def test_beyond_the_window_is_what_the_tokenizer_cuts(minilm, words, data):
    text = " ".join(words)
    number = data.draw(st.integers(0, len(words) - 1))
    start = len(" ".join(words[:number])) + (number > 0)
    span = Span(start, start + len(words[number].strip()))
    kept = minilm.model.tokenizer(
        text, truncation=True, max_length=minilm.max_tokens, return_offsets_mapping=True
    )["offset_mapping"]
    read = max(end for _, end in kept) >= span.end
    assert beyond_window(["", text], [(1, span)], minilm).tolist() == [not read]


def test_the_last_token_of_the_window_is_still_read(minilm):
    """MiniLM reads 256 tokens, two of them special; "the" is one."""
    text = " ".join(["the"] * 300)
    places = [(0, Span(4 * i, 4 * i + 3)) for i in range(300)]
    assert beyond_window([text], places, minilm).tolist() == [False] * 254 + [True] * 46
    exact = text[: 4 * 254 - 1]
    assert not beyond_window([exact], places[:254], minilm).any()


def test_an_encoder_without_a_window_reads_everything():
    class Endpoint:
        max_tokens = None

        def count_tokens(self, texts):
            raise AssertionError

    assert beyond_window(["x" * 9999], [(0, Span(0, 1))], Endpoint()).tolist() == [False]
    assert beyond_window(["x" * 9999], [(0, Span(0, 1))], object()).tolist() == [False]
