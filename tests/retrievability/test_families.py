"""Exposure and audit with encoders whose rows are no unit vectors, against plain counting."""

import numpy as np
import pytest

import argus
from argus.data import Document, Query
from argus.encoders import EncoderConfig, load_any_encoder
from argus.encoders.protocol import concatenate, family_of
from argus.knowledge import KnowledgeSource
from argus.retrievability.config import ExposureConfig
from argus.retrievability.exposure_findings import SENTENCE, make_probes
from tests.support.rows import plain_score
from tests.support.sentence_models import make_late, make_model, make_sparse

WORDS = ["river", "bread", "harbour", "violin", "comet", "glacier"]
DOCUMENTS = [
    Document(f"d{i}", f"A {a} by the {b}. It is {i} {a}s from here.", f"{a} {b}")
    for i, (a, b) in enumerate((a, b) for a in WORDS[:4] for b in WORDS if a != b)
]
QUERIES = [Query("q", "where is the comet?")]
MEASURE = ExposureConfig(k=3, sentences=1)
MAKE = {
    "sparse": make_sparse,
    "tokens": make_late,
    "dot": lambda folder: make_model(folder, normalize=False, similarity="dot"),
}


@pytest.fixture(scope="module", params=MAKE)
def encoder(request, tmp_path_factory):
    folder = MAKE[request.param](tmp_path_factory.mktemp("models") / request.param)
    return load_any_encoder(EncoderConfig(model=str(folder), device="cpu"))


def score(queries, i, documents, j):
    if isinstance(queries, np.ndarray):
        return float(queries[i].astype(float) @ documents[j].astype(float))
    return plain_score(queries, i, documents, j)


def plain_ranks(encoder):
    """Rank the document of every probe, the sentence that asks taken out of it."""
    documents = sorted(DOCUMENTS, key=lambda d: d.id)
    probes, rests = make_probes(documents, QUERIES, MEASURE, {})
    queries = encoder.encode_queries([query.text for query in probes.queries])
    rows = encoder.encode_documents([d.content for d in documents])
    encoded = encoder.encode_documents(rests)
    rests = iter(encoded[i : i + 1] for i in range(len(rests)))
    for i, (kind, target) in enumerate(zip(probes.kind, probes.target, strict=True)):
        if target < 0:
            continue
        scores = [score(queries, i, rows, j) for j in range(len(documents))]
        if kind == SENTENCE:
            scores[target] = score(queries, i, next(rests), 0)
        order = sorted(range(len(documents)), key=lambda j: (-scores[j], j))
        yield str(kind), documents[target].id, order.index(target) + 1


def test_exposure_ranks_as_counted_plainly(encoder, tmp_path):
    result = argus.exposure(
        DOCUMENTS, out=tmp_path, encoder=encoder, config=MEASURE, queries=QUERIES
    )
    rows = {row["id"]: row for row in result.table.to_pylist()}
    for kind, doc, rank in plain_ranks(encoder):
        assert rows[doc][f"{kind}_rank"] == rank
    assert {row["state"] for row in rows.values()} == {"measured"}


def test_an_audit_ranks_related_entities_among_neutral_ones(encoder, tmp_path):
    documents = sorted(DOCUMENTS, key=lambda d: d.id)
    edges = tmp_path / "edges.tsv"
    pairs = [(f"d{i}", f"d{(i + 3) % len(DOCUMENTS)}") for i in range(len(DOCUMENTS))]
    edges.write_text("subject\trelation\tobject\n" + "".join(f"{a}\tto\t{b}\n" for a, b in pairs))
    result = argus.audit(
        DOCUMENTS, out=tmp_path / "audit", encoder=encoder,
        source=KnowledgeSource(relations=str(edges)),
        config=argus.retrievability.AuditConfig(k=(2,), pool=(8,), pooling="sentence"),
    )  # fmt: skip
    rows = concatenate([encoder.encode_documents([d.content]) for d in documents])
    ids = [d.id for d in documents]
    related = {id_: {b for a, b in pairs if a == id_} | {a for a, b in pairs if b == id_}
               for id_ in ids}  # fmt: skip
    above = {}
    for t, asking in enumerate(ids):
        neutral = [z for z in range(len(ids)) if z != t and ids[z] not in related[asking]]
        for target in related[asking]:
            own = score(rows, t, rows, ids.index(target))
            above[target, asking] = sum(score(rows, t, rows, z) > own for z in neutral)
    measured = result.measured_ids
    ranks = result.ranks
    for x, t, n in zip(ranks.entity, ranks.related, ranks.above, strict=True):
        assert n == above[measured[x], measured[t]]
    assert result.summary["entities"]["measured"] == len(DOCUMENTS)
    assert (result.summary["projection"] is None) == (family_of(encoder) != "dense")
