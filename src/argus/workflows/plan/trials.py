"""The short runs that `calibrate` compares; each is a process: python -m ...plan.trials JOB.

Texts, vectors and relations are random: what a step takes does not depend on what they say.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from argus.data.artifacts import ArtifactFolder
from argus.data.provenance import content_hash, peak_memory_bytes
from argus.data.types import FloatArray, Span
from argus.knowledge import Entity, KnowledgeBase, RelationGraph

DIM, WORDS = 384, 80
TEXTS = 512
CANDIDATES, QUERIES = 20_000, 4_096
FEW, MANY = 2, 40
"""Related entities per query in the two runs that tell products from comparisons."""
EDGES = 2_000_000
TRIAL_RESERVOIR = 5_000
"""Of the trial audits: their blocks are then equally large, whatever the number of entities."""


class RandomEncoder:
    """Vectors that depend on the text and cost next to nothing: what is left is the audit's own."""

    fingerprint = f"random dim={DIM}"
    dim = DIM
    pools_spans = False

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return unit rows, shape (n, dim)."""
        seeds = [int.from_bytes(content_hash(text, size=8)) for text in texts]
        rows = [np.random.default_rng(s).standard_normal(DIM, np.float32) for s in seeds]
        vectors = np.stack(rows)
        unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        return unit

    encode_documents = encode_queries

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return unit rows of the texts."""
        return self.encode_queries(texts)


def encoding(model: str) -> dict[str, Any]:
    """Measure an encoder on texts of 80 words, in the precision that it would choose."""
    from argus.encoders import EncoderConfig, TokenCounter, load_encoder

    texts = _texts(2 * TEXTS)
    encoder = load_encoder(EncoderConfig(model=model), sample=texts[:TEXTS]).encoder
    first, _ = _timed(lambda: encoder.encode_documents(texts[:TEXTS]))
    tokens = encoder.count_tokens(texts[TEXTS:]) if isinstance(encoder, TokenCounter) else None
    seconds, _ = _timed(lambda: encoder.encode_documents(texts[TEXTS:]))
    count = int(tokens.sum()) if tokens is not None else TEXTS * WORDS
    return {
        "encoder": encoder.fingerprint,
        "encoder_parameters": _parameters(encoder),
        "encode_s": seconds / count,
        "encoding_s": first + seconds,
        "base_bytes": peak_memory_bytes(),
        "accelerator": _accelerator(),
    }


def products() -> dict[str, float]:
    """Measure products and comparisons: two runs that differ in related entities alone."""
    from argus.retrievability.ranks import pair_ranks

    n = CANDIDATES + QUERIES
    vectors = _unit(n)
    took = {}
    for related in (FEW, MANY):
        graph = _graph(n, related)
        pair_ranks(vectors[:50], _graph(50, 2))  # compiles
        run = lambda graph=graph: pair_ranks(  # noqa: E731
            vectors, graph, queries=range(QUERIES), reservoir=CANDIDATES
        )
        took[related] = min(_timed(run)[0] for _ in range(2))
    compared = QUERIES * CANDIDATES * (MANY - FEW)
    count_s = max((took[MANY] - took[FEW]) / compared, 1e-13)
    product = took[FEW] - QUERIES * CANDIDATES * FEW * count_s
    return {"count_s": count_s, "multiply_s": max(product / (QUERIES * CANDIDATES * DIM), 1e-14)}


def audit(folder: str, entities: str, neighbours: str) -> dict[str, float]:
    """Run an audit of random entities, with vectors that cost nothing."""
    from argus.workflows.audit import AuditConfig, audit_knowledge
    from argus.workflows.workspace import Record

    n = int(entities)
    texts = _texts(n)
    ids = [f"Q{i:09d}" for i in range(n)]
    base = KnowledgeBase(
        [Entity(i, t.split(" ", 1)[0], t) for i, t in zip(ids, texts, strict=True)],
        _graph(n, int(neighbours)),
    )
    record = Record("audit", {"limit": None}, {"corpus": None})
    config = AuditConfig(reservoir=TRIAL_RESERVOIR)
    run = lambda: audit_knowledge(  # noqa: E731
        base, ArtifactFolder(Path(folder)), RandomEncoder(), config, record
    )
    seconds, result = _timed(run)
    steps = record.timings_s
    kept = ("retrievability.parquet", "pair_ranks.parquet")
    return {
        "rest_s": seconds - steps["ranking"] - steps["scoring"],
        "scoring_s": steps["scoring"],
        "pairs": float(len(result.ranks)),
        "peak_bytes": float(peak_memory_bytes() - n * DIM * 4),
        "stored_bytes": float(sum((Path(folder) / name).stat().st_size for name in kept)),
    }


def graph() -> dict[str, float]:
    """Measure how fast relations become a graph."""
    n = EDGES // 10
    rng = np.random.default_rng(0)
    subjects, objects = rng.integers(0, n, (2, EDGES))
    seconds, _ = _timed(lambda: RelationGraph.from_edges(n, subjects, objects))
    return {"edge_s": seconds / EDGES}


def dump(kind: str, location: str, work: str) -> dict[str, float]:
    """Measure how fast a dump is read, per compressed byte: on all cores, in splits of 1 MiB."""
    from argus.engine import EngineConfig, open_engine
    from argus.workflows.kb.parts import Parts
    from argus.workflows.kb.reading import read_wikidata, read_wikipedia, site_of
    from argus.workflows.kb.settings import KbConfig

    config = KbConfig(split_bytes=1 << 20)
    Path(work).mkdir(parents=True)
    parts = Parts(Path(work), kind)
    with open_engine(EngineConfig()) as engine:
        if kind == "wikipedia":
            site = site_of(location, config)
            seconds, _ = _timed(lambda: read_wikipedia(location, site, parts, config, engine))
        else:
            seconds, _ = _timed(lambda: read_wikidata(location, parts, config, engine))
    return {f"{kind}_byte_s": seconds / Path(location).stat().st_size}


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "encoding": encoding,
    "products": products,
    "audit": audit,
    "graph": graph,
    "dump": dump,
}


def _timed(run: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def _texts(n: int) -> list[str]:
    """Return random texts of 80 words; about as long, in word pieces, as English prose."""
    from argus.knowledge.stdlib import standard_library

    words = " ".join(e.paragraph for e in standard_library().entities).split()
    rng = np.random.default_rng(0)
    starts = rng.integers(0, len(words) - WORDS, n)
    return [" ".join([f"{i:x}", *words[s : s + WORDS]]) for i, s in enumerate(starts)]


def _unit(n: int) -> FloatArray:
    vectors = np.random.default_rng(0).standard_normal((n, DIM), np.float32)
    unit: FloatArray = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit


def _graph(n: int, neighbours: int) -> RelationGraph:
    ends = np.random.default_rng(1).integers(0, n, (2, n * neighbours // 2))
    return RelationGraph.from_edges(n, *ends)


def _parameters(encoder: Any) -> int:
    """Return how many parameters the layers have; the tables of token vectors cost no time."""
    import torch

    model = getattr(encoder, "model", None)
    if not isinstance(model, torch.nn.Module):
        return 1
    tables = (m for m in model.modules() if isinstance(m, torch.nn.Embedding))
    embedded = sum(p.numel() for m in tables for p in m.parameters())
    return sum(p.numel() for p in model.parameters()) - embedded


def _accelerator() -> str:
    import torch

    return torch.cuda.get_device_name(0) if torch.cuda.is_available() else ""


if __name__ == "__main__":
    print(json.dumps(JOBS[sys.argv[1]](*sys.argv[2:])))
