"""The short runs that `calibrate` compares; each is a process: python -m ... JOB.

What a job measures is one line of JSON. Texts, vectors and relations are random: what a step takes
does not depend on what they say.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from argus.data.artifacts import MANIFEST
from argus.data.provenance import accelerator, content_hash, peak_memory_bytes
from argus.data.storage import bytes_in
from argus.data.types import FloatArray, Span
from argus.knowledge.relations import read_relations
from argus.planning.records import (
    AuditTrial,
    DisplacingTrial,
    EncodingTrial,
    GraphTrial,
    RankingTrial,
    Trial,
)
from argus.planning.synthetic import (
    WORDS,
    random_ends,
    random_graph,
    random_texts,
    timed,
    unit_rows,
)

GRAPH_ENTITIES = 50_000
K = 50
RUNS = 5
"""Of a trial that takes a second or less: the fastest counts."""
TRIAL_RESERVOIR = 5_000
"""Of the trial audits: their blocks are then equally large, whatever the number of entities."""


class RandomEncoder:
    """Vectors that depend on the text and cost next to nothing: what is left is the audit's own."""

    pools_spans = False

    def __init__(self, dim: int) -> None:
        self.dim, self.fingerprint = dim, f"random dim={dim}"
        self._rows = unit_rows(1 << 12, dim)

    def encode_queries(self, texts: Sequence[str]) -> FloatArray:
        """Return unit rows, shape (n, dim)."""
        numbers = np.array([int.from_bytes(content_hash(text, size=6)) for text in texts])
        sums = self._rows[numbers % 4096] + 0.5 * self._rows[numbers // 4096 % 4096]
        unit: FloatArray = sums / np.linalg.norm(sums, axis=1, keepdims=True)
        return unit

    encode_documents = encode_queries

    def encode_spans(self, texts: Sequence[str], spans: Sequence[Span]) -> FloatArray:
        """Return unit rows of the texts."""
        return self.encode_queries(texts)


def encoding(folder: str, model: str, few: str, many: str) -> EncodingTrial:
    """Encode so many texts as an audit does, in the precision that it would choose.

    The texts are of many lengths, as those of a corpus: every length that a batch is padded to has
    compiled code of its own, which takes memory.
    """
    begun = time.perf_counter()
    from argus.encoders import (
        EmbeddingStore,
        EncoderConfig,
        Item,
        Role,
        TokenCounter,
        embed,
        load_encoder,
    )

    importing_s = time.perf_counter() - begun
    n, texts = int(few), random_texts(int(few) + int(many), vary=True)
    load_s, encoder = timed(lambda: load_encoder(EncoderConfig(model=model), sample=texts).encoder)
    counter = encoder if isinstance(encoder, TokenCounter) else None
    window = counter.max_tokens if counter else None
    encoder.encode_documents(texts[:8])
    tokens, seconds = [], []
    with EmbeddingStore(Path(folder), fingerprint=encoder.fingerprint, dim=encoder.dim) as store:
        for part in (texts[:n], texts[n:]):
            items = [Item(text, Role.SPAN, Span(0, text.index(" "))) for text in part]
            seconds.append(timed(partial(embed, items, encoder, store))[0])
            counts = counter.count_tokens(part) if counter else np.full(len(part), WORDS)
            tokens.append(int((counts if window is None else counts.clip(max=window)).sum()))
    return EncodingTrial(
        encoder=encoder.fingerprint, encoder_parameters=_parameters(encoder),
        encoder_window=window, accelerator=accelerator(), base_bytes=peak_memory_bytes(),
        load_s=importing_s + load_s, tokens=(tokens[0], tokens[1]),
        seconds=(seconds[0], seconds[1]),
    )  # fmt: skip


def ranking(queries: str, candidates: str, neighbours: str, dim: str) -> RankingTrial:
    """Rank the related entities of so many queries among candidates; the best of RUNS."""
    from argus.retrievability.ranks import pair_ranks

    n_queries, n_candidates = int(queries), int(candidates)
    n = n_candidates + n_queries
    vectors, graph = unit_rows(n, int(dim)), random_graph(n, float(neighbours))
    pair_ranks(vectors[:50], random_graph(50, 2))  # compiles
    seconds = min(
        timed(lambda: pair_ranks(vectors, graph, queries=range(n_queries), reservoir=n_candidates))[
            0
        ]
        for _ in range(RUNS)
    )
    return RankingTrial(
        queries=n_queries, candidates=n_candidates, neighbours=float(neighbours), dim=int(dim),
        seconds=seconds,
    )  # fmt: skip


def displacing(entities: str, neighbours: str, dim: str, worst: str) -> DisplacingTrial:
    """Look up who outranks so many entities."""
    from argus.retrievability.displacement import displacers

    n = int(entities)
    vectors, graph = unit_rows(n, int(dim)), random_graph(n, float(neighbours))
    targets = list(range(int(worst)))
    queries = np.unique(np.concatenate([graph.neighbours(x) for x in targets]))
    seconds = min(timed(lambda: displacers(vectors, graph, targets, k=K))[0] for _ in range(RUNS))
    return DisplacingTrial(queries=len(queries), entities=n, dim=int(dim), seconds=seconds)


def audit(folder: str, entities: str, neighbours: str, dim: str) -> AuditTrial:
    """Audit files of random entities, with vectors that cost nothing.

    The peak is without the vectors, gathered and as pages of their file.
    """
    n, home = int(entities), Path(folder)
    home.mkdir(parents=True)
    ids = _ids(n)
    with (home / "entities.jsonl").open("w", encoding="utf-8") as file:
        for id_, text in zip(ids, random_texts(n), strict=True):
            title = text.split(" ", 1)[0]
            file.write(json.dumps({"_id": id_, "title": title, "text": text}) + "\n")
    _write_edges(home / "edges.tsv", random_ends(n, float(neighbours)))
    out, width = home / "out", int(dim)
    seconds, pairs = timed(lambda: _audit(home, out, width))
    manifest = json.loads((out / MANIFEST).read_text(encoding="utf-8"))["audit"]
    return AuditTrial(
        entities=n, pairs=pairs, dim=width, seconds=seconds - manifest["timings_s"]["ranking"],
        peak_bytes=peak_memory_bytes() - 2 * 4 * n * width,
        stored_bytes=bytes_in(out) - bytes_in(out / "embeddings"),
    )  # fmt: skip


def _audit(home: Path, out: Path, dim: int) -> int:
    """Audit the files in `home`; return the number of pairs. What it imports is part of it."""
    from argus.knowledge import KnowledgeSource
    from argus.retrievability.audit.config import AuditConfig
    from argus.retrievability.audit.job import audit

    result = audit(
        home / "entities.jsonl", out=out, source=KnowledgeSource(relations=home / "edges.tsv"),
        encoder=RandomEncoder(dim), config=AuditConfig(reservoir=TRIAL_RESERVOIR),
    )  # fmt: skip
    return len(result.ranks)


def graph(folder: str, edges: str) -> GraphTrial:
    """Read a table of relations into a graph."""
    home, n_edges = Path(folder), int(edges)
    home.mkdir(parents=True)
    ends = random_ends(GRAPH_ENTITIES, 2 * n_edges / GRAPH_ENTITIES)
    _write_edges(home / "edges.tsv", ends)
    del ends
    index = {id_: i for i, id_ in enumerate(_ids(GRAPH_ENTITIES))}
    seconds, _ = timed(lambda: read_relations(home / "edges.tsv", index))
    return GraphTrial(edges=n_edges, seconds=seconds, peak_bytes=peak_memory_bytes())


def _ids(n: int) -> list[str]:
    return [f"Q{i:09d}" for i in range(n)]


def _write_edges(path: Path, ends: np.ndarray) -> None:
    with path.open("w", encoding="ascii") as file:
        file.write("subject\trelation\tobject\n")
        marks = [*range(0, ends.shape[1], 100_000), ends.shape[1]]
        for start, stop in pairwise(marks):
            rows = ends[:, start:stop].T.tolist()
            file.writelines(f"Q{s:09d}\tP1\tQ{o:09d}\n" for s, o in rows)


def _parameters(encoder: object) -> int:
    """Return how many parameters the layers have; the tables of token vectors cost no time."""
    import torch

    from argus.encoders.packing import PackedLinear

    model = getattr(encoder, "model", None)
    if not isinstance(model, torch.nn.Module):
        return 1
    packed = sum(m.numel for m in model.modules() if isinstance(m, PackedLinear))
    tables = (m for m in model.modules() if isinstance(m, torch.nn.Embedding))
    embedded = sum(p.numel() for m in tables for p in m.parameters())
    return sum(p.numel() for p in model.parameters()) + packed - embedded


JOBS: dict[str, Callable[..., Trial]] = {
    "encoding": encoding,
    "ranking": ranking,
    "displacing": displacing,
    "audit": audit,
    "graph": graph,
}

if __name__ == "__main__":
    from argus.planning.trials_kb import JOBS as OF_KNOWLEDGE

    print(json.dumps(asdict((JOBS | OF_KNOWLEDGE)[sys.argv[1]](*sys.argv[2:]))))
