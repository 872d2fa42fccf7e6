"""Scenarios on the demo's questions and on the released teacher data, with MiniLM.

demo: `argus research scenarios ablate` on the standard library (5,463 documents, 504 with
scenarios, 150 judged questions), all components, with baselines and placebo, by type of document.
summaries: the same of anthropic_docs, with the summaries that come with it as main topics.
needs: `argus research scenarios needs` on the 67 released documents, among 5,000 texts of wiki2,
cranfield and FB15k-237 that have no scenarios.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from argus.corpora.opening import read_corpus
from argus.data.types import Document
from argus.data.writing import write_jsonl
from argus.knowledge.stdlib import standard_library, write_sample_corpus
from argus.measures import evaluate
from argus.scenarios.ablation.findings import AblateConfig
from argus.scenarios.ablation.grid import Documents, grid
from argus.scenarios.ablation.job import Vectors, ablate_scenarios
from argus.scenarios.config import Cell, NeedsConfig
from argus.scenarios.needs.audit import audit_needs
from argus.scenarios.profile import Component, Profiled, ProfileState, Scenario, ScenarioProfile
from benchmarks.shared import collection

MEASURE, DISTRACTORS, HALVES = "nDCG@10", 5_000, 10


def run() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        return {"demo": demo(home), "summaries": summaries(home), "needs": _needs(home)}


def demo(home: Path) -> dict[str, Any]:
    """Measure scenarios on the standard library."""
    corpus = home / "corpus"
    write_sample_corpus(corpus, standard_library())
    return typed(
        corpus, corpus / "profiles.jsonl", corpus / "expansions.jsonl", home / "demo",
        tuple(Component), kind_of_object,
    )  # fmt: skip


def kind_of_object(document: Document) -> str:
    """Return class, method or function, as Python spells the document's name."""
    *_, of, name = ("", *document.id.split("."))
    return "class" if name[:1].isupper() else "method" if of[:1].isupper() else "function"


def kind_of_section(document: Document) -> str:
    """Return whether a section has code."""
    return "code" if "```" in document.text else "prose"


def summaries(home: Path) -> dict[str, Any]:
    """Measure the summaries of anthropic_docs: as views (M), and joined with their documents."""
    root, file = collection("anthropic_docs"), home / "summaries.jsonl"
    rows = [json.loads(line) for line in (root / "summaries.jsonl").read_text().splitlines()]
    write_jsonl(file, (row | {"pseudo_queries": []} for row in rows))
    topics = {row["_id"]: ScenarioProfile(row["summary"], (), (Scenario("", ""),)) for row in rows}
    profiles = {id_: Profiled(id_, ProfileState.OK, topic) for id_, topic in topics.items()}
    return typed(root, profiles, file, home / "docs", (Component.M,), kind_of_section)


def typed(
    root: Path, profiles: Path | Mapping[str, Profiled], expansions: Path, out: Path,
    components: tuple[Component, ...], kind: Callable[[Document], str],
) -> dict[str, Any]:  # fmt: skip
    """Ablate a collection by type of document."""
    documents = [replace(d, metadata={"type": kind(d)}) for d in read_corpus(root)]
    found = ablate_scenarios(
        documents, profiles, root, root / "qrels" / "test.tsv", out=out, expansions=expansions,
        config=AblateConfig(components=components, by=("type",)),
    )  # fmt: skip
    return {name: found.summary[name] for name in ("documents", "whole", "types")}


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


def _needs(home: Path) -> dict[str, Any]:
    """Audit the released documents by their own held-out needs, among other texts."""
    released = collection("spike_scenarios") / "scenarios.jsonl"
    documents = [*read_corpus(released), *others(DISTRACTORS)]
    config = NeedsConfig(components=tuple(Component), weights=(0.5, 0.6, 0.7, 0.8, 0.9))
    audited = audit_needs(documents, released, out=home / "needs", config=config)
    figures = {name: audited.summary[name] for name in ("documents", "needs", "found_at_k", "grid")}
    return {"among_5000": figures}


def others(n: int) -> list[Document]:
    """Return n texts of other collections, evenly spread over each; ids made distinct."""
    found: list[Document] = []
    for name, share in (("wiki2", n // 3), ("cranfield", n // 3), ("fb15k237", n)):
        wanted = min(share, n - len(found))
        texts = [d for d in read_corpus(collection(name)) if d.content.strip()] if wanted else []
        step = max(1, len(texts) // max(1, wanted))
        found += [Document(f"{name}/{d.id}", d.content) for d in texts[::step][:wanted]]
    return found
