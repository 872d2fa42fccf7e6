"""Sparse encoders and those of tokens against sentence-transformers' own reading of them."""

import json
import logging

import numpy as np
import pytest
from sentence_transformers import MultiVectorEncoder, SparseEncoder
from sentence_transformers.base.modules import Router
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

from argus.data.types import Span
from argus.encoders import Encoder, EncoderConfig, TokenCounter, load_any_encoder, load_encoder
from argus.encoders.embed import Item, Role, encode_batch
from argus.encoders.scoring import scoring_of
from argus.errors import InputError
from tests.support.sentence_models import make_late, make_sparse, word_pieces

TEXTS = ["the river bank", "a", "query: river", "bread is baked in the old harbour " * 4, "zebra,"]
PROMPTS = {"query": "query: ", "passage": "passage: "}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    home = tmp_path_factory.mktemp("models")
    attending = {"strategy": "fixed", "attend": False, "length": 12}
    return {
        "dot": make_sparse(home / "splade"),
        "cosine": make_sparse(home / "cosine", similarity="cosine", prompts=PROMPTS),
        "maxsim": make_late(home / "colbert", skip=[","], expansion=attending, prompts=PROMPTS),
        "meanmaxsim": make_late(home / "mean", similarity="meanmaxsim"),
        "euclidean": make_sparse(home / "euclidean", similarity="euclidean"),
    }


def load(folder, **settings):
    return load_any_encoder(EncoderConfig(model=str(folder), device="cpu", **settings)).encoder


@pytest.mark.parametrize("name", ["dot", "cosine"])
def test_sparse_scores_are_those_of_the_library(folders, name):
    encoder = load(folders[name])
    model = SparseEncoder(str(folders[name]), device="cpu", local_files_only=True)
    prompt = "passage: " if name == "cosine" else ""
    queries, documents = model.encode_query(TEXTS), model.encode(TEXTS, prompt=prompt)
    expected = model.similarity(queries, documents).to_dense().numpy()
    rows = encoder.encode_queries(TEXTS), encoder.encode_documents(TEXTS)
    scores = scoring_of(rows[1]).products(rows[0])
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    assert f" similarity=sparse-{name} " in encoder.fingerprint
    columns, weights = rows[1].terms(1)
    named = dict(zip(encoder.terms(columns), weights, strict=True))
    decoded = dict(model.decode(model.encode([TEXTS[1]], prompt=prompt)[0]))
    assert set(named) == set(decoded)


@pytest.mark.parametrize("name", ["maxsim", "meanmaxsim"])
def test_late_scores_are_those_of_the_library(folders, name):
    encoder = load(folders[name])
    model = MultiVectorEncoder(str(folders[name]), device="cpu", local_files_only=True)
    prompt = "passage: " if name == "maxsim" else ""
    documents = model.encode(TEXTS, prompt=prompt, task="document")
    expected = model.similarity(model.encode_query(TEXTS), documents).numpy()
    rows = encoder.encode_queries(TEXTS), encoder.encode_documents(TEXTS)
    scores = scoring_of(rows[1]).products(rows[0])
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)
    assert f" similarity={name} " in encoder.fingerprint


def test_tokens_are_named_in_the_order_of_their_vectors(folders):
    encoder = load(folders["maxsim"])
    query, document = encoder.query_tokens("river"), encoder.document_tokens("zebra, river")
    assert len(query) == encoder.encode_queries(["river"]).counts[0] == 12
    assert len(document) == encoder.encode_documents(["zebra, river"]).counts[0]
    assert query[:3] == ["[CLS]", "query", ":"] and query[-1] == "[MASK]"  # by its expansion
    assert "," not in document and "river" in document  # what is skipped has no vector


@pytest.mark.parametrize("name", ["dot", "maxsim"])
def test_it_is_an_encoder_that_counts_tokens(folders, name):
    encoder = load(folders[name])
    assert isinstance(encoder, Encoder) and isinstance(encoder, TokenCounter)
    assert not encoder.pools_spans
    counts = encoder.count_tokens(TEXTS)
    assert encoder.max_tokens == 32 and counts[3] > 32 and not len(encoder.count_tokens([]))
    order = [3, 1, 0, 4, 2]
    whole, turned = (encoder.encode_documents([TEXTS[i] for i in o]) for o in (range(5), order))
    scores = [scoring_of(rows).products(whole) for rows in (whole, turned)]
    np.testing.assert_allclose(scores[0][:, order], scores[1], rtol=1e-5)
    spans = encoder.encode_spans(TEXTS[:2], [Span(0, 3), Span(0, 1)])
    both = scoring_of(spans).pairs(spans, whole[:2])
    np.testing.assert_allclose(both, scoring_of(spans).pairs(whole[:2], whole[:2]), rtol=1e-5)
    assert not len(encoder.encode_queries([]))


@pytest.mark.parametrize("name", ["dot", "maxsim"])
def test_a_text_without_a_row_fails_alone(folders, name, monkeypatch):
    encoder = load(folders[name])
    kept = encoder.encode_documents

    def without_the_second(texts):
        rows = kept(texts)
        part = rows.terms(1)[1] if name == "dot" else rows.tokens(1)
        part[...] = np.nan
        return rows

    monkeypatch.setattr(encoder, "encode_documents", without_the_second)
    done = encode_batch(encoder, [Item(text, Role.DOCUMENT) for text in TEXTS[:3]])
    assert list(done.failures) == [1] and len(done.vectors) == 2


def test_a_job_of_single_vectors_refuses_other_rows(folders):
    for name in ("dot", "maxsim"):
        with pytest.raises(InputError) as error:
            load_encoder(EncoderConfig(model=str(folders[name]), device="cpu"))
        assert error.value.where == "--encoder"
        assert "argus exposure" in str(error.value)


def test_a_sparse_model_made_for_distances_is_refused(folders):
    with pytest.raises(InputError) as error:
        load(folders["euclidean"])
    assert error.value.where == "--encoder"


def checkpoint(folder, kind):
    """Save a model as transformers does, without settings of sentence-transformers."""
    bert = word_pieces(folder)
    sizes = {"hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    kind(BertConfig(vocab_size=64, num_hidden_layers=1, **sizes)).save_pretrained(bert)
    return bert


def test_a_cross_encoder_is_refused(tmp_path):
    with pytest.raises(InputError) as error:
        load(checkpoint(tmp_path / "cross", BertForSequenceClassification), precision="float32")
    assert error.value.where == "--encoder" and "ForSequenceClassification" in error.value.got


def test_a_masked_language_model_is_told_once(tmp_path, caplog):
    folder = checkpoint(tmp_path / "masked", BertForMaskedLM)
    with caplog.at_level(logging.WARNING, "argus"):
        encoders = [load(folder, precision="float32") for _ in range(2)]
    assert " pooling=mean " in encoders[0].fingerprint
    assert encoders[0].fingerprint == encoders[1].fingerprint
    (note,) = [record.message for record in caplog.records if record.name == "argus"]
    assert "SparseEncoder" in note


@pytest.mark.parametrize(("name", "kind"), [("dot", SparseEncoder), ("maxsim", MultiVectorEncoder)])
def test_a_router_needs_no_default_route(name, kind, folders, tmp_path):
    whole = kind(str(folders[name]), device="cpu", local_files_only=True)
    routes = {task: list(whole.children()) for task in ("query", "document")}
    kind(
        modules=[Router(routes, allow_empty_key=False)], device="cpu",
        similarity_fn_name=whole.similarity_fn_name, prompts=whole.prompts,
    ).save(str(tmp_path / "routed"))  # fmt: skip
    routed, plain = load(tmp_path / "routed"), load(folders[name])
    assert routed.dim == plain.dim
    assert len(routed.encode_queries(TEXTS)) == len(TEXTS)
    scores = []
    for encoder in (routed, plain):
        rows = encoder.encode_documents(TEXTS)
        scores.append(scoring_of(rows).products(rows))
    np.testing.assert_allclose(*scores, rtol=1e-4)


def test_weights_that_do_not_fit_are_told(tmp_path):
    folder = make_sparse(tmp_path / "splade")
    settings = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(settings | {"hidden_size": 64}))
    with pytest.raises(InputError) as error:
        load(folder)
    assert error.value.where == "--encoder" and repr(str(folder)) in error.value.got
