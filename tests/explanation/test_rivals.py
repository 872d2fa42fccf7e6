import json

import numpy as np
import pytest

from argus.data import Document
from argus.errors import InputError
from argus.explanation.config import ExplainConfig
from argus.explanation.job import explain
from argus.explanation.rivals import occurrences
from argus.explanation.types import Cause, Verdict


def test_hubs_that_displace_a_document_are_named(indexed, of, passages, vectors, minilm, tmp_path):
    centre = vectors.mean(axis=0)
    noise = np.random.default_rng(1).normal(size=(12, 384)) * 0.002
    hubs = centre / np.linalg.norm(centre) + noise
    hubs = (hubs / np.linalg.norm(hubs, axis=1, keepdims=True)).astype(np.float32)
    documents = [Document(f"hub{i:02}", f"All rights reserved {i}.") for i in range(12)]
    retriever = indexed(
        tmp_path / "idx", [*passages, *documents], np.concatenate([vectors, hubs]), minilm
    )
    plain = indexed(tmp_path / "plain", passages, vectors, minilm)
    query = "a person of note"
    asked = minilm.encode_queries([query])
    top = plain.index.snapshot().search(asked, 10).doc_ids[0]
    ranks = retriever.index.snapshot().ranks(np.repeat(asked, 10, axis=0), top)
    displaced = [doc for doc, rank in zip(top, ranks, strict=True) if rank > 10]
    assert displaced
    found = explain(query, displaced[0], retriever)
    finding = of(found, Cause.HUBS)
    assert found.cause is Cause.HUBS
    assert finding.state is Verdict.FOUND and finding.decisive
    assert {row["id"][:3] for row in finding.evidence["hubs"]} == {"hub"}
    assert finding.evidence["rank_without_hubs"] <= 10
    far = plain.index.snapshot().search(asked, len(passages)).doc_ids[0][-1]
    assert of(explain(query, far, plain), Cause.HUBS).state is Verdict.RULED_OUT


def test_occurrences_agree_with_a_plain_count(retriever, vectors, passages):
    snapshot = retriever.index.snapshot()
    seen = occurrences(snapshot, 5, seed=0)
    counts = dict.fromkeys(snapshot.doc_ids, 0)
    for own, vector in zip(passages, vectors, strict=True):
        others = sorted(
            (-float(vector.astype(float) @ v.astype(float)), d.id)
            for d, v in zip(passages, vectors, strict=True) if d is not own
        )  # fmt: skip
        for _, doc in others[:5]:
            counts[doc] += 1
    assert seen.counts.tolist() == [counts[d] for d in snapshot.doc_ids]
    assert seen.sample == len(passages)
    spread = np.std(list(counts.values()))
    assert seen.threshold == pytest.approx(5 + 2 * spread)
    assert seen.deviations(0) == pytest.approx((seen.counts[0] - 5) / spread)


def write_edges(file, edges):
    rows = [json.dumps({"superseder": a, "superseded": b}) + "\n" for a, b in edges]
    file.write_text("".join(rows))


def test_a_circle_of_superseding_documents_is_refused(retriever, tmp_path):
    file = tmp_path / "supersedes.jsonl"
    write_edges(file, [("w2-0000", "w2-0009"), ("gone", "w2-0000"), ("w2-0009", "gone")])
    with pytest.raises(InputError, match=r"supersedes\.jsonl: a cycle of 3: .*'gone' \(given\)"):
        explain("Who was Teutberga?", "w2-0009", retriever, ExplainConfig(supersedes=file))


def test_superseding_documents_are_followed_and_ranked(of, retriever, tmp_path):
    file = tmp_path / "supersedes.jsonl"
    write_edges(file, [("w2-0000", "w2-0009"), ("gone", "w2-0000")])
    config = ExplainConfig(supersedes=file, k=3)
    found = explain("Who was Teutberga, queen of Lotharingia?", "w2-0009", retriever, config)
    rows = of(found, Cause.SUPERSEDED).evidence["superseded_by"]
    assert found.cause is Cause.SUPERSEDED
    served = explain("Who was Teutberga, queen of Lotharingia?", "w2-0000", retriever, config)
    assert served.came_back and "; yet superseded by 1 document: gone is not" in served.verdict
    assert rows == [
        {"id": "w2-0000", "direct": True, "rank": 1},
        {"id": "gone", "direct": False, "rank": None},
    ]
    other = explain("Who was Teutberga?", "w2-0050", retriever, config)
    assert of(other, Cause.SUPERSEDED).state is Verdict.RULED_OUT
    none = explain("Who was Teutberga?", "w2-0050", retriever)
    assert of(none, Cause.SUPERSEDED).summary.startswith("not checked")
