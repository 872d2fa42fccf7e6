"""Scenarios on the demo's questions and on the released teacher data, with MiniLM.

demo: `argus research scenarios ablate` on the standard library (5,463 documents, 504 with
scenarios, 150 judged questions), all components, with baselines and placebo. without: what
scenarios of others do to documents that have none: ten times, a random half of the profiles is left
out, and the questions whose relevant documents are all in that half are measured, documents alone
and M+E at λ = 0.7.
needs: `argus research scenarios needs` on the 67 released documents, among 5,000 texts of wiki2,
cranfield and FB15k-237 that have no scenarios.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import read_corpus
from argus.data.types import Document
from argus.encoders import EmbeddingStore, EncoderConfig, load_encoder
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.measures import evaluate
from argus.scenarios.ablation.grid import Cell, Documents, grid
from argus.scenarios.ablation.job import Vectors, ablate_scenarios, embed_source, read_source
from argus.scenarios.config import NeedsConfig
from argus.scenarios.needs.audit import audit_needs
from argus.scenarios.profile import Component
from benchmarks.shared import collection

MEASURE, DISTRACTORS, HALVES = "nDCG@10", 5_000, 10
USUAL = Cell(Component.ME, 0.7)


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        corpus = home / "corpus"
        write_sample_corpus(corpus, standard_library())
        found = ablate_scenarios(
            corpus, corpus / "profiles.jsonl", corpus, corpus / "qrels" / "test.tsv",
            out=home / "ablation", expansions=corpus / "expansions.jsonl", store=home / "vectors",
        )  # fmt: skip
        return {
            "demo": {name: found.summary[name] for name in ("documents", "whole")},
            "without": _without(corpus, home / "vectors"),
            "needs": {
                "alone": _needs(home / "needs", home / "vectors", 0),
                "among_5000": _needs(home / "among", home / "vectors", DISTRACTORS),
            },
        }


def _without(corpus: Path, store: Path) -> dict[str, Any]:
    """Measure M+E at 0.7 on questions whose documents have no scenarios."""
    qrels, encoding = corpus / "qrels" / "test.tsv", EncoderConfig()
    source = read_source(corpus, corpus / "profiles.jsonl", corpus, qrels, encoder=encoding)
    encoder = load_encoder(encoding)
    with EmbeddingStore(store, fingerprint=encoder.fingerprint, dim=encoder.dim) as opened:
        return without(embed_source(source, (Component.ME,), encoder, opened), USUAL)


def without(vectors: Vectors, cell: Cell) -> dict[str, Any]:
    """Measure questions whose documents have no scenarios while half of the others have."""
    whole, asked = vectors.documents, vectors.queries
    before_run = whole.alone().search(asked.vectors, 100).run(asked.ids)
    rng = np.random.default_rng(0)
    before: list[float] = []
    after: list[float] = []
    for _ in range(HALVES):
        order = rng.permutation(sorted(whole.profiles))
        kept = set(order[: len(order) // 2].tolist())
        left = Documents(whole.ids, whole.vectors, {d: whole.profiles[d] for d in kept})
        ids = [q for q in asked.ids if not kept & set(vectors.judged.relevant(q))]
        qrels = {q: vectors.judged.qrels[q] for q in ids}
        score = partial(evaluate, qrels=qrels, measures=[MEASURE])
        cells = grid(left, vectors.texts, asked.only(ids), [cell], depth=100, score=score)
        alone = score({q: before_run[q] for q in ids})
        before += [alone.per_query[q][MEASURE] for q in ids]
        after += [cells[cell].per_query[q][MEASURE] for q in ids]
    return {
        "questions": len(before),
        "before": round(float(np.mean(before)), 4),
        "after": round(float(np.mean(after)), 4),
        "improved": sum(b < a for b, a in zip(before, after, strict=True)),
        "harmed": sum(b > a for b, a in zip(before, after, strict=True)),
    }


def _needs(out: Path, store: Path, distractors: int) -> dict[str, Any]:
    """Audit the released documents by their own held-out needs, among so many other texts."""
    released = collection("spike_scenarios") / "scenarios.jsonl"
    documents = [*read_corpus(released), *others(distractors)]
    config = NeedsConfig(components=tuple(Component), weights=(0.5, 0.6, 0.7, 0.8, 0.9))
    audited = audit_needs(documents, released, out=out, config=config, store=store)
    return {name: audited.summary[name] for name in ("documents", "needs", "found_at_k", "grid")}


def others(n: int) -> list[Document]:
    """Return n texts of other collections, evenly spread over each; ids made distinct."""
    found: list[Document] = []
    for name, share in (("wiki2", n // 3), ("cranfield", n // 3), ("fb15k237", n)):
        wanted = min(share, n - len(found))
        texts = [d for d in read_corpus(collection(name)) if d.content.strip()] if wanted else []
        step = max(1, len(texts) // max(1, wanted))
        found += [Document(f"{name}/{d.id}", d.content) for d in texts[::step][:wanted]]
    return found
